"""The sampler of sparse directions: SPORF's matrices."""

from __future__ import annotations

import math
import re

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare, hypergeom

import odrf
from odrf.engine.compiling import kernel
from odrf.engine.numeric import streams
from odrf.errors import InputError
from odrf.projections.sparse import Sparse, _sparse_direction, draw_nonzeros


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
