"""Pseudo-values: what rows add to an estimate from censored times."""
