"""The out-of-bag error of the first trees of a forest, by their number."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.oob import OutOfBag, predict_out_of_bag
from odrf.fits.survival.survival_fit import SurvivalFit
from odrf.statistics.survival.discrimination import harrells_c

__all__ = ["error_by_trees"]

# Numbers of trees at which the error is computed, about equally far apart on a logarithmic scale.
NUMBERS = 16


def error_by_trees(fit: SurvivalFit, unseen: NDArray[np.bool_]) -> pd.Series:
    """Return 1 - Harrell's C of the first trees, over the rows out of bag for some of them.

    NaN where no pair of rows can be compared.  Which rows are out of bag for each tree `unseen`
    (B, n) says.
    """
    forest, X, n, times = fit.forest, fit.data.X, len(fit.times), fit.times
    numbers = np.unique(np.geomspace(1, forest.n_trees, NUMBERS).round().astype(np.int64))
    total, votes, ones = np.zeros(n), np.zeros(n, dtype=np.int64), np.ones(n)
    errors, begin = [], 0
    for end in numbers.tolist():
        some = OutOfBag(np.zeros((n, 1)), np.zeros(n, dtype=np.int64), np.empty(0))
        # values of nodes are mortalities
        trees, n_jobs = forest.trees(begin, end), fit.control.n_jobs
        predict_out_of_bag(trees, X, ones, ones, unseen[begin:end], n_jobs, some)
        total += np.where(some.votes > 0, some.value[:, 0] * some.votes, 0.0)
        votes += some.votes
        rows = (votes > 0) & (fit.data.weights > 0)
        kept, risk = times.keeping(rows), total[rows] / votes[rows]
        weights = fit.data.weights[rows]
        errors.append(1 - harrells_c(kept.time, kept.event, risk, weights, kept.start).estimate)
        begin = end
    index = pd.Index(numbers, name="trees")
    return pd.Series(errors, index=index, name="1 - Harrell's C, out of bag")
