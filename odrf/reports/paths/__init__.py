"""Checks of pruning paths that users hand back."""
