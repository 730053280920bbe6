"""Pruning: the critical α of each split, the nested subtrees, and how one of them is chosen."""
