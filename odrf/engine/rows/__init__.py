"""The rows of a tree: how they are drawn, and how a node holds them."""
