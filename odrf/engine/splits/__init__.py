"""The best split of a node: impurity, thresholds, bins."""
