"""Kernels for times to an event: scores of nodes, curves of leaves, pairs of rows."""
