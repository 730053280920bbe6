"""Growing trees: one tree, forests, honest trees, and trees updated by new rows."""
