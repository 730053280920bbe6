"""Columns of a data frame as numbers: what they hold, codes of factors, missing values, scaling."""
