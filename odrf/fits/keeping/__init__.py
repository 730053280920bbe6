"""Fits that forget what they do not need any more."""
