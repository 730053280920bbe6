"""Conditions of theorems, inference, importance: arrays in, numbers out."""
