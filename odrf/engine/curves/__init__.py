"""Predictions over a grid of values of some columns."""
