"""Estimators that every check of scikit-learn is run on.

One of the checks, since scikit-learn 1.6, fits with weights, and again with each row repeated as
often as its weight says, on 15 rows of 30 columns, and compares the predictions.  They are the same
only if no random draw decides between splits that are equally good, of which so few rows have many.
So these trees make at most one split of so few rows, and more of more rows.  Guided forests, whose
planes depend on the number of rows, and the boosted classifier, whose sums of floats break ties,
make none there.  The boosted regressor adds up derivatives that are 1 or -1, without rounding.

Stacks have no such options: a smoother leaves out one row at a time, and not the rows equal to it.
"""

from __future__ import annotations

from sklearn.utils import estimator_checks

from odrf.sklearn import (
    AutoClassifier,
    AutoRegressor,
    GRAFClassifier,
    GRAFRegressor,
    ODBTClassifier,
    ODBTRegressor,
    ODRFClassifier,
    ODRFRegressor,
    ODTClassifier,
    ODTRegressor,
)

__all__ = ["DEFAULT", "EXACT", "STACKS"]


def few_leaves(n: int) -> int:
    """Return t_n, the most leaves of a tree: one for every 10 rows, but at least 2."""
    return max(2, n // 10)


REPEATING = hasattr(estimator_checks, "check_sample_weight_equivalence_on_dense_data")
GUIDED = {"min_split": 30} if REPEATING else {}
BOOSTED = {"min_leaf": 20} if REPEATING else {}
TREE = {"projection": "axis", "min_leaf": 1, "alpha": None, "max_leaves": few_leaves}
FOREST = {**TREE, "n_trees": 3, "n_singles": 1000, "resample": "none"}
EXACT = [
    ODTClassifier(**TREE),
    ODTRegressor(**TREE),
    ODRFClassifier(**FOREST),
    ODRFRegressor(**FOREST),
    GRAFClassifier(n_trees=3, **GUIDED),
    GRAFRegressor(n_trees=20, subspace="all", **GUIDED),
    ODBTClassifier(n_trees=5, projection="axis", **BOOSTED),
    ODBTRegressor(n_trees=20, min_leaf=1, loss="absolute", learning_rate=0.4, projection="axis"),
]
"""With options by which a weight of k is the same as k rows."""

STACKS = [AutoClassifier(n_trees=20), AutoRegressor(n_trees=20, budget=1e-9)]
"""The regressor has no time for more than a forest.

A forest of few trees gives some rows shares of two classes that differ by rounding alone, and their
logarithms do not differ, as a check wants them to; so the classifier has all of its models.
"""

DEFAULT = [
    ODTClassifier(),
    ODTRegressor(),
    ODRFClassifier(n_trees=5),
    ODRFRegressor(n_trees=5),
    GRAFClassifier(n_trees=5),
    GRAFRegressor(n_trees=5),
    ODBTClassifier(n_trees=5),
    ODBTRegressor(n_trees=10),
    AutoClassifier(n_trees=20),
    AutoRegressor(n_trees=20),
]
"""With default options, but few trees."""
