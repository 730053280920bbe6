"""Fits whose class probabilities are calibrated."""
