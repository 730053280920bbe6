"""Which predictors are needed."""
