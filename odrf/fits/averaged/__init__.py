"""Averages of predictions over rows, and contrasts of them."""
