"""Reports on how the prediction depends on one or two variables."""
