"""Dividing rows into folds, as the argument `cv` and the structure of the rows ask for."""
