"""Plots of fits to times to an event."""
