"""Forests and `odrf.auto` beside other methods on open tables, and the reports of that."""
