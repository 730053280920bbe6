"""Drawings of Shapley values."""
