"""Shapley values of trees: arrays in, numbers out."""
