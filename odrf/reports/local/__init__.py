"""Reports of single predictions."""
