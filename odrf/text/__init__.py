"""Splits, numbers and tables in words."""
