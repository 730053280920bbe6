"""Growing trees: one tree, a forest, an honest tree, an updated one."""
