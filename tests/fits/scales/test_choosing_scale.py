"""Choosing the scale of the splits by out-of-bag errors of pilot trees."""

from __future__ import annotations

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.engine.growth.forest_builder import grow_forest
from odrf.engine.numeric import streams
from odrf.engine.resamples import Draws
from odrf.engine.trees.routing import predict
from odrf.fits import growing
from odrf.fits.growing import chosen_scale, scale_errors
from odrf.options.criteria import SPLIT_SCALES

NAMES = ["response", "log", "ranks"]


def table(n, seed=0):
    """Rows of a response that predictors multiply, in groups of three, with weights."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(rng.normal(size=(n, 4)), columns=list("abcd"))
    frame["y"] = np.exp((frame["a"] + frame["b"] + rng.normal(size=n)) / 2)
    return frame.assign(g=np.arange(n) // 3, w=rng.integers(0, 3, n))


def parts(fit):
    return fit.fit.design, fit.fit.data, fit.control


def squared_error_of_many_trees(errors, unseen, weights, units):
    """The mean product of errors of different trees, and by unit its numerator and denominator."""
    products, pairs = np.zeros(units.max() + 1), np.zeros(units.max() + 1)
    for i in range(len(errors)):
        for a, b in permutations(np.flatnonzero(unseen[i]), 2):
            products[units[i]] += weights[i] * errors[i, a] * errors[i, b]
            pairs[units[i]] += weights[i]
    return products.sum() / pairs.sum(), products, pairs


@pytest.mark.parametrize("options", [{}, {"weights": "w"}, {"groups": "g"}])
def test_errors_are_mean_products_of_the_errors_of_different_trees(options, monkeypatch):
    monkeypatch.setattr(growing, "PILOTS", 5)
    frame = table(60)
    fit = odrf.odrf("y ~ a + b + c", frame, n_trees=2, min_leaf=3, seed=1, **options)
    design, data, control = parts(fit)
    found = scale_errors(design, data, control, NAMES)
    sampling = control.sampling._replace(resample=2, fraction=0.5)
    unseen = Draws(data.weights, [sampling] * 5, streams(0, 0, 5), 1, data.codes).all_unseen().T
    units = np.arange(60) if "groups" not in options else data.codes.groups
    expected = []
    for name in NAMES:
        forest = grow_forest(
            data.X, data.y, data.weights, design.feature_groups, sampling,
            control.settings._replace(split_scale=SPLIT_SCALES[name]), control.mixture,
            streams(0, 0, 5), 1, lambda: None, data.codes,
        )  # fmt: skip
        predicted = [predict(forest.tree(b), data.X, 1)[:, 0] for b in range(5)]
        errors = np.array(predicted).T - data.y[:, None]
        expected.append(squared_error_of_many_trees(errors, unseen, data.weights, units))
    errors = [error for error, _, _ in expected]
    np.testing.assert_allclose(found.errors, errors, rtol=1e-10)
    assert found.standard_errors[0] == 0
    (first, at_first, pairs), *others = expected
    for (error, products, _), standard_error in zip(others, found.standard_errors[1:], strict=True):
        rest = products - at_first - (error - first) * pairs
        assert standard_error == pytest.approx(np.sqrt((rest**2).sum()) / pairs.sum())


def test_the_logarithm_is_chosen_where_predictors_multiply():
    fit = odrf.odrf("y ~ a + b + c + d", table(600), n_trees=2, seed=1)
    name, errors = chosen_scale(*parts(fit))
    assert name != "response"
    assert errors[name] == min(errors.values()) < 0.95 * errors["response"]
    assert set(errors) == {"response", "log", "normal"}


def test_scales_alike_are_not_compared():
    frame = table(300)
    frame["y"] = frame["a"] + np.random.default_rng(1).random(300)
    fit = odrf.odrf("y ~ a + b", frame, n_trees=2, seed=1)
    assert "normal" not in chosen_scale(*parts(fit))[1]
    frame["y"] = 100 + (frame["a"] > 0)
    fit = odrf.odrf("y ~ a + b", frame, kind="regression", n_trees=2, seed=1)
    assert chosen_scale(*parts(fit)) == ("response", {})


def test_neither_the_seed_nor_the_threads_nor_the_number_of_trees_change_the_choice():
    frame = table(90)
    found = [
        scale_errors(*parts(odrf.odrf("y ~ a + b", frame, **options)), NAMES)
        for options in (
            {"n_trees": 2, "seed": 1, "n_jobs": 1}, {"n_trees": 5, "seed": 2, "n_jobs": 3},
        )
    ]  # fmt: skip
    for one, other in zip(*found, strict=True):
        assert one.tobytes() == other.tobytes()


def test_where_no_row_is_out_of_bag_the_response_stays(monkeypatch):
    monkeypatch.setattr(growing, "PILOTS", 1)
    fit = odrf.odrf("y ~ a + b", table(40), n_trees=2, seed=1)
    name, errors = chosen_scale(*parts(fit))
    assert name == "response"
    assert set(errors.values()) == {0.0}


@pytest.mark.parametrize("largest", [1e60, 1e-50])
def test_extreme_responses_are_compared(largest):
    frame = table(60)
    frame["y"] *= largest / frame["y"].max()
    fit = odrf.odrf("y ~ a + b", frame, n_trees=2, seed=1)
    name, _ = chosen_scale(*parts(fit))
    assert name in SPLIT_SCALES
