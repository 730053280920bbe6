"""Tests of importance: stand-ins for variables, losses with and without them, knockoffs."""
