"""Gradient boosting: losses, leaf values, rounds, and sums over trees."""
