"""One tree of more rows than memory holds: the splits of nodes whose rows pass by in stripes.

Such a node has candidate directions, fitted on a sample of its rows.  Sums over bins of their
projections are added up in one pass, for all nodes of a level together.  Two more passes refine the
cut of the best direction of each node, and send the rows to its sides.
"""
