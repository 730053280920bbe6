"""Choosing, out of bag, the scale of the response on which splits are chosen.

Pilot trees of one kind are grown on each scale, and judged by the rows that they did not draw.  The
squared error of a forest of many such trees is estimated from products of the errors of different
trees, as in `odrf.fits.stacking`.  Another scale than the response is taken only if its error is
clearly smaller.

The pilot trees draw few of the rows: they are quickly grown, and nearly every row judges pairs of
them.  The trees of all scales draw the same rows, so that the difference of two scales varies
little.  Their streams do not depend on the seed of the forest: forests that differ in their seeds
alone have the same scale, and can be combined.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.engine.factors import with_rows
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.growth.split_scales import splitting_response
from odrf.engine.numeric import streams
from odrf.engine.resamples import SUBSAMPLE, Draws, RowCodes
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.stacking import mean_products, products_of_rows
from odrf.options.criteria import RESPONSE, SPLIT_SCALES
from odrf.options.tree import Control

__all__ = ["ScaleErrors", "chosen_scale", "scale_errors"]

# Pilot trees of each scale, the share of the rows that each draws, and how many rows at most.
PILOTS, SHARE, MOST_ROWS = 24, 0.5, 5000
# Most rows that the pilot trees are judged by; more would change little.
EVALUATED_ROWS = 20_000
# A scale whose correlation with the response is larger chooses nearly the same splits.
ALIKE = 0.98
# The scales that are tried.  Ranks lower error on fewest tables
# (``benchmarks/options/split_scales.py``).
TRIED = ("log", "normal")
# A scale is taken if its error is smaller by so many standard errors of the difference.  Few pilot
# trees hardly ever show a whole one.
STANDARD_ERRORS = 0.5
SEED = 0


class ScaleErrors(NamedTuple):
    """Estimated errors of forests on S scales, the first of which is the response.

    Attributes
    ----------
    errors : (S,) float64
        Mean squared errors, out of bag.
    standard_errors : (S,) float64
        Standard errors of their differences from the first.
    """

    errors: NDArray[np.float64]
    standard_errors: NDArray[np.float64]


def chosen_scale(
    design: Design, data: TrainingData, control: Control
) -> tuple[str, dict[str, float]]:
    """Return the name of the chosen scale, and the errors of all scales that were compared.

    `control` has the options of the pilot trees.  Nothing is compared if every scale is much like
    the response.
    """
    names = [RESPONSE, *(name for name in TRIED if _may_matter(name, data))]
    if len(names) == 1:
        return RESPONSE, {}
    found = scale_errors(design, data, control, names)
    errors = dict(zip(names, found.errors.tolist(), strict=True))
    clearly = found.errors + STANDARD_ERRORS * found.standard_errors < found.errors[0]
    better = [name for name, is_better in zip(names, clearly, strict=True) if is_better]
    return min(better, key=lambda name: errors[name], default=RESPONSE), errors


def _may_matter(name: str, data: TrainingData) -> bool:
    """Whether splits on this scale may differ much from those on the response."""
    splitting = splitting_response(data.y, data.weights, SPLIT_SCALES[name])
    if splitting is None:
        return False
    covariance = np.cov(data.y, splitting, aweights=data.weights, ddof=0)
    spread = np.sqrt(covariance[0, 0] * covariance[1, 1])
    return bool(spread > 0 and covariance[0, 1] < ALIKE * spread)


def scale_errors(
    design: Design, data: TrainingData, control: Control, names: list[str]
) -> ScaleErrors:
    """Estimate the errors of forests on the scales of these names; the first is the response."""
    n = len(data.y)
    sampling = control.sampling._replace(
        resample=SUBSAMPLE, fraction=min(control.sample_fraction, SHARE, MOST_ROWS / n)
    )
    tree_streams = streams(SEED, 0, PILOTS)
    at = np.unique(np.linspace(0, n - 1, min(n, EVALUATED_ROWS)).astype(np.int64))
    X, y = with_rows(data.X, at), data.y[at]
    draws = Draws(data.weights, [sampling] * PILOTS, tree_streams, control.n_jobs, data.codes)
    unseen = np.take(draws.all_unseen(), at, axis=1).T
    values = []
    for name in names:
        settings = control.settings._replace(split_scale=SPLIT_SCALES[name])
        forest = grow_forest(
            data.X, data.y, data.weights, design.feature_groups, sampling, settings,
            control.mixture, tree_streams, control.n_jobs, lambda: None, data.codes,
        )  # fmt: skip
        predicted = forest.value[leaf_nodes(forest, X, control.n_jobs), 0]
        values.append((predicted - y[:, None])[:, :, None])
    return _compared(values, unseen, data.weights[at], _units(data.codes, at))


def _units(codes: RowCodes | None, at: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what each of the rows counts with: its group, or itself."""
    return np.arange(len(at)) if codes is None or codes.groups is None else codes.groups[at]


def _compared(
    values: list[NDArray[np.float64]],
    unseen: NDArray[np.bool_],
    weights: NDArray[np.float64],
    units: NDArray[np.int64],
) -> ScaleErrors:
    """Return the errors by the `values` (m, b, 1), errors of the trees on each scale.

    `unseen` (m, b) are the rows that judge each tree, `units` (m,) which rows vary together.
    """
    products = products_of_rows(values, [unseen] * len(values))
    errors = np.diag(mean_products(products, [unseen] * len(values), weights)[0])
    n_unseen = unseen.sum(axis=1)
    pairs = weights * (n_unseen * (n_unseen - 1))
    rises = weights * np.array([products[s, s] - products[0, 0] for s in range(len(values))])
    rises -= np.outer(errors - errors[0], pairs)
    squares = [np.square(np.bincount(units, rise)).sum() for rise in rises]
    total = max(pairs.sum(), np.finfo(float).tiny)
    return ScaleErrors(errors, np.sqrt(squares) / total)
