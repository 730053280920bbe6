"""Drawings of proximities."""
