"""Comparing models of times to an event."""
