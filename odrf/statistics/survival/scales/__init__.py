"""Scales of time on which the hazard of all rows is constant."""
