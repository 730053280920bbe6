"""The infinitesimal jackknife against its formulas, and where the truth is known."""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.rows.draws import Draws
from odrf.engine.rows.sampling import BOOTSTRAP, SUBSAMPLE, Sampling
from odrf.statistics.jackknife import (
    Variance,
    enough_trees,
    infinitesimal_jackknife,
    tells_rows_apart,
)
from problems import noisy
from reference import inference as twin
from resampled import forests


@settings(max_examples=50, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)))
def test_variances_are_those_of_the_formulas(grown):
    assume(tells_rows_apart(grown.draws()))
    found = infinitesimal_jackknife(grown.forest, grown.new, grown.kinds, grown.draws())
    counts = twin.draws(*grown.draws()[:3])[:, grown.problem.weights > 0]
    ends = [batch.begin for batch in grown.samplings[0].later] + [len(grown.problem.weights)]
    ends = [0, *(int((grown.problem.weights[:end] > 0).sum()) for end in ends)]
    rows = [slice(*pair) for pair in pairwise(ends)]
    for j, x in enumerate(grown.new.T):
        raw, bias = twin.variance(
            grown.forest, grown.kinds.tolist(), counts, grown.samplings, grown.streams, x, rows
        )
        assert found.raw[j] == pytest.approx(raw, rel=1e-9, abs=1e-12)
        assert found.bias[j] == pytest.approx(bias, rel=1e-9, abs=1e-12)


@pytest.mark.parametrize("sampling", [Sampling(BOOTSTRAP, 1.0), Sampling(SUBSAMPLE, 0.6)])
def test_trees_that_are_means_have_the_variance_of_the_mean(sampling):
    problem = replace(noisy(n=100, max_leaves=1), sampling=sampling)
    B = 3000
    found = infinitesimal_jackknife(
        problem.grow(B), problem.X[:, :2], np.zeros(B, dtype=np.int64),
        Draws(problem.weights, [sampling] * B, problem.streams(B), 1),
    )  # fmt: skip
    assert found.corrected == pytest.approx(np.var(problem.y, ddof=1) / 100, rel=0.1)


@settings(max_examples=15, deadline=None)
@given(forests((BOOTSTRAP, SUBSAMPLE)), st.sampled_from([2, 3]))
def test_threads_change_nothing(grown, n_jobs):
    assume(tells_rows_apart(grown.draws()))
    given = (grown.forest, np.tile(grown.new, 700), grown.kinds)
    one, more = (infinitesimal_jackknife(*given, grown.draws(jobs)) for jobs in (1, n_jobs))
    assert one.raw.tolist() == more.raw.tolist()
    assert one.bias.tolist() == more.bias.tolist()


def test_more_trees_where_the_monte_carlo_bias_is_large():
    few = Variance(np.full(3, 11.0), np.full(3, 10.0))
    assert enough_trees(few, 100, 200) == 300
    assert enough_trees(few, 100, 20_000) == 200
    none = Variance(np.full(3, 10.0), np.full(3, 10.0))
    assert enough_trees(none, 100, 5000) == 5000
