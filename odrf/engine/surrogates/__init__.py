"""Surrogate splits: where rows go whose cells are empty in what a split needs."""
