"""Drawings of how good probabilities are."""
