"""Kernels for times to an event: scores of nodes, curves of leaves, their means, and pairs of rows."""
