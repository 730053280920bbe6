"""Reports of averaged predictions, comparisons and slopes."""
