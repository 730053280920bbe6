"""Regression functions, against their definitions."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from scipy.stats import kstest

from odrf import InputError, simulate
from reference import simulation as naive

RIDGES = simulate.ridge_sum(p=3, ridges=7)
DIRECTIONS = RIDGES.noiseless_truth.keywords["directions"]
CASES = [
    (simulate.additive(), naive.additive, (0, 1)),
    (simulate.single_index(), partial(naive.single_index, relevant=5), (-1, 1)),
    (simulate.single_index(p=3, relevant=1), partial(naive.single_index, relevant=1), (-1, 1)),
    (RIDGES, partial(naive.ridge_sum, directions=DIRECTIONS), (-1, 1)),
    (simulate.radial(), partial(naive.radial, relevant=2), (-1, 1)),
    (simulate.radial(p=4, relevant=4), partial(naive.radial, relevant=4), (-1, 1)),
    (simulate.jump(), partial(naive.jump, relevant=2), (-1, 1)),
    (simulate.jump(p=3, relevant=3), partial(naive.jump, relevant=3), (-1, 1)),
    (simulate.friedman1(), naive.friedman1, (0, 1)),
    (simulate.friedman2(), naive.friedman2, None),
    (simulate.friedman3(), naive.friedman3, None),
]


@pytest.mark.parametrize(("problem", "function", "ends"), CASES)
def test_functions_row_by_row(problem, function, ends):
    data = problem.sample(200, seed=1)
    expected = [function(row) for row in data[problem.predictors].to_numpy().tolist()]
    np.testing.assert_allclose(problem.truth(data), expected, rtol=1e-12, atol=1e-12)
    lows, highs = (
        ([0, 40 * np.pi, 0, 1], [100, 560 * np.pi, 1, 11])
        if ends is None
        else ([end] * problem.p for end in ends)
    )
    for name, low, high in zip(problem.predictors, lows, highs, strict=True):
        assert kstest(data[name], "uniform", args=(low, high - low)).pvalue > 1e-4


@pytest.mark.parametrize(("problem", "_function", "_ends"), CASES)
def test_irrelevant_predictors_do_not_matter_and_relevant_ones_do(problem, _function, _ends):
    data, other = problem.sample(300, seed=1), problem.sample(300, seed=2)
    for j, name in enumerate(problem.predictors):
        moved = problem.truth(data.assign(**{name: other[name]}))
        assert (moved == problem.truth(data)).all() == (j >= problem.relevant)


@pytest.mark.parametrize(("problem", "_function", "_ends"), CASES)
def test_noise_leaves_most_to_be_learnt(problem, _function, _ends):
    data = problem.sample(4000, seed=1)
    assert 0.02 < problem.bayes_error / data["y"].var() < 0.35


def test_directions_have_length_one_and_belong_to_the_problem():
    np.testing.assert_allclose(np.linalg.norm(DIRECTIONS, axis=1), 1)
    one, same, other = (simulate.ridge_sum(layout=layout).sample(9, seed=1) for layout in (3, 3, 4))
    pd.testing.assert_frame_equal(one, same)
    assert not one.equals(other)


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("additive", {"p": 3}, "p=3: use a whole number of at least 4"),
        ("friedman1", {"p": 4}, "p=4: use a whole number of at least 5"),
        ("single_index", {"relevant": 11}, "relevant=11: use .* at most 10, all predictors"),
        ("radial", {"relevant": 0}, "relevant=0: use a whole number of at least 1"),
        ("ridge_sum", {"ridges": 0}, "ridges=0: use a whole number of at least 1"),
        ("jump", {"p": 1}, "p=1: use a whole number of at least 2"),
        ("jump", {"noise": -1}, "noise=-1: use a finite number of at least 0"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
