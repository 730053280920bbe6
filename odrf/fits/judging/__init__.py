"""Rows that judge a fit of which they are no part."""
