"""Small forests of numbers to draw inference from, of one kind of trees or two."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np
from hypothesis import strategies as st
from numpy.typing import NDArray

from odrf.engine.resamples import ALL_ROWS, BOOTSTRAP, SUBSAMPLE, Batch, Draws, Sampling
from odrf.engine.splits.impurity import SQUARED_ERROR
from odrf.engine.trees.forest import Forest, joined
from odrf.projections.regression import LEAST_SQUARES
from problems import Problem, problems


def all_counts(draws: Draws) -> NDArray[np.int64]:
    """How often each tree drew each row: (B, n)."""
    return np.stack([draws.again(b)[0] for b in range(len(draws.streams))])


@dataclass(frozen=True)
class Grown:
    """A forest, the rows it was grown on, and new ones."""

    problem: Problem
    forest: Forest
    kinds: NDArray[np.int64]
    samplings: list[Sampling]
    streams: NDArray[np.uint64]
    new: NDArray[np.float32]

    def draws(self, n_jobs: int = 1) -> Draws:
        return Draws(self.problem.weights, self.samplings, self.streams, n_jobs)


def of_two_kinds(problem: Problem, samplings: list[Sampling], n_trees: list[int]) -> Grown:
    """Trees of two kinds, the i-th of both with the same stream."""
    own = problem.streams(max(n_trees))
    parts = [
        replace(problem, sampling=sampling).but(min_leaf=g + 1).grow(count)
        for g, (sampling, count) in enumerate(zip(samplings, n_trees, strict=True))
    ]
    trees = [part.tree(i) for part, count in zip(parts, n_trees, strict=True) for i in range(count)]
    rng = np.random.default_rng(problem.seed)
    return Grown(
        problem,
        joined(trees, len(trees)),
        np.repeat([0, 1], n_trees),
        [samplings[0]] * n_trees[0] + [samplings[1]] * n_trees[1],
        np.concatenate([own[: n_trees[0]], own[: n_trees[1]]]),
        rng.choice(problem.X, (3,), axis=1) + rng.random((len(problem.X), 3)).astype("f4") / 9,
    )


@st.composite
def forests(draw: st.DrawFn, resamples: tuple[int, ...] = (ALL_ROWS, BOOTSTRAP, SUBSAMPLE)):
    """Forests on data with ties and weights, some of them zero."""
    problem = draw(problems(max_rows=24))
    problem = problem.but(n_classes=1, criterion=SQUARED_ERROR, family=LEAST_SQUARES)
    resample = draw(st.sampled_from(resamples))
    fractions = (1.0, 0.7) if resample == BOOTSTRAP else (0.5, 0.8)
    n_trees = draw(st.sampled_from([[1, 1], [6, 1], [3, 5], [5, 2]]))
    honest = draw(st.booleans())
    begins = draw(st.sampled_from([[], [], [1 / 2], [1 / 3, 2 / 3]]))
    some = int(np.argmax(problem.weights > 0)) + 1, len(problem.y)
    later = [int(some[0] + part * (some[1] - some[0])) for part in begins]
    samplings = [
        Sampling(resample, part, honest, tuple(Batch(begin, part) for begin in later))
        for part in fractions
    ]
    return of_two_kinds(problem, samplings, n_trees)
