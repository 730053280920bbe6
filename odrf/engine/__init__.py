"""The engine: arrays in, arrays out.  Nothing here knows formulas or data frames.

A tree draws rows (`odrf.engine.resamples`) and gathers them (`odrf.engine.rows`).  A node searches
its best split (`odrf.engine.splits.splitter`) among the directions that samplers propose
(`odrf.engine.directions`), each with its best cut (`odrf.engine.splits.thresholds`; in large nodes
first between bins, `odrf.engine.splits.histograms`).  An empty cell is 0 in its column and 1 in one
more column of its predictor (`odrf.engine.directions.missing`).  A factor of many levels is one
code for each row (`odrf.engine.factors`).

One tree is grown by `odrf.engine.growth.tree_builder`, the trees of a forest by
`odrf.engine.growth.forest_builder`, in threads or elsewhere (`odrf.engine.growth.backends`).  Grown
trees are flat arrays (`odrf.engine.trees.forest`), appended as they come
(`odrf.engine.trees.concatenate`), packed for prediction (`odrf.engine.trees.packing`) and walked
(`odrf.engine.trees.routing`).  For times to an event a node's responses are log-rank scores
(`odrf.engine.survival.log_rank`), and leaves get their curves afterwards
(`odrf.engine.survival.curves`).

Kernels are decorated in `odrf.engine.compiling` and nowhere else: `kernel` for those that Python
calls, `part` for those that only kernels call.  They raise nothing: they return codes, and Python
raises.  Sums are in float64; projections are added in float32, in the order of the columns.  A
kernel that may take longer than a second runs by `odrf.engine.running.in_order`, so that Ctrl-C is
noticed.  Each tree has one random stream, spawned from the seed by its number before any thread
starts; draws of rows are not stored but repeated.  Products over many rows are computed within
`one_thread`, so that bits do not depend on the threads of the linear algebra.
"""
