"""Sums of lines and splines of single predictors."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import patsy
import pytest

import odrf
from odrf.fits.stack.smoothers import KNOTS, base_of, can_have_base
from odrf.statistics.ridge import ridge_regression


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


def test_a_column_with_one_empty_cell_counts_below_its_mean_too():
    data = table(200)
    holed = data.assign(a=data["a"].where(data.index > 0), b=data["b"].where(data.index > 0))
    full, fit = fit_of(data), fit_of(holed)
    for splines in (False, True):
        of_full, of_holed = (base_of(each.data, splines)[1][1:] for each in (full, fit))
        assert of_holed == pytest.approx(of_full, abs=0.05)
        base, _ = base_of(fit.data, splines)
        for at, far in ((holed["a"].min(), -1e6), (holed["a"].max(), 1e6)):
            rows = data.loc[[5, 5, 5]].assign(a=[at, far, holed["a"].mean()])
            inside, outside, middle = base.values(fit.design.matrix(rows)[0])
            assert inside == pytest.approx(outside, abs=1e-12)
            assert abs(inside - middle) > 0.01


def test_a_base_of_an_earlier_version_has_no_ends():
    fit = fit_of(table())
    base, _ = base_of(fit.data, splines=False)
    assert base.ends.tolist() == [[0.0, 1.0]] * 5
    values = replace(base, ends=None).values(fit.data.X)
    np.testing.assert_array_equal(values, base.values(fit.data.X))


def test_a_base_of_too_many_columns_is_none():
    assert can_have_base(2000, 100, splines=True)
    assert not can_have_base(10_000, 10_000, splines=False)
    assert can_have_base(1_000_000, 20, splines=True)
