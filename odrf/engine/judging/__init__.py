"""The loss of trees on rows that they did not draw, as trees are added or pruned."""
