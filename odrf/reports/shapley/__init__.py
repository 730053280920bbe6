"""Reports on Shapley values."""
