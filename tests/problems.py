"""Small problems for the engine's tests, and hypothesis strategies that draw them."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.directions.candidates import (
    BASIS,
    FEW_LEVELS,
    INDICATORS,
    PLAIN,
    TWO_LEVELS,
    FeatureGroups,
    feature_groups_of,
    has_levels,
    indicator_levels,
)
from odrf.engine.factors import EncodedColumns, Layout
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.growth.tree_builder import (
    Resample,
    ScratchPool,
    Targets,
    TreeBuilder,
    read_by_growth,
)
from odrf.engine.kernel_params import AIC, BIC, NO_PENALTY, ON_RESPONSE, KernelParams
from odrf.engine.numeric import streams
from odrf.engine.resamples import ALL_ROWS, RowCodes, Sampling
from odrf.engine.splits.impurity import ENTROPY, GINI, SQUARED_ERROR
from odrf.engine.splits.splitter import SORTED_TOGETHER
from odrf.engine.trees.forest import Forest
from odrf.projections.axis import Axis
from odrf.projections.mixture import Mixture, Share
from odrf.projections.regression import (
    LDA,
    LEAST_SQUARES,
    LOGISTIC,
    Discriminant,
    LeastSquares,
    Logistic,
)
from odrf.projections.sparse import Sparse

MANY_ROWS = 10**9
ESTIMATORS = {LOGISTIC: Logistic(), LEAST_SQUARES: LeastSquares(), LDA: Discriminant()}


class Recipe(NamedTuple):
    """Settings and sampler mixture in one; the mixture has single, sparse, estimated directions."""

    criterion: int
    n_classes: int
    family: int
    subset_size: int
    density: float
    n_singles: int
    n_sparse: int
    n_projections: int
    max_leaves: int
    min_leaf: int
    max_depth: int
    penalty: int
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
    truncated: bool = False
    subdistribution: bool = False

    @property
    def settings(self) -> KernelParams:
        return KernelParams(**{name: getattr(self, name) for name in KernelParams._fields})

    @property
    def mixture(self) -> Mixture:
        shares = [
            Share(Axis(), self.n_singles),
            Share(Sparse(self.density), self.n_sparse),
            Share(ESTIMATORS[self.family], self.n_projections),
        ]
        return Mixture(tuple(share for share in shares if share.number))


CART = Recipe(
    criterion=SQUARED_ERROR,
    n_classes=1,
    family=LEAST_SQUARES,
    subset_size=0,
    density=0.5,
    n_singles=1,
    n_sparse=0,
    n_projections=0,
    max_leaves=1000,
    min_leaf=1,
    max_depth=1000,
    penalty=NO_PENALTY,
    newton_steps=2,
    direction_rows=1000,
    n_thresholds=0,
    exact_rows=MANY_ROWS,
)
EVERY_ROW = Sampling(ALL_ROWS, 1.0)


@dataclass(frozen=True)
class Problem:
    """Everything that a tree grows from; by default on all rows."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    settings: Recipe
    sampling: Sampling = EVERY_ROW
    seed: int = 0

    def but(self, **settings: Any) -> Problem:
        """The same problem under other settings."""
        return replace(self, settings=self.settings._replace(**settings))

    def streams(self, n_trees: int = 1) -> NDArray[np.uint64]:
        return streams(self.seed, 0, n_trees)

    @property
    def growth(self) -> tuple[Any, ...]:
        """What `grow_forest` and `grow_one` take first."""
        data = self.X, self.y, self.weights, self.feature_groups, self.sampling
        return *data, self.settings.settings, self.settings.mixture

    def grow(self, n_trees: int = 1, n_jobs: int = 1) -> Forest:
        return grow_forest(*self.growth, self.streams(n_trees), n_jobs, lambda: None)


def grow_one(
    X: NDArray[np.float32],
    y: NDArray[np.float64],
    weights: NDArray[np.float64],
    feature_groups: FeatureGroups,
    sampling: Sampling,
    settings: KernelParams,
    mixture: Mixture,
    state: NDArray[np.uint64],
    copied: bool,
    codes: RowCodes | None = None,
    splitting: NDArray[np.float64] | None = None,
    pool: ScratchPool | None = None,
    leaf: NDArray[np.int32] | None = None,
) -> Forest:
    """A tree in arrays of its own, or of the pool; `state` is advanced."""
    pool = pool or ScratchPool(feature_groups, settings, mixture)
    builder = TreeBuilder(*read_by_growth(X, feature_groups, mixture), copied, pool)
    targets, resample = Targets(y, weights, splitting), Resample(sampling, codes)
    return builder.tree(targets, resample, state, leaf=leaf)


def exact_rows(n: int) -> int:
    """The number of rows up to which every cut is tried, for n rows all of them.

    The few that are sorted together never need the kernel for more.
    """
    return SORTED_TOGETHER if n <= SORTED_TOGETHER else MANY_ROWS


def cart(
    X: NDArray,
    y: NDArray,
    feature_groups: FeatureGroups,
    weights: NDArray | None = None,
    **settings: Any,
) -> Problem:
    """A problem of single predictors with all cut points, unless `settings` change it."""
    X, y = np.ascontiguousarray(X, dtype=np.float32), np.asarray(y, dtype=float)
    weights = np.ones(len(y)) if weights is None else np.asarray(weights, dtype=float)
    every = CART._replace(n_singles=len(feature_groups.types), exact_rows=exact_rows(len(y)))
    return Problem(X, y, weights, feature_groups, every).but(**settings)


def plain(X: NDArray, y: NDArray, weights: NDArray | None = None, **settings: Any) -> Problem:
    """A problem whose predictors are the rows of X (p, n), one column each."""
    p = len(X)
    feature_groups = FeatureGroups(np.arange(p + 1), np.full(p, PLAIN, dtype=np.int8))
    return cart(X, y, feature_groups, weights, **settings)


def indicators(levels: NDArray[np.int64], n_levels: int) -> NDArray[np.float32]:
    """One 0/1 row per level."""
    return (np.arange(n_levels)[:, None] == levels).astype(np.float32)


def design(kinds: str, n: int, rng: np.random.Generator) -> tuple[NDArray, FeatureGroups]:
    """Predictors on coarse grids: p plain, c constant, f a factor, t of two levels, b a basis."""
    parts, types = [], []
    for kind in kinds:
        steps = rng.choice([2, 3, 6, 1000])
        grid = rng.integers(0, steps, n) / (steps - 1)
        if kind in "ft":
            n_levels = 2 if kind == "t" else rng.choice([2, 3, 4, FEW_LEVELS + 2])
            parts.append(indicators(rng.integers(0, n_levels, n), n_levels))
        elif kind == "b":
            parts.append(np.array([grid, grid**2]))
        else:
            parts.append(grid[None, :] * (kind == "p"))
        types.append({"f": INDICATORS, "t": INDICATORS, "b": BASIS}.get(kind, PLAIN))
    first = np.cumsum([0] + [len(part) for part in parts])
    X = np.concatenate(parts).astype(np.float32)
    return X, feature_groups_of(first, np.array(types, dtype=np.int8))


def response(X: NDArray, n_classes: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """A grid of values, or class codes, that mostly follows an oblique direction of X."""
    signal = rng.normal(size=len(X)) @ X + rng.integers(-3, 4, X.shape[1]) / 6
    if n_classes == 1:
        return np.round(4 * signal) / 4
    share = (np.argsort(np.argsort(signal)) + 0.5) / len(signal)
    return np.where(rng.random(len(signal)) < 0.85, share, 1 - share) * n_classes // 1


def case_weights(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Equal, whole (some of them zero) or any weights."""
    weights = [np.ones(n), rng.integers(0, 4, n) * 1.0, rng.uniform(0.1, 2.0, n)][rng.integers(3)]
    weights[rng.integers(n)] = 1.0
    return weights


def options(P: int, n_classes: int, rng: np.random.Generator) -> Recipe:
    """Settings of all kinds; axis trees are those with no projections."""
    n_projections, n_sparse = int(rng.integers(0, 5)), int(rng.choice([0, 0, 1, 4]))
    families = [LOGISTIC, LEAST_SQUARES, *([LDA] if n_classes > 1 else [])]

    def one_of(*choices: int) -> int:
        return int(rng.choice(choices))

    n_singles = int(rng.integers(0 if n_projections or n_sparse else 1, P + 1))
    return Recipe(
        criterion=one_of(GINI, ENTROPY) if n_classes > 1 else SQUARED_ERROR,
        n_classes=n_classes,
        family=one_of(*families),
        subset_size=int(rng.integers(0, P + 1)),
        density=float(rng.choice([0.1, 0.5, 1.0])),
        n_singles=n_singles,
        n_sparse=n_sparse,
        n_projections=n_projections,
        max_leaves=one_of(2, 5, 9, *[1000] * 5),
        min_leaf=one_of(1, 1, 2, 4),
        max_depth=one_of(1, 3, *[1000] * 4),
        penalty=one_of(*[NO_PENALTY] * 6, AIC, BIC),
        newton_steps=one_of(1, 2, 5),
        direction_rows=one_of(1, 1000),
        n_thresholds=0,
        exact_rows=SORTED_TOGETHER,
        indicator_levels=one_of(TWO_LEVELS, indicator_levels(n_classes)),
    )


@st.composite
def problems(draw: st.DrawFn, max_rows: int = 36) -> Problem:
    """Small data with ties, duplicated rows, constant columns and zero weights, K = 1 … 5."""
    assert max_rows <= SORTED_TOGETHER
    n = draw(st.one_of(st.integers(16, max_rows), st.integers(1, max_rows)))
    kinds = draw(st.sampled_from(["ppp", "pfb", "ppcp", "bff", "pfpp", "pc", "f"]))
    n_classes = draw(st.sampled_from([2, 1, 3, 4, 5]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng([seed, n])
    X, feature_groups = design(kinds, n, rng)
    y = response(X, n_classes, rng)
    if rng.random() < 0.5:
        twice = rng.integers(0, n, n)
        X, y = np.ascontiguousarray(X[:, twice]), y[twice]
    sampling = Sampling(int(rng.integers(3)), float(rng.choice([0.6, 1.0])))
    settings = options(len(feature_groups.types), n_classes, rng)
    return Problem(X, y, case_weights(n, rng), feature_groups, settings, sampling, seed)


def noisy(n: int, **settings: Any) -> Problem:
    """A smooth function of five continuous predictors, with noise."""
    rng = np.random.default_rng(11)
    X = rng.random((5, n))
    return plain(X, X[0] + X[1] * X[2] + rng.normal(size=n) / 4, **settings)


def coded(feature_groups: FeatureGroups, n: int, rng: np.random.Generator) -> EncodedColumns:
    """A matrix of n random rows, with codes for factors of many levels; some rows have no level."""
    numbers, codes, place, level = [], [], [], []
    widths, has_many = np.diff(feature_groups.first), has_levels(feature_groups, FEW_LEVELS)
    n_numbers = int(widths[~has_many].sum())
    for width, many in zip(widths, has_many, strict=True):
        if many:
            place += [n_numbers + len(codes)] * width
            level += range(1, width + 1)
            codes.append(rng.integers(0, width + 1, n))
        else:
            place += range(len(numbers), len(numbers) + width)
            level += [0] * width
            numbers += list(rng.random((width, n)))
    layout = Layout(np.array(place, np.int32), np.array(level, np.int32), n_numbers)
    return EncodedColumns(np.array([*numbers, *codes], dtype=np.float32), layout)
