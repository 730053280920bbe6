"""Evaluating several fits: comparison, tuning, learning curves, bias and variance."""
