"""What several drawings have in common."""
