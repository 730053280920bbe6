"""The options of growth, as numbers for the kernels."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from odrf.engine.directions.candidates import TWO_LEVELS

NO_PENALTY, AIC, BIC = 0, 1, 2
ON_RESPONSE, ON_LOG, ON_NORMAL, ON_RANKS, ON_BOX_COX = 0, 1, 2, 3, 4
NO_LIMIT = int(np.iinfo(np.int64).max)


class KernelParams(NamedTuple):
    """The options of growth, as numbers for the kernels.

    `criterion`: impurity: `SQUARED_ERROR`, `GINI`, `ENTROPY`, `ORDINAL` or `POISSON` of
      `odrf.engine.splits.impurity`.
    `n_classes`: K; 1 for a numeric response.
    `max_leaves`: t_n, the most leaves.
    `min_leaf`: fewest rows of a leaf.
    `max_depth`: most splits between root and leaf.
    `penalty`: `NO_PENALTY`, `AIC` or `BIC`: what a split is charged for each coefficient of its
      direction and for its threshold, see `odrf.engine.splits.splitter`.
    `subset_size`: predictors in each random subset; 0 draws the size anew for every candidate
      direction.
    `newton_steps`: Newton steps of a logistic direction.
    `direction_rows`: most rows of a node on which a direction is estimated; or ten per column, if
      more.
    `n_thresholds`: random thresholds tried along each candidate direction; 0 tries all cut
      points.
    `exact_rows`: nodes of up to this many rows try every cut point; larger ones those between
      bins, and then every cut point in the two bins around the best.
    `indicator_levels`: most levels of a factor that enters a direction of several predictors by
      an indicator for each level; the levels of other factors are scored.  More than two are for
      numbers only.
    `surrogates`: whether each split has surrogates, and is scored on the rows that have values
      for it.
    `split_scale`: `ON_RESPONSE`, `ON_LOG`, `ON_NORMAL`, `ON_RANKS` or `ON_BOX_COX`: the scale of
      a numeric response on which splits are chosen, see `odrf.engine.growth.split_scales`.
    `best_first`: whether the split with the largest decrease of the impurity is made next, and
      not that of the next node breadth-first; not with surrogates.
    `min_weight`: least weight of a leaf, for a numeric response.  Rows of boosted trees weigh as
      much as the second derivatives of their losses; with `POISSON` a weight is an exposure, as
      many events as are expected at a rate of 1.
    `n_times`: number of different event times, if the response is a time to an event; else 0.
    """

    criterion: int
    n_classes: int
    max_leaves: int
    min_leaf: int
    max_depth: int
    penalty: int
    subset_size: int
    newton_steps: int
    direction_rows: int
    n_thresholds: int
    exact_rows: int
    indicator_levels: int = TWO_LEVELS
    surrogates: bool = False
    split_scale: int = ON_RESPONSE
    best_first: bool = False
    min_weight: float = 0.0
    n_times: int = 0


# The options of guided growth, as numbers for the kernels.


class GuidedKernelParams(NamedTuple):
    """The options of guided growth, as numbers for the kernels.

    `n_classes`: K; 1 for a numeric response.  `subspace`: M, the number of predictors that a tree
    uses.  `trials`: candidate planes at each step.  `min_split`: regions of fewer rows are not
    divided.  `from_region`: whether the weights of a plane are drawn from ranges measured from the
    mean of the region; otherwise from the mean of all rows.  `batched`: whether the planes of a
    step are evaluated together, by one matrix product.
    """

    n_classes: int
    subspace: int
    trials: int
    min_split: int
    from_region: bool
    batched: bool
