"""Survival fits judged by their rows: scores, errors by trees, deviances, permuted predictors."""
