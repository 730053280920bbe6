"""Twins: reference implementations of the engine in plain Python and NumPy.

They are slow, and written directly from the formulas.  The random stream is repeated draw by draw,
so that a twin has the same candidates as the engine.
"""
