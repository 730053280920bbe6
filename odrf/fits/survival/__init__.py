"""Fits to times to an event: growth, curves, and what is computed from them."""
