"""Results of boosted trees for numbers and classes, and what all boosted trees tell."""
