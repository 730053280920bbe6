"""Quantile regression forests against exact sums of Meinshausen's weights."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, settings

from odrf.engine import memory
from odrf.engine.resamples import BOOTSTRAP, SUBSAMPLE, Draws
from odrf.engine.trees.quantiles import leaf_members
from odrf.engine.trees.routing import leaf_nodes, predict
from odrf.statistics.conformal import conditional_quantiles
from problems import noisy
from reference import inference as twin
from resampled import forests

LEVELS = ["0.5", "0.05", "0.9", "0.1", "0.25"]


@settings(max_examples=60, deadline=None)
@given(forests())
def test_quantiles_are_those_of_the_twin(grown):
    problem = grown.problem
    levels = np.array(LEVELS, dtype=float)
    found = conditional_quantiles(
        grown.forest, grown.new, levels, problem.X, problem.y, grown.draws()
    )
    again = conditional_quantiles(
        grown.forest, grown.new, levels, problem.X, problem.y, grown.draws(3)
    )
    assert found.tolist() == again.tolist()
    counts = twin.fillings(*grown.draws()[:3])
    trees = list(range(grown.forest.n_trees))
    for x, ends in zip(grown.new.T, found, strict=True):
        weights = twin.row_weights(grown.forest, counts, problem.X, problem.weights, x, trees)
        assert sum(weights) == 1
        exact = [twin.quantile(problem.y, weights, Fraction(level)) for level in LEVELS]
        assert ends.tolist() == exact


@settings(max_examples=40, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_some_of_the_trees_give_the_quantiles_of_the_twin(grown):
    problem, draws = grown.problem, grown.draws()
    unseen = draws.all_unseen()
    found = conditional_quantiles(
        grown.forest, problem.X, np.array(LEVELS, dtype=float), problem.X, problem.y, draws, unseen
    )
    counts = twin.fillings(*draws[:3])
    for x, trees, ends in zip(problem.X.T, unseen.T, found, strict=True):
        if not trees.any():
            assert np.isnan(ends).all()
            continue
        by = np.flatnonzero(trees).tolist()
        weights = twin.row_weights(grown.forest, counts, problem.X, problem.weights, x, by)
        exact = [twin.quantile(problem.y, weights, Fraction(level)) for level in LEVELS]
        assert ends.tolist() == exact


@settings(max_examples=30, deadline=None)
@given(forests())
def test_the_mean_of_the_distribution_is_the_prediction(grown):
    problem, forest = grown.problem, grown.forest
    members = leaf_members(forest, problem.X, grown.draws())
    leaves = leaf_nodes(forest, grown.new, 1)
    for i, expected in enumerate(predict(forest, grown.new, 1)[:, 0]):
        entries = [slice(members.start[leaf], members.end[leaf]) for leaf in leaves[i]]
        means = [
            np.average(problem.y[members.row[rows]], weights=members.weight[rows])
            for rows in entries
        ]
        assert np.mean(means) == pytest.approx(expected, rel=1e-6, abs=1e-6)


def test_it_is_refused_where_the_rows_of_all_leaves_do_not_fit(monkeypatch):
    problem = noisy(n=60)
    draws = Draws(problem.weights, [problem.sampling] * 2, problem.streams(2), 1)
    forest = problem.grow(2)
    monkeypatch.setattr(memory, "SMALL", 0)
    monkeypatch.setattr(memory, "available_memory", lambda: 2 * 60 * 12 - 1.0)
    with pytest.raises(MemoryError, match="which of 60 rows are in which leaf of 2 trees"):
        leaf_members(forest, problem.X, draws)
