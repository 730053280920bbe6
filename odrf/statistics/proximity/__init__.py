"""Proximities of rows, and what follows from them: arrays in, numbers out."""
