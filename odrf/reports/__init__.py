"""What a method of a result returns or prints; each takes a fit and knows no result class."""
