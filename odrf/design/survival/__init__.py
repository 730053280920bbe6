"""Responses that are times to an event, some of them censored."""
