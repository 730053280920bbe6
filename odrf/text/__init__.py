"""Splits, numbers and tables as text."""
