"""Formulas: terms, spelling, functions, evaluation."""
