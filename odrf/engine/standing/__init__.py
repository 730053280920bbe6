"""Trees that stand ready for further rows, one of which takes time of the depth, not of n."""
