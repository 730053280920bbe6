"""The exponential deviance of nodes, by which single trees are pruned and described."""
