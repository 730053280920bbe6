"""Plots of studies that evaluate several models."""
