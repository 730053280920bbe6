"""Averages of predictions: their covariance over training samples."""
