"""The best split of a node: impurity, cut points, bins."""
