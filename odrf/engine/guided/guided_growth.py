"""Grow the trees of a guided forest, each from its own random stream, over threads."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import INDICATORS, FeatureGroups, columns_of
from odrf.engine.guided.batched import grow_in_batches
from odrf.engine.guided.guided_forest import GuidedForest
from odrf.engine.guided.guided_kernel import PLANES, REGIONS, grow, growth_for
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.engine.guided.planes import trials_for
from odrf.engine.guided.regions import regions_for
from odrf.engine.parallel import in_order
from odrf.engine.randomness import shuffle_front

__all__ = ["grow_guided", "joined_guided"]

# 1 over the variance of what is uniform on a range of 1.
UNIFORM = 12.0


def grow_guided(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    settings: GuidedSettings,
    streams: NDArray[np.uint64],
    n_jobs: int,
    advance: Callable[[], object],
) -> GuidedForest:
    """Grow a guided tree for each of the `streams` (B, 4) and join them in that order.

    Every tree uses all rows of positive weight, and a random subspace of the predictors that
    are not constant.

    Parameters
    ----------
    X : (p, n) float32
        Predictors, one column of the design per row of the array, scaled to [0, 1].
    y : (n,) float64
        Response, or class codes 0 … K - 1.
    weights : (n,) float64
        Case weights.
    feature_groups : FeatureGroups
        Which columns make up each predictor.
    settings : GuidedSettings
    streams : (B, 4) uint64
        Random stream of each tree; left as they are.
    n_jobs : int
        Threads.
    advance : callable
        Called after each tree, in the order of the trees.
    """
    classes = settings.n_classes > 1
    rows = np.flatnonzero(weights > 0)
    if classes:
        # the rows of a class side by side
        rows = rows[np.argsort(y[rows], kind="stable")]
    centre = np.array([column[rows].mean(dtype=np.float64) for column in X])
    spread = _spreads(X, rows, feature_groups)
    shift = 0.0 if classes else float(np.average(y[rows], weights=weights[rows]))

    def tree_of(stream: NDArray[np.uint64]) -> GuidedForest:
        state = stream.copy()
        columns = _draw_columns(state, feature_groups, spread, settings.subspace)
        return _grow_one(
            np.ascontiguousarray(X[columns][:, rows]), y[rows], weights[rows], columns,
            centre[columns], spread[columns], shift, settings, state,
        )  # fmt: skip

    def grown() -> Iterator[GuidedForest]:
        for tree in in_order(tree_of, streams, n_jobs):
            yield tree
            advance()

    with compiled_at_ease(grow):
        return joined_guided(grown())


def _spreads(
    X: NDArray[np.float32], rows: NDArray[np.int64], feature_groups: FeatureGroups
) -> NDArray[np.float64]:
    """Return what makes a unit of each column (p,); 0 for one that is constant.

    It is the standard deviation.  The indicators of a factor share one: that which gives the
    levels' scores, uniform on a range of 1/s² each, a standard deviation of 1 over the rows, as
    that of a numeric predictor with a weight of 1.
    """
    spread = np.array([column[rows].std(dtype=np.float64) for column in X])
    for j in np.flatnonzero(feature_groups.types == INDICATORS):
        own = spread[feature_groups.first[j] : feature_groups.first[j + 1]]
        shared = (np.sum(own**2) / UNIFORM) ** (1 / 4)
        own[own > 0] = shared
    return spread


def _draw_columns(
    state: NDArray[np.uint64],
    feature_groups: FeatureGroups,
    spread: NDArray[np.float64],
    subspace: int,
) -> NDArray[np.int64]:
    """Return the columns of a random subspace, in order, without those that are constant."""
    known = [
        j for j, (lo, hi) in enumerate(pairwise(feature_groups.first))
        if (spread[lo:hi] > 0).any()
    ]  # fmt: skip
    predictors = np.array(known, dtype=np.int64)
    size = min(subspace, len(predictors))
    shuffle_front(state, predictors, size)
    columns = columns_of(feature_groups, np.sort(predictors[:size]))
    return columns[spread[columns] > 0]


def _grow_one(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    columns: NDArray[np.int64],
    centre: NDArray[np.float64],
    spread: NDArray[np.float64],
    shift: float,
    settings: GuidedSettings,
    state: NDArray[np.uint64],
) -> GuidedForest:
    C, n = X.shape
    K = settings.n_classes
    code = y.astype(np.int64) if K > 1 else np.zeros(n, dtype=np.int64)
    regions = regions_for(X, code, np.zeros(n) if K > 1 else y - shift, weights.copy(), K)
    trials = trials_for(settings.trials, C, n, K, settings.batched)
    growth = growth_for(C, n)
    grown = grow_in_batches if settings.batched else grow
    grown(regions, growth, centre, spread, settings, state, trials)
    m, n_planes = int(growth.reached[REGIONS]), int(growth.reached[PLANES])
    weight = regions.weight[:m].copy()
    return GuidedForest(
        root=np.array([0, m]),
        left=regions.left[:m].astype(np.int64),
        plane=regions.plane[:m].astype(np.int64),
        count=regions.end[:m] - regions.begin[:m],
        weight=weight,
        impurity=regions.impurity[:m] / weight,
        value=_votes(regions.mass[:m], weight, regions.totals, shift),
        first_plane=np.array([0, n_planes]),
        threshold=growth.threshold[:n_planes].copy(),
        first_column=np.array([0, C]),
        columns=columns.astype(np.int32),
        first_coef=np.array([0, n_planes * C]),
        coef=growth.theta[:n_planes].reshape(-1).copy(),
    )


def _votes(
    mass: NDArray[np.float64],
    weight: NDArray[np.float64],
    totals: NDArray[np.float64],
    shift: float,
) -> NDArray[np.float64]:
    """Return log₂(1 + h) of equations (18) to (22), or the means of a regression, (m, K)."""
    if mass.shape[1] == 1:
        return mass / weight[:, None] + shift
    shares = np.divide(mass, totals, out=np.zeros_like(mass), where=totals > 0)
    return np.log2(1.0 + shares / shares.sum(axis=1, keepdims=True))


def joined_guided(trees: Iterable[GuidedForest]) -> GuidedForest:
    """Join trees of the same design, in the given order."""
    parts = list(trees)

    def end_to_end(name: str) -> NDArray:
        return np.concatenate([getattr(part, name) for part in parts])

    def borders(name: str) -> NDArray[np.int64]:
        sizes = [np.diff(getattr(part, name)) for part in parts]
        return np.concatenate([[0], np.cumsum(np.concatenate(sizes))])

    def moved(name: str, by: NDArray[np.int64]) -> NDArray[np.int64]:
        numbers = [getattr(part, name) for part in parts]
        return np.concatenate(
            [np.where(own < 0, -1, own + first) for own, first in zip(numbers, by, strict=False)]
        )

    first_region = np.cumsum([0, *(len(part.left) for part in parts)])
    first_plane = np.cumsum([0, *(len(part.threshold) for part in parts)])
    return GuidedForest(
        root=borders("root"),
        left=moved("left", first_region),
        plane=moved("plane", first_plane),
        count=end_to_end("count"),
        weight=end_to_end("weight"),
        impurity=end_to_end("impurity"),
        value=end_to_end("value"),
        first_plane=borders("first_plane"),
        threshold=end_to_end("threshold"),
        first_column=borders("first_column"),
        columns=end_to_end("columns"),
        first_coef=borders("first_coef"),
        coef=end_to_end("coef"),
    )
