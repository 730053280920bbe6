"""Algorithm 1 of Gupta et al. with a list of rows for every region, none of which is skipped."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.directions.candidates import INDICATORS, FeatureGroups
from odrf.engine.kernel_params import GuidedKernelParams
from reference.forests import goes_left
from reference.randomness import Stream


class Plane(NamedTuple):
    theta: NDArray[np.float32]
    threshold: np.float32


@dataclass
class Region:
    """Its rows, those of a class side by side."""

    rows: NDArray[np.int64]
    left: int = -1
    plane: int = -1


@dataclass
class GuidedTree:
    columns: list[int]
    regions: list[Region]
    planes: list[Plane] = field(default_factory=list)


@dataclass
class Sample:
    """Rows of positive weight: predictors (p, n), responses, weights; N_c of each class."""

    X: NDArray[np.float32]
    y: NDArray
    w: NDArray
    n_classes: int

    @property
    def totals(self) -> NDArray:
        return np.array([self.w[self.y == c].sum() for c in range(self.n_classes)])

    @property
    def centre(self) -> NDArray:
        return np.array([column.mean(dtype=np.float64) for column in self.X])

    def scale(self, feature_groups: FeatureGroups) -> NDArray:
        """Standard deviations; the indicators of a factor have (Σs²/12)^¼ in common."""
        scale = np.array([column.std(dtype=np.float64) for column in self.X])
        for j, kind in enumerate(feature_groups.types):
            indicators = range(feature_groups.first[j], feature_groups.first[j + 1])
            if kind == INDICATORS:
                shared = (np.sum(scale[indicators] ** 2) / 12) ** 0.25
                scale[indicators] = [shared if s > 0 else 0.0 for s in scale[indicators]]
        return scale


def sample_of(X: NDArray, y: NDArray, weights: NDArray, n_classes: int) -> Sample:
    rows = [i for i in range(len(y)) if weights[i] > 0]
    if n_classes > 1:
        rows.sort(key=lambda i: y[i])
    else:
        y = y - np.average(y, weights=weights)
    return Sample(X[:, rows], y[rows], weights[rows], n_classes)


def added(values: NDArray) -> float:
    """Their sum, from the first to the last."""
    return float(np.cumsum(values, dtype=np.float64)[-1])


def gini(sample: Sample, rows: NDArray[np.int64]) -> float:
    """Z of equation (8), of class weights."""
    y, w = sample.y[rows], sample.w[rows]
    mass = np.array([w[y == c].sum() for c in range(sample.n_classes)])
    totals = np.where(sample.totals > 0, sample.totals, 1.0)
    shares = mass / totals
    return float(w.sum()) * (1.0 - added(shares * shares) / (added(shares) * added(shares)))


def squares(sample: Sample, rows: NDArray[np.int64]) -> float:
    """Sum of squares about the mean."""
    y, w = sample.y[rows], sample.w[rows]
    if np.ptp(y) == 0:
        return 0.0
    apart = y - added(w * y) / added(w)
    return added(w * apart * apart)


def impurity(sample: Sample, rows: NDArray[np.int64]) -> float:
    return gini(sample, rows) if sample.n_classes > 1 else squares(sample, rows)


def impurity_of_parts(sample: Sample, rows: NDArray[np.int64], left: NDArray[np.bool_]) -> float:
    """What is left when the rows are divided; of squares all but those between the parts."""
    if left.all() or not left.any():
        return impurity(sample, rows)
    if sample.n_classes > 1:
        return gini(sample, rows[left]) + gini(sample, rows[~left])
    y, w = sample.y[rows], sample.w[rows]
    here, beyond = w[left].sum(), w[~left].sum()
    apart = (w * y)[~left].sum() / beyond - (w * y)[left].sum() / here
    return impurity(sample, rows) - beyond * here / (here + beyond) * apart * apart


def draw_columns(
    stream: Stream, feature_groups: FeatureGroups, scale: NDArray, subspace: int
) -> list[int]:
    """The columns that vary of some of the predictors that do."""
    columns_of = [
        range(feature_groups.first[j], feature_groups.first[j + 1])
        for j in range(len(feature_groups.types))
    ]
    varying = [j for j, columns in enumerate(columns_of) if any(scale[columns] > 0)]
    size = min(subspace, len(varying))
    stream.shuffle_front(varying, size)
    return [c for j in sorted(varying[:size]) for c in columns_of[j] if scale[c] > 0]


def tells_empty_cells_of(feature_groups: FeatureGroups, columns: list[int]) -> list[int]:
    """For each column the place among `columns` of the one that tells its missing values, or -1."""
    tells, holes = {}, feature_groups.holes
    for j in [] if holes is None else np.flatnonzero(holes):
        *numbers, last = range(feature_groups.first[j], feature_groups.first[j + 1])
        tells |= dict.fromkeys(numbers, last)
    return [columns.index(tells[c]) if tells.get(c) in columns else -1 for c in columns]


def draw_plane(
    stream: Stream,
    Z: NDArray[np.float32],
    centre: NDArray,
    scale: NDArray,
    empty: list[int],
    from_region: bool,
) -> Plane:
    """Equations (3) to (7) for the rows Z (C, m) of a region, whose missing values are filled."""
    mean = np.array([added(column) / len(column) for column in Z])
    low, range_ = Z.min(axis=1).astype(float), np.ptp(Z, axis=1).astype(float)
    u = np.array([stream.uniform() for _ in Z])
    w = (low + u * range_ - (mean if from_region else centre)) / (scale * scale)
    for j, tells in enumerate(empty):
        if tells >= 0 and mean[tells] < 1:
            w[tells] += w[j] * mean[j] / (1 - mean[tells])
    length = np.sqrt(added(w * w)) or 1.0
    theta = (w.astype(np.float32).astype(float) / length).astype(np.float32)
    return Plane(theta, np.float32(added(theta.astype(float) * mean)))


def grow(
    X: NDArray,
    y: NDArray,
    weights: NDArray,
    feature_groups: FeatureGroups,
    settings: GuidedKernelParams,
    state: NDArray[np.uint64],
) -> GuidedTree:
    """Steps of Algorithm 1 until no impure region is left that can be divided."""
    sample, stream = sample_of(X, y, weights, settings.n_classes), Stream(state)
    scale = sample.scale(feature_groups)
    columns = draw_columns(stream, feature_groups, scale, settings.subspace)
    tree = GuidedTree(columns, [Region(np.arange(len(sample.y)))])
    X, centre, scale = sample.X[columns], sample.centre[columns], scale[columns]
    empty = tells_empty_cells_of(feature_groups, columns)

    def divisible(rows: NDArray[np.int64]) -> bool:
        varies = bool((np.ptp(X[:, rows], axis=1) > 0).any()) if columns else False
        return impurity(sample, rows) > 0 and len(rows) >= settings.min_split and varies

    def stays_left(rows: NDArray[np.int64], plane: Plane) -> NDArray[np.bool_]:
        return goes_left(X[:, rows], list(range(len(X))), list(plane.theta), plane.threshold)

    def cuts(region: Region, plane: Plane) -> bool:
        left = stays_left(region.rows, plane)
        return bool(left.any() and not left.all())

    def left_over(regions: list[Region], plane: Plane) -> float:
        """Equation (15)."""
        return added(
            np.array(
                [
                    impurity_of_parts(sample, region.rows, stays_left(region.rows, plane))
                    for region in regions
                ]
            )
        )

    active = [tree.regions[0]] if divisible(tree.regions[0].rows) else []
    while active:
        target = max(active, key=lambda region: impurity(sample, region.rows))
        drawn = [
            draw_plane(stream, X[:, target.rows], centre, scale, empty, settings.from_region)
            for _ in range(settings.trials)
        ]
        working = [plane for plane in drawn if cuts(target, plane)]
        if not working:
            active = [region for region in active if region is not target]
            continue
        best = min(working, key=lambda plane: left_over(active, plane))
        following = []
        for region in active:
            if not cuts(region, best):
                following.append(region)
                continue
            region.left, region.plane = len(tree.regions), len(tree.planes)
            left = stays_left(region.rows, best)
            parts = [Region(region.rows[left]), Region(region.rows[~left])]
            tree.regions += parts
            following += [part for part in parts if divisible(part.rows)]
        active = following
        tree.planes.append(best)
    return tree


def values_beyond(
    theta: NDArray[np.float32],
    threshold: NDArray[np.float32],
    X: NDArray[np.float32],
    values: list[list[int]],
    segments: list[list[int]],
) -> list[list[list[int]]]:
    """For each value and plane, its sum over the rows of each segment that are beyond the plane."""

    def is_beyond(k: int, i: int) -> bool:
        products = [float(t) * float(x) for t, x in zip(theta[k], X[:, i], strict=True)]
        return sum(products) > threshold[k]

    return [
        [
            [sum(value[i] for i in rows if is_beyond(k, i)) for rows in segments]
            for k in range(len(theta))
        ]
        for value in values
    ]


def votes(sample: Sample, rows: NDArray[np.int64]) -> NDArray:
    """log₂(1 + h), h by equations (18) to (20); of a regression the mean."""
    y, w = sample.y[rows], sample.w[rows]
    if sample.n_classes == 1:
        return np.array([np.average(y, weights=w)])
    f = np.array([w[y == c].sum() / w.sum() for c in range(sample.n_classes)])
    IF = np.array([sample.w.sum() / N if N > 0 else 0.0 for N in sample.totals])
    return np.log2(1 + f * IF / np.sum(f * IF))
