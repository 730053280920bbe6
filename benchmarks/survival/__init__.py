"""Times to events: survival models, their intervals, directions and causes."""
