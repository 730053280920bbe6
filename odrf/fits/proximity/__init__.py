"""Proximities of the rows of a fit."""
