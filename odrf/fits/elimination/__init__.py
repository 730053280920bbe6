"""Eliminating predictors step by step: how forests are judged, and grown again."""
