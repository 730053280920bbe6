"""Trees that are updated row by row: a row takes time of the depth, not of n."""
