"""Rows in chunks, on workers and in streams; fits that are updated."""
