"""Candidate directions of a node: drawn at random or estimated on its rows."""
