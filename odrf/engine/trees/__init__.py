"""Grown trees as flat arrays: routing, pruning by arrays, errors out of bag."""
