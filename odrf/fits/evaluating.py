"""Judging subtrees and stages of growth on rows held out: folds, out of bag, the user's own."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.engine.directions.candidates import Blocks
from odrf.engine.trees.out_of_bag_losses import undrawn
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.pruning.complexity import split_prices
from odrf.pruning.cross_validation import Fold, Growth, between, cross_validated, folds_grown
from odrf.pruning.growth_stages import Stages, judged_stages, stage_prices
from odrf.pruning.held_out import HeldOut, held_out
from odrf.pruning.subtrees import nested_subtrees

__all__ = [
    "by_folds",
    "by_rows",
    "grown_without",
    "labelled_rows",
    "stages_by_folds",
    "stages_out_of_bag",
]


def grown_without(
    fit: Fit, cv: int, seed: int, n_jobs: int, progress: bool
) -> tuple[Growth, list[Fold]]:
    """Grow the fit's tree again without each of `cv` folds, with the same options."""
    design, data, control = fit.design, fit.data, fit.control
    growth = Growth(
        data.X,
        data.y,
        data.weights,
        Blocks(design.first, design.types),
        fit.samplings[0],
        control.settings(),
        control.mixture,
    )
    with tqdm(total=cv, unit="fold", disable=not progress) as bar:
        return growth, folds_grown(growth, cv, seed, n_jobs, bar.update)


def by_folds(
    fit: Fit, rule: str, loss: str, cv: int, seed: int, n_jobs: int, progress: bool
) -> HeldOut:
    """Judge every subtree of the fit by cross-validation."""
    alpha = nested_subtrees(fit.forest, rule, loss).alpha
    growth, folds = grown_without(fit, cv, seed, n_jobs, progress)
    prices = partial(split_prices, rule=rule, loss=loss)
    return cross_validated(growth, folds, prices, between(alpha))


def labelled_rows(
    fit: Fit, rows: pd.DataFrame, argument: str
) -> tuple[NDArray[np.float32], NDArray[np.float64]]:
    """Return predictors (p, m) and responses (m,) of the complete rows that `argument` gave."""
    X, y = fit.design.labelled(rows)
    if len(y) == 0:
        raise InputError(f"{argument}= has no complete rows to judge the trees on")
    return X, y


def by_rows(fit: Fit, rule: str, loss: str, rows: pd.DataFrame) -> HeldOut:
    """Judge every subtree of the fit on rows of the user's own."""
    X, y = labelled_rows(fit, rows, "validation")
    alpha = nested_subtrees(fit.forest, rule, loss).alpha
    prices = split_prices(fit.forest, rule, loss)
    one: NDArray[np.float64] = np.ones(len(y))
    return held_out(fit.forest, prices, alpha, X, y, one)


def stages_by_folds(
    fit: Fit, stages: Stages, n_jobs: int, *, along: str, cv: int, seed: int
) -> HeldOut:
    """Judge the fit's tree at each of its stages by cross-validation, the largest size first."""
    growth, folds = grown_without(fit, cv, seed, n_jobs, False)
    return cross_validated(growth, folds, partial(stage_prices, along=along), stages.alpha)


def stages_out_of_bag(fit: Fit, stages: Stages, n_jobs: int) -> HeldOut:
    """Judge the fit's forest at each of its stages on its out-of-bag rows, the largest first."""
    data = fit.data
    unseen = undrawn(data.weights, fit.samplings, fit.streams, n_jobs)
    return judged_stages(fit.forest, stages, data.X, data.y, data.weights, n_jobs, unseen)
