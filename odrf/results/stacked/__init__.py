"""The results of a stack of models."""
