"""Predictions of a fit over values of some variables, and averages of them."""
