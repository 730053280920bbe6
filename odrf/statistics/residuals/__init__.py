"""Residuals and predicted distributions: arrays in, numbers out."""
