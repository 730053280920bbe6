"""Tests of importance: differences of losses by row, stand-ins for numbers, knockoffs."""
