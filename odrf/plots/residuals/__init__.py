"""Drawings of residuals."""
