"""Rows that are visibly no independent observations."""
