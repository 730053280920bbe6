"""Columns that are no plain numbers: factors, empty cells, outlying values, pixels."""
