"""One tree that imitates the predictions of a fit."""
