"""Intervals, tests, importances and Shapley values: coverage, size, agreement."""
