"""Grown trees as flat arrays: routing, the α of each split, out-of-bag errors."""
