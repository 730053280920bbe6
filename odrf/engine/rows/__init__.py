"""The rows of a tree: how they are drawn, and how they are stored node by node."""
