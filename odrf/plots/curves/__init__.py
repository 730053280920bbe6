"""Drawings of curves and surfaces of predictions."""
