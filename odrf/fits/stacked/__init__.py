"""Several models of one response, and their weighted mean."""
