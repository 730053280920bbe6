"""What all fits can say of how the response depends on the predictors, by subject."""
