"""Choosing the scale on which splits are chosen."""
