"""The matrices of rotation forests: principal components of random groups of columns."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pytest
from scipy.stats import chisquare

import odrf
from odrf.engine.numeric import streams
from odrf.engine.rows import gather_rows
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import PrincipalComponents
from problems import noisy, plain


def matrices(family, problem, number, copied=True):
    state, n = streams(3, 0, 1)[0], len(problem.y)
    data = problem.X, problem.y, problem.weights
    rows = gather_rows(state, *data, np.ones(n, dtype=np.int64), copied)
    return [family.rotation(state, rows, problem.settings.settings) for _ in range(number)]


def groups_of(matrix):
    """The columns that each column of the matrix is made of."""
    return {frozenset(np.flatnonzero(column).tolist()) for column in matrix.T}


def test_columns_are_divided_at_random_and_rotated_within_their_groups():
    drawn = matrices(PrincipalComponents(size=2), noisy(60), 1_500)
    for matrix in drawn:
        np.testing.assert_allclose(matrix.T @ matrix, np.eye(5), atol=1e-6)
        assert sorted(map(len, groups_of(matrix))) == [1, 2, 2]
    pairs = Counter(group for matrix in drawn for group in groups_of(matrix) if len(group) == 2)
    assert len(pairs) == 10
    assert chisquare(list(pairs.values())).pvalue > 0.001


def test_the_axes_are_the_principal_components_of_the_rows_drawn():
    rng = np.random.default_rng(4)
    scores = rng.normal(size=(3, 5_000)) * [[3.0], [1.0], [0.3]]
    axes = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    problem = plain(axes @ scores, scores[0])
    for copied in (True, False):
        for matrix in matrices(PrincipalComponents(), problem, 5, copied):
            found = np.sort(np.abs(axes.T @ matrix).max(axis=0))
            assert found[0] > 0.995


def test_different_rows_are_drawn_each_time_and_weights_count():
    problem = noisy(60)
    drawn = matrices(PrincipalComponents(size=5), problem, 20)
    assert len({matrix.tobytes() for matrix in drawn}) == 20
    rng = np.random.default_rng(4)
    X = rng.normal(size=(2, 1_000))
    X[:, :500] = [[3.0], [3.0]] * X[0, :500]
    heavy = plain(X, X[0], np.repeat([1e6, 1.0], 500))
    light = plain(X, X[0], np.repeat([1e-6, 1.0], 500))
    for problem, expected in ((heavy, 0.999), (light, None)):
        (matrix,) = matrices(PrincipalComponents(), problem, 1)
        along = np.abs([1, 1] @ matrix).max() / np.sqrt(2)
        assert along > expected if expected else along < 0.99


def test_the_rows_are_those_of_a_random_set_of_classes():
    # each class varies along another column
    y = np.repeat([0.0, 1.0], 200)
    X = np.zeros((2, 400))
    X[0, :200] = X[1, 200:] = np.random.default_rng(1).random(200)
    X[1, :200] = X[0, :200] / 2
    problem = plain(X, y, criterion=GINI, n_classes=2)
    slopes = []
    for matrix in matrices(PrincipalComponents(), problem, 300):
        first = matrix[:, np.argmax(np.abs(matrix[0]))]
        slopes.append(round(float(first[1] / first[0]), 3))
    first_only = np.isclose(slopes, 0.5, atol=2e-3)
    other = np.isclose(slopes, 0.0, atol=2e-3)
    assert chisquare([first_only.sum(), other.sum(), (~first_only & ~other).sum()]).pvalue > 0.001


def test_it_tries_all_columns_and_repeats_itself():
    data = odrf.load_data("wine")
    fits = [
        odrf.odrf("cultivar ~ .", data, projection="pca", n_trees=30, seed=1, n_jobs=jobs)
        for jobs in (1, 2)
    ]
    assert fits[0].forest.coef.tobytes() == fits[1].forest.coef.tobytes()
    assert fits[0].oob_error < 0.06
    assert "0 single, 13 oblique" in str(fits[0].summary())
    assert np.diff(fits[0].forest.start).max() == 3


@pytest.mark.parametrize("size", [0, 1.5, "few", True])
def test_no_other_size(size):
    with pytest.raises(InputError, match=r"size=.*: use"):
        PrincipalComponents(size=size)


@pytest.mark.parametrize("rows", [0, 1.5, "all", True])
def test_no_other_share_of_the_rows(rows):
    with pytest.raises(InputError, match=r"rows=.*: use a number above 0, up to 1"):
        PrincipalComponents(rows=rows)
