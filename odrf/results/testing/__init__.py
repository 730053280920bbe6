"""Importances of the predictors of forests, and tests of them."""
