"""Columns of a data frame: their type, encoding as numbers, missing values and scaling."""
