"""Reports of how good probabilities are."""
