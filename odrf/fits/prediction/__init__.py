"""Predictions of a fit: their kinds, intervals, corrections of priors, and scores."""
