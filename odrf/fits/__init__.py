"""From fit to fit and from fit to arrays: growing, pruning, combining, updating, saving."""
