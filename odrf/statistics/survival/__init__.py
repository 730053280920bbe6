"""Survival: curves, tests, and how good predicted risks are; arrays in, numbers out."""
