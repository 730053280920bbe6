"""Kernels of survival times."""
