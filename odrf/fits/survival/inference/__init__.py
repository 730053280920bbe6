"""Standard errors of predicted curves, and numbers of them as regression forests."""
