"""Fits that stand ready for further rows, and those that keep a sample of a stream of rows."""
