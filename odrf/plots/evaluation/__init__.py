"""Drawings of evaluations of several fits."""
