"""One tree of all rows in chunks, more of them than memory holds."""
