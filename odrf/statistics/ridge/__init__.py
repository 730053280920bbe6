"""Ridge regressions: of columns, of functions of distances, and along directions."""
