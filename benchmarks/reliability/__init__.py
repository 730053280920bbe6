"""Interrupts, loads, exports, files that somebody changed, and changes that tests notice."""
