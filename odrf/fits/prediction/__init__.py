"""What a fit predicts for rows, and how well."""
