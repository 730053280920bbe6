"""Grow the trees of a guided forest in several threads, each tree from its random stream."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import fields
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.engine.compiling import compiled_at_ease
from odrf.engine.directions.candidates import INDICATORS, FeatureGroups, columns_of
from odrf.engine.factors import Matrix, indicated, with_rows
from odrf.engine.guided.device import Device, DeviceGrowth, grow_in_batches
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.guided.kernel import ACTIVE, PLANES, REGIONS, begin, grow, growth_for
from odrf.engine.guided.planes import TreeColumns, planes_for
from odrf.engine.guided.regions import regions_for
from odrf.engine.kernel_params import GuidedKernelParams
from odrf.engine.memory import MOST_PLACES, require_numbers
from odrf.engine.numeric import shuffle_front
from odrf.engine.running import end_if_stopped, in_order
from odrf.engine.trees.concatenate import ROOM, AppendedArray, within_memory
from odrf.engine.trees.packing import FEWER

# A variable uniform on an interval of length 1 has the variance 1 / UNIFORM.
UNIFORM = 12.0
# Arrays that say where each tree begins, and in which other array.
BORDERS = {
    "root": "left", "first_plane": "threshold", "first_column": "columns", "first_coef": "coef",
}  # fmt: skip
# Arrays that refer by number to entries of others, and what these entries are.
NUMBERS = {"left": ("left", "regions"), "plane": ("threshold", "planes")}
# Growth looks about every tenth of a second whether it is to stop: after so many numbers, which are
# read for the projections of rows on candidate planes.
BUDGET = 50_000_000


def grow_guided(
    X: Matrix, y: NDArray[np.float64], weights: NDArray[np.float64], feature_groups: FeatureGroups,
    settings: GuidedKernelParams, streams: NDArray[np.uint64], n_jobs: int,
    advance: Callable[[], object], device: Device | None = None,
) -> GuidedForest:  # fmt: skip
    """Grow a guided tree for each of the `streams` (B, 4) and join them in that order.

    Every tree uses all rows of positive weight, and a random subspace: a random subset of the
    predictors that are not constant.

    `X` (p, n): predictors, one column of the design per row of the array, scaled to [0, 1].
    `y` (n,): response, or class codes 0 … K - 1.
    `weights` (n,): case weights.
    `feature_groups`: which columns make up each predictor.
    `settings`: options of growth.
    `streams` (B, 4): initial state of each tree's random stream; not modified.
    `n_jobs`: threads.
    `advance`: called after each tree, in the order of the trees.
    `device`: evaluates the candidate planes; by default compiled kernels do.
    """
    classes = settings.n_classes > 1
    rows = np.flatnonzero(weights > 0)
    if classes:
        # so that the rows of a class are adjacent
        rows = rows[np.argsort(y[rows], kind="stable")]
    centre = np.array([X[j][rows].mean(dtype=np.float64) for j in range(len(X))])
    scale = _column_scales(X, rows, feature_groups)
    shift = 0.0 if classes else float(np.average(y[rows], weights=weights[rows]))

    def tree_of(stream: NDArray[np.uint64]) -> GuidedForest:
        state = stream.copy()
        columns = _draw_columns(state, feature_groups, scale, settings.subspace)
        return _grow_one(
            indicated(with_rows(X[columns], rows)), y[rows], weights[rows], columns,
            TreeColumns(centre[columns], scale[columns], _empty(feature_groups, columns)),
            shift, settings, state, device,
        )  # fmt: skip

    def grown() -> Iterator[GuidedForest]:
        for tree in in_order(tree_of, streams, n_jobs, X.size):
            yield tree
            advance()

    with compiled_at_ease(grow):
        return joined_guided(within_memory(grown(), len(streams)), len(streams))


def _column_scales(
    X: Matrix, rows: NDArray[np.int64], feature_groups: FeatureGroups
) -> NDArray[np.float64]:
    """Return the scale of each column (p,): its standard deviation; 0 for a constant column.

    The indicators of a factor share one scale s.  It is chosen so that the scores of the levels,
    each uniform on an interval of length 1/s², have a standard deviation of 1 over the rows, like a
    numeric predictor with weight 1.
    """
    scale = np.array([X[j][rows].std(dtype=np.float64) for j in range(len(X))])
    for j in np.flatnonzero(feature_groups.types == INDICATORS):
        indicators = scale[feature_groups.first[j] : feature_groups.first[j + 1]]
        shared = (np.sum(indicators**2) / UNIFORM) ** (1 / 4)
        indicators[indicators > 0] = shared
    return scale


def _draw_columns(
    state: NDArray[np.uint64],
    feature_groups: FeatureGroups,
    scale: NDArray[np.float64],
    subspace: int,
) -> NDArray[np.int64]:
    """Return the non-constant columns of a random subset of the predictors, in their order."""
    varying = [
        j for j, (lo, hi) in enumerate(pairwise(feature_groups.first))
        if (scale[lo:hi] > 0).any()
    ]  # fmt: skip
    predictors = np.array(varying, dtype=np.int64)
    size = min(subspace, len(predictors))
    shuffle_front(state, predictors, size)
    columns = columns_of(feature_groups, np.sort(predictors[:size]))
    return columns[scale[columns] > 0]


def _empty(feature_groups: FeatureGroups, columns: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the place of the column that tells empty cells of each of `columns` (C,), or -1."""
    empty = np.full(len(columns), -1)
    if feature_groups.holes is None:
        return empty
    for j in np.flatnonzero(feature_groups.holes):
        first, last = feature_groups.first[j : j + 2]
        of_predictor = np.flatnonzero((first <= columns) & (columns < last))
        if len(of_predictor) > 0 and columns[of_predictor[-1]] == last - 1:
            empty[of_predictor[:-1]] = of_predictor[-1]
    return empty


def _grow_one(
    X: NDArray[np.float32], y: NDArray[np.float64], weights: NDArray[np.float64],
    columns: NDArray[np.int64], of_columns: TreeColumns, shift: float, settings: GuidedKernelParams,
    state: NDArray[np.uint64], device: Device | None,
) -> GuidedForest:  # fmt: skip
    """Grow a tree on the rows X (C, n) of its `columns`; responses have `shift` subtracted."""
    C, n = X.shape
    K = settings.n_classes
    code = y.astype(np.int64) if K > 1 else np.zeros(n, dtype=np.int64)
    number = () if device is None else np.arange(n)
    regions = regions_for(X, code, np.zeros(n) if K > 1 else y - shift, weights.copy(), K, number)
    candidates = planes_for(settings.trials, C, n, K, settings.batched and device is None)
    growth = growth_for(C, n)
    begin(regions, growth, settings.min_split)
    grown = grow_in_batches if settings.batched else grow
    if device is not None:
        grown = DeviceGrowth(device, regions)
    budget = BUDGET // max(1, C * settings.trials)
    while growth.reached[ACTIVE] > 0:
        end_if_stopped()
        grown(regions, growth, of_columns, settings, state, candidates, budget)
    m, n_planes = int(growth.reached[REGIONS]), int(growth.reached[PLANES])
    weight = regions.weight[:m].copy()
    return GuidedForest(
        root=np.array([0, m]), left=regions.left[:m].copy(), plane=regions.plane[:m].copy(),
        count=regions.end[:m] - regions.begin[:m], weight=weight,
        impurity=regions.impurity[:m] / weight,
        value=_votes(regions.mass[:m], weight, regions.totals, shift),
        first_plane=np.array([0, n_planes]), threshold=growth.threshold[:n_planes].copy(),
        first_column=np.array([0, C]), columns=columns.astype(np.int32),
        first_coef=np.array([0, n_planes * C]), coef=growth.theta[:n_planes].reshape(-1).copy(),
    )  # fmt: skip


def _votes(
    mass: NDArray[np.float64],
    weight: NDArray[np.float64],
    totals: NDArray[np.float64],
    shift: float,
) -> NDArray[np.float64]:
    """Return log₂(1 + h) of equations (18) to (22), or for a regression the means, (m, K)."""
    if mass.shape[1] == 1:
        return mass / weight[:, None] + shift
    shares = np.divide(mass, totals, out=np.zeros_like(mass), where=totals > 0)
    return np.log2(1.0 + shares / shares.sum(axis=1, keepdims=True))


def joined_guided(trees: Iterable[GuidedForest], n_trees: int) -> GuidedForest:
    """Join so many trees, or forests, of the same design, in the given order.

    Each is appended as it comes, so that memory never holds all trees twice: memory is reserved for
    so many like the first.
    """
    arrays: dict[str, AppendedArray] = {}
    for tree in trees:
        before = {name: len(array) for name, array in arrays.items()}
        parts = {field.name: getattr(tree, field.name) for field in fields(tree)}
        for name, of in BORDERS.items():
            parts[name] = parts[name][1:] + before.get(of, 0)
        for name, (of, what) in NUMBERS.items():
            first = before.get(of, 0)
            require_numbers(first + len(parts[of]), MOST_PLACES, f"{what} of all trees", FEWER)
            part = parts[name]
            parts[name] = np.where(part < 0, np.int32(-1), part + np.int32(first))
        for name, part in parts.items():
            if name not in arrays:
                arrays[name] = AppendedArray(part[:0], int(ROOM * n_trees * len(part)) + 1)
            arrays[name].append(part)
    joined = {name: array.taken() for name, array in arrays.items()}
    return GuidedForest(**joined | {name: np.append(0, joined[name]) for name in BORDERS})
