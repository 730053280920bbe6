"""Problems of pixels and series, against their definitions."""

from __future__ import annotations

from collections import Counter
from itertools import product

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import norm

from odrf import InputError, simulate
from reference import simulation as naive


@given(st.integers(2, 6), st.integers(0, 20), st.integers(0, 99))
@settings(deadline=None, max_examples=40)
def test_two_segments_on_a_ring(length, spare, seed):
    problem = simulate.circle(2 * length + 2 + spare, length)
    data = problem.sample(20, seed=seed)
    expected = {"1": [length, length], "2": [length - 1, length + 1]}
    for row, label in zip(data[problem.predictors].to_numpy().tolist(), data["y"], strict=True):
        assert naive.segments(row) == expected[label]


def test_all_places_of_segments_are_alike():
    problem = simulate.circle(p=7, length=2)
    data = problem.sample(7000, seed=1)
    for label, number in (("1", 7), ("2", 14)):
        own = data.loc[data["y"] == label, problem.predictors]
        seen = Counter(map(tuple, own.to_numpy().tolist()))
        assert len(seen) == number
        np.testing.assert_allclose(np.array(list(seen.values())) / len(own), 1 / number, atol=0.03)


def test_truth_of_every_ring():
    problem = simulate.circle(p=9, length=3)
    rings = [list(map(float, ring)) for ring in product((0, 1), repeat=9)]
    truth = problem.truth(pd.DataFrame(rings, columns=problem.predictors))
    for ring, shares in zip(rings, truth, strict=True):
        lengths = naive.segments(ring)
        if lengths in ([3, 3], [2, 4]):
            assert shares.tolist() == [float(lengths == [3, 3]), float(lengths == [2, 4])]
        else:
            assert np.isnan(shares).all()
    half = pd.DataFrame([[0.5] * 9], columns=problem.predictors)
    assert np.isnan(problem.truth(half)).all()


def test_bars_lie_or_stand():
    problem = simulate.bars(size=6, mean=4.0)
    data = problem.sample(500, seed=1)
    truth = problem.truth(data)
    pixels = data[problem.predictors].to_numpy().reshape(-1, 6, 6)
    for image, label, shares in zip(pixels.tolist(), data["y"], truth, strict=True):
        possible = naive.bars(image)
        assert label in possible
        assert shares.tolist() == [
            ("0" in possible) / len(possible),
            ("1" in possible) / len(possible),
        ]


def test_numbers_of_bars_are_those_of_poisson_bars_thrown_on_rows():
    problem = simulate.bars()
    data = problem.sample(1500, seed=2)
    lying = data.loc[data["y"] == "0", problem.predictors].to_numpy().reshape(-1, 28, 28)
    lit = lying[:, :, 0].sum(axis=1)
    rng = np.random.default_rng(3)
    thrown = [len(set(rng.integers(28, size=rng.poisson(10)).tolist())) for _ in range(1500)]
    assert lit.mean() == pytest.approx(np.mean(thrown), abs=0.45)
    assert lit.var() == pytest.approx(np.var(thrown), abs=1.4)
    assert (data["y"] == "0").mean() == pytest.approx(0.5, abs=0.05)


def test_images_without_bars_have_no_truth():
    problem = simulate.bars(size=2, mean=1.0)
    images = [[0, 0, 0, 0], [1, 1, 1, 1], [1, 1, 0, 0], [0, 1, 0, 1], [1, 0, 0, 1], [2, 2, 2, 2]]
    truth = problem.truth(pd.DataFrame(images, columns=problem.predictors))
    nan = np.nan
    expected = [[0.5, 0.5], [0.5, 0.5], [1, 0], [0, 1], [nan, nan], [nan, nan]]
    np.testing.assert_array_equal(truth, expected)


@pytest.mark.parametrize("decay", [1.0, 0.3])
def test_impulse_begins_and_decays(decay):
    problem = simulate.impulse(p=12, start=4, height=3.0, decay=decay)
    data = problem.sample(6000, seed=1)
    added = [0, 0, 0, *(3 * np.exp(-decay * t) for t in range(9))]
    for label, mean in (("0", np.zeros(12)), ("1", added)):
        own = data.loc[data["y"] == label, problem.predictors]
        assert len(own) / 6000 == pytest.approx(0.5, abs=0.03)
        np.testing.assert_allclose(own.mean(), mean, atol=0.09)
        np.testing.assert_allclose(own.std(), 1, atol=0.07)
    few = data.head(40)
    shares = [
        naive.normal_share(row, [0.0] * 12, added)
        for row in few[problem.predictors].to_numpy().tolist()
    ]
    np.testing.assert_allclose(problem.truth(few)[:, 1], shares, rtol=1e-9)
    assert problem.bayes_error == pytest.approx(norm.cdf(-np.linalg.norm(added) / 2))


def test_shapes():
    assert simulate.circle().shape == (1, 100)
    assert simulate.circle().wrap
    assert simulate.impulse().shape == (1, 100)
    assert simulate.impulse().sample(3, seed=1).attrs["shape"] == (1, 100)
    assert "shape" not in simulate.trunk().sample(3, seed=1).attrs
    assert not simulate.impulse().wrap
    assert simulate.bars().shape == (28, 28)
    assert simulate.bars().p == 784


def test_pictures_name_the_classes():
    for problem in (simulate.circle(), simulate.bars(), simulate.impulse()):
        ax = problem.plot()
        labels = [label.get_text() for label in ax.get_yticklabels()]
        assert labels == [f"class {name}" for name in problem.classes]
    assert len(simulate.bars().plot().images) == 8


@pytest.mark.parametrize(
    ("maker", "arguments", "words"),
    [
        ("circle", {"p": 11}, "p=11: use a whole number of at least 12"),
        ("circle", {"length": 1}, "length=1: use a whole number of at least 2"),
        ("bars", {"size": 1}, "size=1: use a whole number of at least 2"),
        ("bars", {"mean": 0}, "mean=0 leaves all images empty: use a number above 0"),
        ("bars", {"mean": -1}, "mean=-1: use a finite number of at least 0"),
        ("impulse", {"start": 101}, "start=101: use .* at most 100, the length of the series"),
        ("impulse", {"height": "high"}, "height='high': use a finite number"),
        ("impulse", {"decay": -1}, "decay=-1: use a finite number"),
    ],
)
def test_arguments_that_make_no_problem(maker, arguments, words):
    with pytest.raises(InputError, match=words):
        getattr(simulate, maker)(**arguments)
