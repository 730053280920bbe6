"""Problems with classes, against their definitions."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest, norm

from odrf import InputError, simulate
from reference import simulation as naive


def rows_of(problem, n, seed=1):
    """Rows as lists, and their labels."""
    data = problem.sample(n, seed=seed)
    return data[problem.predictors].to_numpy().tolist(), data["y"].tolist()


@given(st.integers(2, 9), st.data())
@settings(deadline=None, max_examples=30)
def test_parity_of_the_relevant(p, data):
    relevant = data.draw(st.integers(1, p))
    problem = simulate.sparse_parity(p, relevant)
    rows, labels = rows_of(problem, 20, data.draw(st.integers(0, 99)))
    assert labels == [naive.parity(row, relevant) for row in rows]


@given(st.integers(2, 6), st.integers(0, 99))
@settings(deadline=None, max_examples=20)
def test_orthants_are_numbered(p, seed):
    rows, labels = rows_of(simulate.orthant(p), 20, seed)
    assert labels == [naive.orthant(row) for row in rows]


@pytest.mark.parametrize("problem", [simulate.sparse_parity(), simulate.orthant(p=3)])
def test_cubes_are_uniform_and_classes_alike(problem):
    data = problem.sample(8000, seed=3)
    for name in problem.predictors[:3]:
        assert kstest(data[name], "uniform", args=(-1, 2)).pvalue > 0.001
    shares = data["y"].value_counts(normalize=True)
    np.testing.assert_allclose(shares, 1 / len(problem.classes), atol=0.02)


def test_trunk_has_normal_classes():
    problem = simulate.trunk(p=4)
    data = problem.sample(20_000, seed=4)
    mean = 1 / np.sqrt([1, 2, 3, 4])
    for label, sign in (("0", -1), ("1", 1)):
        own = data.loc[data["y"] == label, problem.predictors]
        assert len(own) / 20_000 == pytest.approx(0.5, abs=0.015)
        np.testing.assert_allclose(own.mean(), sign * mean, atol=0.05)
        np.testing.assert_allclose(own.cov(), np.eye(4), atol=0.06)
        assert kstest(own["x1"] - sign, norm.cdf).pvalue > 0.001
    few = data.head(50)
    shares = [
        naive.normal_share(row, (-mean).tolist(), mean.tolist())
        for row in few[problem.predictors].to_numpy().tolist()
    ]
    np.testing.assert_allclose(problem.truth(few)[:, 1], shares, rtol=1e-9)


def test_error_of_trunk_falls_as_predictors_come():
    harmonic = sum(1 / j for j in range(1, 11))
    assert simulate.trunk().bayes_error == pytest.approx(norm.cdf(-np.sqrt(harmonic)))
    errors = [simulate.trunk(p).bayes_error for p in (2, 10, 100, 1000)]
    assert errors == sorted(errors, reverse=True)


@pytest.mark.parametrize("stripes", [None, 2, 7])
def test_stripes_and_the_board(stripes):
    problem = simulate.biau(stripes)
    rows, labels = rows_of(problem, 2000)
    assert labels == [naive.biau(row, stripes) for row in rows]
    squares = np.floor(np.array(rows))
    assert (squares[:, 0] == squares[:, 1]).all()
    np.testing.assert_allclose(np.bincount(squares[:, 0].astype(int)) / 2000, 1 / 3, atol=0.05)
    for axis in (0, 1):
        within = np.array(rows)[:, axis] % 1
        assert kstest(within, "uniform").pvalue > 0.001


@given(st.floats(-1, 4), st.floats(-1, 4))
@settings(deadline=None)
def test_no_truth_beside_the_squares(x1, x2):
    shares = simulate.biau().truth(pd.DataFrame({"x1": [x1], "x2": [x2]}))[0]
    label = naive.biau([x1, x2], None)
    if label is None:
        assert np.isnan(shares).all()
    else:
        assert shares[int(label)] == 1


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("sparse_parity", {"p": 1}, "p=1: use a whole number of at least 2"),
        ("sparse_parity", {"p": 4, "relevant": 5}, "relevant=5: use .* at most 4, all predictors"),
        ("sparse_parity", {"relevant": 0}, "relevant=0: use a whole number of at least 1"),
        ("sparse_parity", {"noise": 0.5}, "noise=0.5: use a number from 0 to below 0.5"),
        ("orthant", {"p": 13}, "p=13: use a whole number of at most 12, which makes 4096"),
        ("trunk", {"p": 2.5}, "p=2.5: use a whole number"),
        ("biau", {"stripes": 1}, "stripes=1: use a whole number of at least 2"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
