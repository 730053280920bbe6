"""Drawings: trees, pruning paths, error paths, importances, simulated problems."""
