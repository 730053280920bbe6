"""Options as users give them, checked once and frozen."""
