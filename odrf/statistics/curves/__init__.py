"""Bands of curves, accumulated local effects, strengths of interactions."""
