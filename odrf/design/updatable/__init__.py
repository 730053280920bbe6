"""Training rows to which others are added, and which may leave."""
