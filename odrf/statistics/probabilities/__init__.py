"""How good probabilities are: arrays in, numbers out."""
