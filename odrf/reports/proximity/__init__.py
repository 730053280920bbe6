"""Reports of proximities."""
