"""Shapley values of a fit: from the fit to arrays."""
