"""Grown trees as flat arrays: routing, single trees, sums over branches."""
