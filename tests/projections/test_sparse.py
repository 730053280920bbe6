"""The sampler of sparse directions: SPORF's matrices."""

from __future__ import annotations

import math
import re
from collections import Counter
from itertools import chain, combinations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import beta, chisquare, hypergeom, kstest

import odrf
from drawing import directions
from odrf.engine.compiling import kernel
from odrf.engine.numeric import streams
from odrf.errors import InputError
from odrf.projections import RandomCombination, Sphere
from odrf.projections.sparse import Sparse, _sparse_direction, draw_nonzeros
from problems import noisy


@kernel
def sparse_direction(state, order, nonzeros, j, columns, theta):
    _sparse_direction(state, order, nonzeros[j], columns, theta, 0)
    return nonzeros[j]


def sparse_matrices(p, d, density, n_draws):
    """Draw the sparse directions of nodes, as SPORF's matrices (n_draws, p, d)."""
    state, order, nonzeros = streams(9, 0, 1)[0], np.arange(p), np.empty(d, dtype=np.int64)
    columns, theta = np.empty((1, p), dtype=np.int64), np.empty((1, p), dtype=np.float32)
    drawn = np.zeros((n_draws, p, d))
    for i in range(n_draws):
        draw_nonzeros(state, p, density, nonzeros)
        for j, number in enumerate(nonzeros):
            q = sparse_direction(state, order, nonzeros, j, columns, theta)
            assert len(set(columns[0, :q])) == q == number
            drawn[i, columns[0, :q], j] = theta[0, :q]
    assert sorted(order) == list(range(p))
    return drawn


@pytest.mark.parametrize("density", [0.05, 0.3, 0.5, 0.6, 0.9])
def test_the_nonzeros_of_a_column_are_hypergeometric_and_their_total_is_fixed(density):
    p, d, n_draws = 6, 5, 4_000
    counts = np.count_nonzero(sparse_matrices(p, d, density, n_draws), axis=1)
    number = math.ceil(density * p * d - 1e-9)
    assert (counts.sum(axis=1) == number).all()
    for column in counts.T:
        chances = hypergeom.pmf(np.arange(p + 1), p * d, number, p)
        common = n_draws * chances > 5
        observed = np.bincount(column, minlength=p + 1)
        observed = [*observed[common], 1 + observed[~common].sum()]
        expected = [*n_draws * chances[common], 1 + n_draws * chances[~common].sum()]
        assert chisquare(observed, expected).pvalue > 0.001


@pytest.mark.parametrize("density", [0.2, 0.8])
def test_every_cell_is_as_likely_and_signs_are_fair_and_length_is_1(density):
    drawn = sparse_matrices(5, 4, density, 6_000)
    for sign in [1, -1]:
        assert chisquare(np.sum(np.sign(drawn) == sign, axis=0).ravel()).pvalue > 0.001
    assert chisquare([np.sum(drawn > 0), np.sum(drawn < 0)]).pvalue > 0.001
    lengths = np.linalg.norm(drawn, axis=1)
    np.testing.assert_allclose(lengths[lengths > 0], 1, rtol=1e-6)
    signs = np.sign(drawn).reshape(len(drawn), -1)
    pairs = signs.T @ signs
    assert np.abs(pairs[np.triu_indices(20, 1)]).max() < 4.5 * np.sqrt(6_000 * density**2)


@pytest.mark.parametrize(("p", "density", "nonzeros"), [(4, 1.0, 4), (3, 0.01, 0)])
def test_the_densest_and_the_sparsest_matrix(p, density, nonzeros):
    counts = np.count_nonzero(sparse_matrices(p, 2, density, 20), axis=1)
    assert (np.sort(counts, axis=1)[:, 0] == nonzeros).all()


def test_three_nonzeros_a_direction_but_no_more_than_half():
    assert Sparse().share(12) == 3 / 12
    assert Sparse().share(2) == 0.5
    assert Sparse(density=0.1).share(2) == 0.1


@pytest.mark.parametrize("density", [0, 1.5, "few", True, None])
def test_no_other_density(density):
    with pytest.raises(InputError, match=r"density=.*: use"):
        Sparse(density=density)


@pytest.mark.parametrize(
    ("p", "d", "density"), [(4, 3, 1.0), (4, 3, 0.8), (4, 3, 0.75), (4, 1, 0.25), (4, 1, 0.3)]
)
def test_single_columns_are_drawn_where_it_is_said(p, d, density):
    drawn, state = set(), streams(1, 0, 1)[0]
    nonzeros = np.empty(d, dtype=np.int64)
    for _ in range(3000):
        draw_nonzeros(state, p, density, nonzeros)
        drawn.update(nonzeros.tolist())
    assert Sparse(density).single_columns(d, p, "random") == (1 in drawn)


@pytest.mark.parametrize("function", [odrf.odrf, odrf.odbt])
def test_a_factor_of_many_levels_counts_as_one_column(function):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"y": rng.normal(size=200), "a": rng.random(200), "b": rng.random(200)})
    data["f"] = [f"l{k}" for k in rng.integers(0, 60, 200)]
    fit = function("y ~ .", data, projection="sparse", n_trees=2, seed=1)
    summary = str(fit.summary())
    assert re.search(r"Tried per node +0 single, 3 oblique", summary)


# ------------------------------------------------------------------------------------------------
# The sampler of Breiman's Forest-RC.
# ------------------------------------------------------------------------------------------------


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


# ------------------------------------------------------------------------------------------------
# The sampler of directions uniform on the sphere.
# ------------------------------------------------------------------------------------------------


def test_directions_are_uniform_on_the_sphere():
    drawn = list(chain(*directions(Sphere(), noisy(30), 4, 1_000)))
    theta = np.array([theta for columns, theta in drawn if columns.tolist() == [0, 1, 2, 3, 4]])
    assert len(theta) == len(drawn) == 4_000
    np.testing.assert_allclose(np.linalg.norm(theta, axis=1), 1, rtol=1e-6)
    # a squared coordinate of a uniform direction in p dimensions is beta(1/2, (p - 1)/2)
    for coordinate in theta.T:
        assert kstest(coordinate**2, beta(0.5, 2).cdf).pvalue > 0.001
    # and so is that of any rotated direction
    rotated = theta @ np.ones(5) / np.sqrt(5)
    assert kstest(rotated**2, beta(0.5, 2).cdf).pvalue > 0.001
    assert abs(np.mean(theta > 0) - 0.5) < 0.02
