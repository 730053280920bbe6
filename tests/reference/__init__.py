"""Twins of the engine in plain Python and NumPy: slow and obvious, written from the formulas.

The random stream is repeated draw by draw, so that a twin meets the very candidates that the
engine meets; all else is the shortest way from a definition to a number.
"""
