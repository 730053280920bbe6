"""Diagnostics: what theory says of a fit, and what the data say of theory's conditions."""
