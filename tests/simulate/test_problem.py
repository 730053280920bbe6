"""What all simulated problems have in common."""

from __future__ import annotations

import pickle
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.stats import kstest

import odrf
from odrf import InputError, simulate
from odrf.simulate import survival
from reference import simulation as naive

MAKERS = [
    name
    for name in simulate.__all__
    if name not in ("Problem", "SurvivalProblem") and not hasattr(survival, name)
]
SMALL = {"circle": {"p": 14}, "bars": {"size": 5, "mean": 3.0}, "impulse": {"p": 25}}
CLASSES = [
    "bars", "biau", "checkerboard", "circle", "hypercube", "impulse", "orthant", "pie",
    "random_rbf", "rings", "sparse_parity", "trunk",
]  # fmt: skip


def made(name, **arguments):
    return getattr(simulate, name)(**(SMALL.get(name, {}) | arguments))


@pytest.mark.parametrize("name", MAKERS)
def test_samples_are_frames_of_predictors_and_response(name):
    problem = made(name)
    data = problem.sample(50, seed=1)
    assert list(data.columns) == [f"x{j + 1}" for j in range(problem.p)] + ["y"]
    assert len(data) == 50
    assert (data[problem.predictors].dtypes == np.float64).all()
    assert np.isfinite(data[problem.predictors].to_numpy()).all()
    assert 1 <= problem.relevant <= problem.p
    truth = problem.truth(data)
    if problem.classes is None:
        assert problem.kind == "regression"
        assert data["y"].dtype == np.float64
        assert truth.shape == (50,)
    else:
        assert problem.kind == "classification"
        assert tuple(data["y"].cat.categories) == problem.classes
        assert all(isinstance(label, str) for label in problem.classes)
        assert truth.shape == (50, len(problem.classes))
        assert (truth >= 0).all()
        np.testing.assert_allclose(truth.sum(axis=1), 1)
        assert (truth[np.arange(50), data["y"].cat.codes] > 0).all()


@pytest.mark.parametrize("name", MAKERS)
def test_a_seed_gives_the_same_rows_also_after_pickling(name):
    problem = made(name)
    data = problem.sample(30, seed=5)
    again = pickle.loads(pickle.dumps(made(name))).sample(30, seed=5)
    pd.testing.assert_frame_equal(data, again)
    assert not data.equals(problem.sample(30, seed=6))


def test_all_kinds_of_seeds():
    problem = simulate.trunk()
    for seed in (np.random.SeedSequence(3), 3):
        pd.testing.assert_frame_equal(problem.sample(9, seed=seed), problem.sample(9, seed=seed))
    rng = np.random.default_rng(3)
    assert not problem.sample(9, seed=rng).equals(problem.sample(9, seed=rng))
    assert not problem.sample(9).equals(problem.sample(9))


@pytest.mark.parametrize("name", CLASSES)
def test_the_bayes_rule_errs_as_often_as_it_says(name):
    problem = made(name, noise=0.1)
    data = problem.sample(20_000, seed=2)
    wrong = problem.truth(data).argmax(axis=1) != data["y"].cat.codes
    # four standard errors, and what the estimated error may be off
    assert wrong.mean() == pytest.approx(problem.bayes_error, abs=4 * 0.5 / 141 + 0.002)
    assert problem.bayes_error >= 0.1


@pytest.mark.parametrize("name", sorted(set(MAKERS) - set(CLASSES)))
def test_the_noise_of_regressions_is_normal_with_its_variance(name):
    problem = made(name)
    data = problem.sample(20_000, seed=2)
    noise = (data["y"] - problem.truth(data)) / problem.noise
    assert problem.bayes_error == problem.noise**2
    assert noise.mean() == pytest.approx(0, abs=0.03)
    assert noise.var() == pytest.approx(1, abs=0.05)
    assert (noise.abs() < 1.96).mean() == pytest.approx(0.95, abs=0.01)
    assert abs(np.corrcoef(noise, problem.truth(data))[0, 1]) < 0.03
    without = made(name, noise=0)
    quiet = without.sample(100, seed=2)
    np.testing.assert_array_equal(quiet["y"], without.truth(quiet))
    assert without.bayes_error == 0


@given(st.floats(0, 0.49), st.sampled_from(["trunk", "orthant", "biau", "impulse"]))
@settings(deadline=None, max_examples=20)
def test_noise_moves_truth_and_error_together(noise, name):
    plain, noisy = made(name), made(name, noise=noise)
    data = plain.sample(200, seed=4)
    truth, K = plain.truth(data), len(plain.classes)
    moved = noisy.truth(data)
    np.testing.assert_allclose(moved.sum(axis=1), 1)
    np.testing.assert_allclose(moved, truth * (1 - noise) + (1 - truth) * noise / (K - 1))
    least = plain.bayes_error
    kept, came = (1 - least) * (1 - noise), least * noise / (K - 1)
    assert noisy.bayes_error == pytest.approx(1 - kept - came)


def test_exchanged_labels_are_any_of_the_others():
    problem = simulate.orthant(p=2, noise=0.3)
    data = problem.sample(20_000, seed=3)
    right = (data["x1"] > 0) + 2 * (data["x2"] > 0)
    off = (data["y"].cat.codes - right) % 4
    np.testing.assert_allclose(np.bincount(off) / 20_000, [0.7, 0.1, 0.1, 0.1], atol=0.015)


def test_truth_needs_the_predictors_only():
    problem = simulate.jump(p=3)
    data = problem.sample(10, seed=1)
    turned = data[["y", "x3", "x1", "x2"]].assign(other="text")
    np.testing.assert_array_equal(problem.truth(turned), problem.truth(data))
    np.testing.assert_array_equal(problem.truth(data[["x1", "x2", "x3"]]), problem.truth(data))


def test_data_that_the_truth_cannot_be_told_of():
    problem = simulate.jump(p=3)
    data = problem.sample(10, seed=1)
    with pytest.raises(InputError, match="no column 'x2': jump needs the columns x1 to x3"):
        problem.truth(data.drop(columns="x2"))
    with pytest.raises(InputError, match="'x1' has missing values: fill them in"):
        problem.truth(data.assign(x1=np.nan))
    with pytest.raises(InputError, match=r"column 'x1' holds (object|str): use numbers"):
        problem.truth(data.assign(x1="a"))
    with pytest.raises(InputError, match=r"must be a data frame, not numpy\.ndarray"):
        problem.truth(data.to_numpy())
    with pytest.raises(InputError, match="more than one column named 'x1': rename or drop"):
        problem.truth(data[["x1", "x1", "x2", "x3"]])


@pytest.mark.parametrize("n", [0, 2.0, True, "10"])
def test_numbers_of_rows_that_there_cannot_be(n):
    with pytest.raises(InputError, match=r"n=.*: use a whole number of at least 1"):
        simulate.biau().sample(n)


def test_bad_seed():
    with pytest.raises(InputError, match="seed='a'"):
        simulate.biau().sample(3, seed="a")


@pytest.mark.parametrize("name", MAKERS)
def test_bad_noise(name):
    for noise in (-0.1, "loud", True, np.inf, np.nan):
        with pytest.raises(InputError, match=r"noise=.*: use a "):
            made(name, noise=noise)


def test_problems_are_frozen_and_tell_what_they_are():
    problem = simulate.orthant(p=3)
    assert repr(problem) == "<Problem orthant: 3 predictors, 3 relevant; 8 classes>"
    with pytest.raises(AttributeError):
        problem.noise = 0.5


@pytest.mark.parametrize("name", MAKERS)
def test_pictures(name):
    _, given_axes = plt.subplots()
    ax = made(name).plot(ax=given_axes)
    assert ax is given_axes
    assert ax.get_title()
    ax.figure.canvas.draw()


def test_pictures_say_where_the_other_predictors_stand():
    assert simulate.sparse_parity().plot().get_title().endswith("x3 = … = x20 = −0.5")
    assert simulate.friedman1(p=5).plot().get_title() == "friedman1, x3 = … = x5 = 0.5"
    assert simulate.trunk(p=4).plot().get_title() == "Trunk, x3 = x4 = 0"
    assert "middle of their ranges" in simulate.friedman2().plot().get_title()
    assert simulate.friedman2().plot().get_xlabel() == "x2"


def test_pictures_in_two_dimensions_have_the_colours_of_the_classes():
    ax = simulate.sparse_parity(p=2, relevant=2).plot()
    (image,) = ax.images
    pixels = image.get_array()
    low, high = pixels[10, 10], pixels[10, -10]
    np.testing.assert_array_equal(pixels[-10, -10], low)
    np.testing.assert_array_equal(pixels[-10, 10], high)
    assert (low != high).any()
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["0", "1"]
    assert len(ax.collections[0].get_offsets()) == 400
    blank = simulate.biau().plot().images[0].get_array()
    np.testing.assert_array_equal(blank[-10, 10], [1, 1, 1])


def test_forests_grow_on_samples_with_classes_of_which_there_are_no_rows():
    data = simulate.orthant(p=5).sample(60, seed=1)
    assert data["y"].nunique() < 32
    fit = odrf.odrf("y ~ .", data, n_trees=5, seed=1)
    assert (fit.predict(data).astype(str) == data["y"].astype(str)).mean() > 0.5


# ------------------------------------------------------------------------------------------------
# Regression functions, against their definitions.
# ------------------------------------------------------------------------------------------------


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
