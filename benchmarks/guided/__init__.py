"""Guided forests: their accuracy and size, devices, and rows that they choose."""
