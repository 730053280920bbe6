"""Estimators that every check of scikit-learn is run on.

One of the checks fits with weights, and again with each row repeated as often as its weight says,
on 15 rows of 30 columns, and compares the predictions.  They are the same only if no random draw
decides between splits that are equally good, of which so few rows have many.  So these trees make
at most one split of so few rows, and more of more rows; guided forests and the boosted classifier,
whose random draws and sums of floats leave no such split, make none.  The boosted regressor adds up
derivatives that are 1 or -1, without rounding.
"""

from __future__ import annotations

from odrf.sklearn import (
    GRAFClassifier,
    GRAFRegressor,
    ODBTClassifier,
    ODBTRegressor,
    ODRFClassifier,
    ODRFRegressor,
    ODTClassifier,
    ODTRegressor,
)

__all__ = ["DEFAULT", "EXACT"]


def few_leaves(n: int) -> float:
    """Return t_n, the most leaves of a tree: 2 for up to 80 rows."""
    return max(2, n / 40)


TREE = {"projection": "axis", "min_leaf": 1, "alpha": None, "max_leaves": few_leaves}
FOREST = {**TREE, "n_trees": 3, "n_singles": 1000, "resample": "none"}
EXACT = [
    ODTClassifier(**TREE),
    ODTRegressor(**TREE),
    ODRFClassifier(**FOREST),
    ODRFRegressor(**FOREST),
    GRAFClassifier(n_trees=3, min_split=30),
    GRAFRegressor(n_trees=20, min_split=30, subspace="all"),
    ODBTClassifier(n_trees=10, min_leaf=20, projection="axis"),
    ODBTRegressor(n_trees=20, min_leaf=1, loss="absolute", learning_rate=0.4, projection="axis"),
]
"""With options by which a weight of k is the same as k rows."""

DEFAULT = [
    ODTClassifier(),
    ODTRegressor(),
    ODRFClassifier(n_trees=10),
    ODRFRegressor(n_trees=10),
    GRAFClassifier(n_trees=10),
    GRAFRegressor(n_trees=10),
    ODBTClassifier(n_trees=20),
    ODBTRegressor(n_trees=20),
]
"""With default options, but few trees."""
