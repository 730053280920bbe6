"""Gradient boosting: losses, leaf values, rounds, and sums over trees.

K is the number of outputs here: the scores of a row, and the trees of a round of one run.  It
depends on the loss, see `odrf.engine.boosting.losses`.
"""
