"""Drawings: trees, pruning paths, error paths, importances."""
