"""Several fits, one conclusion: comparing, tuning, learning curves, bias and variance."""
