"""Pruning: the price of each split, the subtrees it leads to, and how one of them is chosen."""
