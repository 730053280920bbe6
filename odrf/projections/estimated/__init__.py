"""Families whose directions are estimated on the rows of a node, or of a tree."""
