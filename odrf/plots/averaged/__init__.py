"""Drawings of averaged predictions, comparisons and slopes."""
