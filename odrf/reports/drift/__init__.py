"""Errors along the updates of a fit."""
