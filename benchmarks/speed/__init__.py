"""Seconds and memory, beside other packages and beside the machine."""
