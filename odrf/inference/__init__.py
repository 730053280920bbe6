"""Inference for forests: standard errors of their means, quantiles and intervals of responses."""
