"""Parts that several plots share."""
