"""Small problems for the tests of guided growth."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.directions.candidates import INDICATORS, PLAIN, FeatureGroups
from odrf.engine.guided.device import Device
from odrf.engine.guided.forest import GuidedForest
from odrf.engine.guided.growth import grow_guided
from odrf.engine.kernel_params import GuidedKernelParams
from odrf.engine.numeric import streams
from odrf.simulate.problem import Problem
from problems import design, response


@dataclass(frozen=True)
class GuidedProblem:
    """Everything that guided trees grow from."""

    X: NDArray[np.float32]
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    feature_groups: FeatureGroups
    settings: GuidedKernelParams
    seed: int = 0

    def grow(
        self, n_trees: int = 1, n_jobs: int = 1, device: Device | None = None, **settings: Any
    ) -> GuidedForest:
        return grow_guided(
            self.X, self.y, self.weights, self.feature_groups, self.settings._replace(**settings),
            streams(self.seed, 0, n_trees), n_jobs, lambda: None, device,
        )  # fmt: skip


def exact_weights(n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    """Equal, whole or other weights, some of them zero, whose sums float64 does not round."""
    weights = [np.ones(n), rng.integers(0, 4, n) * 1.0, rng.integers(0, 25, n) / 8]
    found = weights[rng.integers(3)]
    found[rng.integers(n)] = 1.0
    return found


def with_empty_cells(
    X: NDArray[np.float32], feature_groups: FeatureGroups, rng: np.random.Generator
) -> tuple[NDArray[np.float32], FeatureGroups]:
    """Empty some cells of some predictors that are no factors, and add the columns that tell."""
    holes = (feature_groups.types != INDICATORS) & (rng.random(len(feature_groups.types)) < 0.6)
    columns = []
    for j, hole in enumerate(holes):
        own = X[feature_groups.first[j] : feature_groups.first[j + 1]]
        empty = hole & (rng.random(X.shape[1]) < 0.3)
        columns += [np.where(empty, np.float32(0), own), [empty.astype(np.float32)][: int(hole)]]
    widths = np.diff(feature_groups.first) + holes
    together = np.concatenate([part for part in columns if len(part)])
    return together, FeatureGroups(np.cumsum([0, *widths]), feature_groups.types, holes)


@st.composite
def guided_problems(draw: st.DrawFn, max_rows: int = 50) -> GuidedProblem:
    """Ties, constant columns, factors, missing values and zero weights, K = 1 … 5.

    Rows may be there more than once, or differ by so little that a plane may not tell them apart.
    The mean of a numeric response is 0: so its moments too add up without rounding, in any order.
    """
    n = draw(st.one_of(st.integers(16, max_rows), st.integers(1, max_rows)))
    kinds = draw(st.sampled_from(["pp", "pppp", "pfb", "ppcp", "bff", "pfpp", "pc", "f", "c"]))
    n_classes = draw(st.sampled_from([2, 1, 3, 4, 5]))
    seed = draw(st.integers(0, 2**32 - 1))
    rng = np.random.default_rng([seed, n])
    X, feature_groups = design(kinds, n, rng)
    y, weights = response(X, n_classes, rng), exact_weights(n, rng)
    if rng.random() < 0.5:
        twice = rng.integers(0, n, n)
        X, y = np.ascontiguousarray(X[:, twice]), y[twice]
        if rng.random() < 0.5:
            X[0, rng.random(n) < 0.5] += np.float32(2**-23)
    if n_classes == 1:
        y[np.flatnonzero(weights == 1.0)[0]] -= weights @ y
    if rng.random() < 0.4:
        X, feature_groups = with_empty_cells(X, feature_groups, rng)
    settings = GuidedKernelParams(
        n_classes=n_classes,
        subspace=int(rng.integers(1, len(kinds) + 1)),
        trials=int(rng.choice([1, 2, 5])),
        min_split=int(rng.integers(2, 7)),
        from_region=bool(rng.integers(2)),
        batched=False,
    )
    return GuidedProblem(X, y, weights, feature_groups, settings, seed)


CLASSES = GuidedKernelParams(2, 2, trials=2, min_split=2, from_region=False, batched=False)
NUMBERS = CLASSES._replace(n_classes=1)


def of_rows(
    X: Any,
    y: Any,
    options: GuidedKernelParams = CLASSES,
    weights: NDArray | None = None,
    seed: int = 0,
) -> GuidedProblem:
    """A problem whose predictors are the rows of X (p, n), one column each."""
    X = np.asarray(X, dtype=np.float32)
    feature_groups = FeatureGroups(np.arange(len(X) + 1), np.full(len(X), PLAIN, dtype=np.int8))
    weights = np.ones(len(y)) if weights is None else weights
    return GuidedProblem(X, np.asarray(y, dtype=float), weights, feature_groups, options, seed)


def sampled(problem: Problem, n: int, seed: int, **options: Any) -> GuidedProblem:
    """Rows of a simulated problem, and all of its predictors in each tree."""
    data = problem.sample(n, seed=seed)
    X = data.drop(columns="y").to_numpy().T
    X = (X - X.min(axis=1, keepdims=True)) / np.ptp(X, axis=1, keepdims=True)
    y = data["y"] if problem.classes is None else data["y"].cat.codes
    K = 1 if problem.classes is None else len(problem.classes)
    settings = CLASSES._replace(n_classes=K, subspace=len(X), trials=len(X), **options)
    return of_rows(X, y, settings, seed=seed)
