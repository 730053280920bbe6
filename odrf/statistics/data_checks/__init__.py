"""What shows that the rows of a table are dependent, or tell the response exactly."""
