"""Formulas: parsing, respelling for patsy, functions, evaluation."""
