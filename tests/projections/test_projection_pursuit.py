"""The directions of projection pursuit at a node, and forests of them."""

from __future__ import annotations

from itertools import chain

import numpy as np
import pytest

import odrf
import reference.pursuit as twin
from drawing import directions
from odrf.engine.splits.impurity import GINI
from odrf.errors import InputError
from odrf.projections import ProjectionPursuit
from odrf.projections.regression import SMOOTH_ROWS
from problems import noisy


def test_a_direction_is_that_of_the_twin_on_the_rows_of_the_node():
    problem = noisy(120, subset_size=5)
    expected = twin.pursue(problem.X.T.astype(float), problem.y, problem.weights, 2, 24)
    for columns, theta in chain(*directions(ProjectionPursuit(2, 0.4), problem, 3, 2)):
        found = np.zeros(5)
        found[columns] = theta
        np.testing.assert_allclose(found, expected, atol=1e-5)


def test_few_rows_keep_least_squares():
    problem = noisy(SMOOTH_ROWS - 1, subset_size=5)
    expected = twin.pursue(problem.X.T.astype(float), problem.y, problem.weights, 0, 1)
    for columns, theta in chain(*directions(ProjectionPursuit(), problem, 2, 1)):
        np.testing.assert_allclose(theta, expected[columns], atol=1e-5)


def test_subsets_have_directions_of_length_1():
    problem = noisy(100, criterion=GINI, n_classes=3)
    problem.y[:] = np.digitize(problem.y, [0.6, 0.9])
    drawn = list(chain(*directions(ProjectionPursuit(), problem, 20, 10)))
    assert {len(columns) for columns, _ in drawn} == {1, 2, 3, 4, 5}
    for columns, theta in drawn:
        assert len(set(columns.tolist())) == len(columns)
        assert np.linalg.norm(theta) == pytest.approx(1, abs=1e-6)


def test_it_finds_what_is_not_monotone():
    problem = odrf.simulate.single_index()
    data, test = problem.sample(300, seed=1), problem.sample(1000, seed=2)
    errors = {}
    for name in ("ppr", "logistic"):
        fit = odrf.odrf("y ~ .", data, projection=name, n_trees=30, blend=False, seed=1)
        errors[name] = np.mean((fit.predict(test) - test["y"]) ** 2)
    assert errors["ppr"] < 0.8 * errors["logistic"]


def test_it_blends_and_takes_classes_and_factors():
    data = odrf.load_data("wine")
    data["grade"] = np.where(data["alcohol"] > 13, "high", "low")
    data["grade"] = data["grade"].astype("category")
    options = {"projection": "ppr", "n_trees": 100, "seed": 1}
    fit = odrf.odrf("cultivar ~ .", data, n_jobs=2, **options)
    assert fit.oob_error < 0.05
    names = {name: control.mixture.name for name, control in fit.fit.kinds.items()}
    assert names.pop("sparse") == "sparse + ppr"
    assert set(names.values()) == {"ppr"}
    again = odrf.odrf("cultivar ~ .", data, n_jobs=1, **options)
    assert again.forest.coef.tobytes() == fit.forest.coef.tobytes()


@pytest.mark.parametrize("steps", [0, 1.5, "few", True])
def test_no_other_number_of_steps(steps):
    with pytest.raises(InputError, match=r"steps=.*: use"):
        ProjectionPursuit(steps=steps)


@pytest.mark.parametrize("span", [0, 1.5, "all", True])
def test_no_other_span(span):
    with pytest.raises(InputError, match=r"span=.*: use a number above 0, up to 1"):
        ProjectionPursuit(span=span)
