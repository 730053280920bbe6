"""Reports of trees that imitate a fit."""
