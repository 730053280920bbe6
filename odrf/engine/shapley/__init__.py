"""Shapley values of oblique trees: coalitions and orders of terms sent down the trees at once."""
