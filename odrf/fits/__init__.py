"""Fits: growing, pruning, combining, updating, saving, and what they predict as arrays."""
