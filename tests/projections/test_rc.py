"""The sampler of Breiman's Forest-RC."""

from __future__ import annotations

from collections import Counter
from itertools import chain, combinations

import numpy as np
import pytest
from scipy.stats import chisquare, kstest

import odrf
from drawing import directions
from odrf.errors import InputError
from odrf.projections import RandomCombination
from problems import noisy


def test_columns_are_equally_likely_and_weights_uniform_before_scaling():
    drawn = list(chain(*directions(RandomCombination(size=2), noisy(30), 3, 2_000)))
    pairs = Counter(tuple(sorted(columns.tolist())) for columns, _ in drawn)
    assert sorted(pairs) == list(combinations(range(5), 2))
    assert chisquare(list(pairs.values())).pvalue > 0.001
    theta = np.array([theta for _, theta in drawn])
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1, rtol=1e-6)
    # of two weights uniform on [-1, 1], the smaller is a uniform share of the larger
    size = np.sort(np.abs(theta), axis=1)
    assert kstest(size[:, 0] / size[:, 1], "uniform").pvalue > 0.001
    assert chisquare([np.sum(theta > 0), np.sum(theta < 0)]).pvalue > 0.001


def test_fewer_columns_than_l_all_take_part():
    for columns, _ in chain(*directions(RandomCombination(size=9), noisy(30), 2, 10)):
        assert sorted(columns) == [0, 1, 2, 3, 4]


def test_with_single_columns_it_is_the_ordinary_forest_but_for_repeated_draws():
    data = odrf.simulate.trunk().sample(300, seed=1)
    test = odrf.simulate.trunk().sample(2000, seed=2)
    errors = {}
    for name, options in {
        "rc": {"projection": RandomCombination(size=1), "n_projections": 4, "criterion": "gini"},
        "axis": {"projection": "axis"},
    }.items():
        fit = odrf.odrf("y ~ .", data, n_trees=200, seed=1, **options)
        errors[name] = np.mean(fit.predict(test).astype(str) != test["y"].astype(str))
    assert abs(errors["rc"] - errors["axis"]) < 0.02


@pytest.mark.parametrize("size", [0, 1.5, "few", True])
def test_no_other_size(size):
    with pytest.raises(InputError, match=r"size=.*: use"):
        RandomCombination(size=size)
