"""Errors that fits state, beside errors on new rows."""
