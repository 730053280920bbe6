"""What a stack of models tells."""
