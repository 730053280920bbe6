"""Tests of importance as tables, and selections by knockoffs."""
