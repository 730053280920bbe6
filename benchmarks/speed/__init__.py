"""Seconds and memory, beside other packages, beside the machine, and as foreseen."""
