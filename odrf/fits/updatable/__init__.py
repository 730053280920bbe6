"""Fits that are updated row by row, and those that keep a sample of a stream of rows."""
