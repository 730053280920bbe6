"""Standard errors by little bags, to be compared with those of the jackknife.

The trees of a forest are grown in bags; those of one bag draw their rows from the same half of the
sample.  The variance of the forest is that of the means of the bags, less what the trees of a bag
add to it by chance (Athey, Tibshirani and Wager 2019, Generalized random forests, section 4).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import odrf
from odrf.fits.effects import averages
from odrf.statistics.jackknife import not_negative

__all__ = ["little_bags"]

# Trees of a bag, as by default in the R package grf.
BAG = 2


def little_bags(
    data: pd.DataFrame,
    contrasts: Sequence[tuple[pd.DataFrame, pd.DataFrame]],
    trees: int,
    share: float,
    seed: int,
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return averaged differences (M,) of predictions, and their standard errors (M,).

    Parameters
    ----------
    data : DataFrame
        The sample, with the response ``y``.
    contrasts : sequence of M pairs of DataFrame
        The rows of each pair are equally many, and the same but for what is compared.
    trees : int
        In all bags together.
    share : float
        Rows of a tree, as a share of the sample.
    seed : int
    """
    rng = np.random.default_rng(seed)
    rows = pd.concat([end for pair in contrasts for end in pair], ignore_index=True)
    M, each = len(contrasts), len(rows) // (2 * len(contrasts))
    group = np.repeat(np.arange(2 * M), each)
    weight = np.full(len(rows), 1 / each)
    bags = np.empty((trees // BAG, BAG, M))
    options: dict[str, Any] = {
        "blend": False,
        "resample": "subsample",
        "sample_fraction": 2 * share,
        "n_jobs": 1,
    }
    for bag in bags:
        half = rng.permutation(len(data))[: len(data) // 2]
        drawn = data.iloc[half].reset_index(drop=True)
        fit = odrf("y ~ .", drawn, n_trees=BAG, seed=int(rng.integers(2**32)), **options).fit
        found = averages(fit, fit.design.matrix(rows)[0], weight, group, 2 * M).of_trees
        assert found is not None
        bag[...] = np.diff(found.reshape(BAG, M, 2), axis=2)[:, :, 0]
    means = bags.mean(axis=1)
    within = bags.var(axis=1, ddof=1).mean(axis=0)
    between = means.var(axis=0, ddof=1)
    error = between * np.sqrt(2 / len(bags))
    return means.mean(axis=0), np.sqrt(not_negative(between - within / BAG, error))
