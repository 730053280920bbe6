"""Reports of residuals and of predicted distributions."""
