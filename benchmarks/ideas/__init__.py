"""Ideas for the forest and for `odrf.auto` that were tried and not kept."""
