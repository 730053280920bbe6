"""Rows in partitions on the workers of a cluster, cut into the same blocks as rows in chunks."""
