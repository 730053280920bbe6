"""Sums of lines and splines of single predictors."""

from __future__ import annotations

import numpy as np
import pandas as pd
import patsy
import pytest

import odrf
from odrf.fits.stacked.additive_base import KNOTS, base_of, can_have_base
from odrf.statistics.ridge.ridge_regression import ridge_regression


def table(n=80):
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.uniform(size=n), "b": rng.normal(size=n)})
    data["f"] = rng.choice(["u", "v", "w"], n)
    data["y"] = np.sin(6 * data["a"]) + data["b"] + (data["f"] == "u") + rng.normal(size=n) / 9
    return data


def fit_of(data):
    return odrf.odrf("y ~ a + b + f", data, n_trees=2, blend=False, seed=1).fit


def test_splines_are_those_of_patsy():
    data = table()
    fit = fit_of(data)
    base, left_out = base_of(fit.data, splines=True)
    X = fit.data.X.astype(float)
    columns = [
        np.asarray(patsy.dmatrix(f"cr(x, knots={list(knots[1:-1])}) - 1", {"x": column}))
        if not np.isnan(knots[0])
        else column[:, None]
        for column, knots in zip(X, base.knots, strict=True)
    ]
    assert [c.shape[1] for c in columns] == [KNOTS, KNOTS, 1, 1, 1]
    expected = ridge_regression(np.hstack(columns), fit.data.y, fit.data.weights)
    assert left_out == pytest.approx(expected.left_out, abs=1e-8)
    values = expected.intercept + np.hstack(columns) @ expected.coef
    assert base.values(fit.data.X) == pytest.approx(values, abs=1e-8)


def test_each_column_adds_its_part_and_is_constant_outside_of_its_range():
    data = table()
    fit = fit_of(data)
    for splines in (False, True):
        base, _ = base_of(fit.data, splines)
        added = base.by_column(fit.data.X)
        assert added.shape == (80, 5)
        values = base.values(fit.data.X)
        assert base.intercept + added.sum(axis=1) == pytest.approx(values)
        ends = data.loc[[data["a"].idxmax()] * 2].assign(a=[data["a"].max(), 1e6])
        inside, outside = base.values(fit.design.matrix(ends)[0])
        assert inside == outside


def test_a_smooth_truth_is_followed_and_empty_cells_are_means():
    data = table(200)
    fit = fit_of(data)
    lines, splines = (base_of(fit.data, s)[1] for s in (False, True))
    errors = [np.mean((fit.data.y - left) ** 2) for left in (lines, splines)]
    assert errors[1] < 0.2 * errors[0]
    base, _ = base_of(fit.data, splines=False)
    empty = data[:1].assign(a=np.nan)
    mean = data[:1].assign(a=data["a"].mean())
    found, expected = (base.values(fit.design.matrix(rows)[0]) for rows in (empty, mean))
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_base_of_too_many_columns_is_none():
    assert can_have_base(2000, 100, splines=True)
    assert not can_have_base(10_000, 10_000, splines=False)
    assert can_have_base(1_000_000, 20, splines=True)
