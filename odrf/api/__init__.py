"""The functions that users call to fit a model."""
