"""The options of growth as the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["AIC", "BIC", "NO_PENALTY", "Settings"]

NO_PENALTY, AIC, BIC = 0, 1, 2


class Settings(NamedTuple):
    """The options of growth as the kernels read them.

    Attributes
    ----------
    criterion : int
        Impurity, a code of `odrf.engine.splits.impurity`.
    n_classes : int
        K; 1 for a numeric response.
    max_leaves, min_leaf, max_depth : int
        t_n, the fewest rows of a leaf and the largest depth.
    penalty : int
        `NO_PENALTY`, `AIC` or `BIC`.
    subset_size : int
        Predictors in each random subset; 0 draws the size anew for every candidate.
    newton_steps : int
        Newton steps of a logistic direction.
    direction_rows : int
        A direction is estimated on at most this many rows of a node (or ten per column).
    n_thresholds : int
        Random thresholds tried along a candidate; 0 tries all cuts.
    exact_rows : int
        Up to this many rows every cut is tried; above, those between bins.
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
