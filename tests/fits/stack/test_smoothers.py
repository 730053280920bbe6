"""Kernel smoothers of the rows of a design."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import patsy
import pytest

import odrf
from odrf.engine.factors import EncodedColumns, indicated
from odrf.fits.stack import smoothers
from odrf.fits.stack.smoothers import (
    FEWEST_ROWS,
    KNOTS,
    FoldImportance,
    base_of,
    can_have_base,
    kernel_smoothers_of,
)
from odrf.statistics.ridge import (
    Choice,
    along,
    kernel_ridge,
    kernel_values,
    oblique_kernel_ridge,
    ridge_regression,
    usual_distance,
)

FOLDS = 5


def table(n=90):
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.uniform(5, 6, n), "b": rng.normal(size=n), "one": 1.0})
    data["f"] = rng.choice(["u", "v", "w"], n)
    data["y"] = np.sin(6 * data["a"]) * data["b"] + (data["f"] == "u") + rng.normal(size=n) / 9
    data["c"] = np.where(data["y"] > 0, "over", "below")
    return data


def fit_of(formula, data, **options):
    return odrf.odrf(formula, data, n_trees=2, blend=False, seed=1, **options).fit


def smoother_of(fit, seed=1):
    return smoothers_of(fit, seed)[0]


def smoothers_of(fit, seed=1):
    lengths = lengths_of(len(fit.design.columns))
    return kernel_smoothers_of(fit.design, fit.data, seed, FoldImportance(folds_of(fit), lengths))


def folds_of(fit):
    return np.arange(len(fit.data.y)) % FOLDS


def lengths_of(p):
    """The importance of the first column differs from fold to fold, and is 1 of the others."""
    lengths = np.ones((FOLDS + 1, p))
    lengths[:, 0] = 1 + np.arange(FOLDS + 1)
    return lengths


def plain_points(data):
    """Numbers in standard deviations; the columns of a factor have variance 1 together."""
    columns = [(data[name] - data[name].mean()) / data[name].std(ddof=0) for name in "ab"]
    levels = pd.get_dummies(data["f"]).astype(float)
    unit = np.sqrt(levels.var(ddof=0).sum())
    return np.column_stack([*columns, (levels - levels.mean()) / unit])


@pytest.mark.parametrize("response", ["y", "c"])
def test_it_is_a_kernel_ridge_regression_on_columns_in_units(response):
    data = table()
    fit = fit_of(f"{response} ~ a + b + f + one", data)
    found = smoother_of(fit)
    order = np.random.default_rng(1).permutation(90)
    Y = data[["y"]].to_numpy() if response == "y" else pd.get_dummies(data["c"]).to_numpy(float)
    points = plain_points(data)
    ridge, left_out = kernel_ridge(points[order], Y[order], np.ones(90))
    np.testing.assert_allclose(found.left_out[order], left_out, rtol=1e-3, atol=1e-4)
    expected = kernel_values(ridge, points[order], points)
    np.testing.assert_allclose(found.values(fit.data.X), expected, rtol=1e-3, atol=1e-4)


def test_cells_are_means_where_empty_and_ends_beyond():
    data = table()
    fit = fit_of("y ~ a + b", data)
    found = smoother_of(fit)

    def predicted(**cells):
        return found.values(fit.design.matrix(data[:1].assign(**cells))[0])[0, 0]

    assert predicted(a=np.nan) == pytest.approx(predicted(a=data["a"].mean()), rel=1e-4)
    assert predicted(a=1e9) == predicted(a=data["a"].max())
    assert predicted(b=-1e9) == predicted(b=data["b"].min())


def test_columns_with_one_empty_cell_count_below_their_means_too():
    data = table()
    holed = data.assign(a=data["a"].where(data.index > 0), b=data["b"].where(data.index > 0))
    fit = fit_of("y ~ a + b", holed)
    of_full, of_holed = (smoother_of(each) for each in (fit_of("y ~ a + b", data), fit))
    off, more_off = (
        np.mean((data["y"] - found.left_out[:, 0])[1:] ** 2) for found in (of_full, of_holed)
    )
    assert more_off < 1.2 * off

    def predicted(**cells):
        return of_holed.values(fit.design.matrix(data[:1].assign(**cells))[0])[0, 0]

    for at, far in ((holed["b"].min(), -1e9), (holed["b"].max(), 1e9)):
        assert predicted(b=far) == pytest.approx(predicted(b=at), rel=1e-9)
    assert predicted(b=holed["b"].min()) != pytest.approx(predicted(b=holed["b"].mean()))


def test_rows_beyond_the_most_are_predicted_by_the_others(monkeypatch):
    monkeypatch.setattr(smoothers, "MOST_ROWS", 40)
    fit = fit_of("y ~ a + b + f", table())
    found, oblique = smoothers_of(fit)
    drawn = np.random.default_rng(1).permutation(90)[:40]
    others = np.setdiff1d(np.arange(90), drawn)
    for one in (found, oblique):
        values = one.values(fit.data.X)
        np.testing.assert_array_equal(one.left_out[others], values[others])
        assert (one.left_out[drawn] != values[drawn]).all()
        assert len(one.points) == 40
    monkeypatch.setattr(smoothers, "MOST_PRODUCTS", 500)
    assert len(smoother_of(fit).points) == 10


def test_rows_without_weight_have_no_part():
    data = table()
    weights = np.where(np.arange(90) < 60, 1.0, 0.0)
    changed = data.assign(y=data["y"].where(weights > 0, 1e3))
    one, other = (
        smoother_of(fit_of("y ~ a + b", rows, weights=weights)) for rows in (data, changed)
    )
    assert np.isnan(one.left_out).sum() == 0
    np.testing.assert_array_equal(one.ridge.coef, other.ridge.coef)
    few = fit_of("y ~ a + b", data, weights=np.where(np.arange(90) < FEWEST_ROWS - 1, 1.0, 0.0))
    assert smoothers_of(few) == ()


@pytest.mark.parametrize("response", ["y", "c"])
def test_an_oblique_one_is_a_regression_on_directions(response):
    data = table()
    fit = fit_of(f"{response} ~ a + b + f + one", data)
    plain, oblique = smoothers_of(fit)
    order = np.random.default_rng(1).permutation(90)
    Y = data[["y"]].to_numpy() if response == "y" else pd.get_dummies(data["c"]).to_numpy(float)
    points = plain_points(data)
    width = plain.ridge.width / usual_distance(points[order])
    first = Choice(plain.ridge.kernel, width, plain.ridge.penalty)
    lengths = lengths_of(points.shape[1])
    how = np.ones(90), first, folds_of(fit)[order], lengths
    found = oblique_kernel_ridge(points[order], Y[order], *how)
    np.testing.assert_allclose(oblique.left_out[order], found.left_out, rtol=2e-3, atol=1e-3)
    z = along(points[order], found.directions)
    expected = kernel_values(found.ridge, z, along(points, found.directions))
    np.testing.assert_allclose(oblique.values(fit.data.X), expected, rtol=2e-3, atol=1e-3)


def test_without_folds_there_is_no_oblique_one():
    fit = fit_of("y ~ a + b", table())
    (plain,) = kernel_smoothers_of(fit.design, fit.data, 1, None)
    np.testing.assert_array_equal(plain.left_out, smoother_of(fit).left_out)


def test_of_a_factor_of_many_levels_only_few_rows_have_indicators_at_a_time(monkeypatch):
    rng = np.random.default_rng(3)
    data = pd.DataFrame({"a": rng.normal(size=900), "f": rng.integers(0, 300, 900).astype(str)})
    data["y"] = data["a"] + data["f"].str.len() + rng.normal(size=900) / 9
    fit = fit_of("y ~ a + f", data)
    assert isinstance(fit.data.X, EncodedColumns)
    monkeypatch.setattr(smoothers, "MOST_ROWS", 100)
    expanded = replace(fit, training=replace(fit.data, X=indicated(fit.data.X)))
    at_once = smoothers_of(expanded)
    monkeypatch.setattr(smoothers, "BLOCK", 128)
    seen = []
    monkeypatch.setattr(smoothers, "indicated", lambda X: seen.append(X.shape[1]) or indicated(X))
    for found, other in zip(smoothers_of(fit), at_once, strict=True):
        np.testing.assert_array_equal(found.left_out, other.left_out)
        np.testing.assert_array_equal(found.values(fit.data.X), other.values(expanded.data.X))
    assert max(seen) == 128


# ------------------------------------------------------------------------------------------------
# Sums of lines and splines of single predictors.
# ------------------------------------------------------------------------------------------------


def table_of_additive_base(n=80):
    rng = np.random.default_rng(2)
    data = pd.DataFrame({"a": rng.uniform(size=n), "b": rng.normal(size=n)})
    data["f"] = rng.choice(["u", "v", "w"], n)
    data["y"] = np.sin(6 * data["a"]) + data["b"] + (data["f"] == "u") + rng.normal(size=n) / 9
    return data


def fit_of_of_additive_base(data):
    return odrf.odrf("y ~ a + b + f", data, n_trees=2, blend=False, seed=1).fit


def test_splines_are_those_of_patsy():
    data = table_of_additive_base()
    fit = fit_of_of_additive_base(data)
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
    data = table_of_additive_base()
    fit = fit_of_of_additive_base(data)
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
    data = table_of_additive_base(200)
    fit = fit_of_of_additive_base(data)
    lines, splines = (base_of(fit.data, s)[1] for s in (False, True))
    errors = [np.mean((fit.data.y - left) ** 2) for left in (lines, splines)]
    assert errors[1] < 0.2 * errors[0]
    base, _ = base_of(fit.data, splines=False)
    empty = data[:1].assign(a=np.nan)
    mean = data[:1].assign(a=data["a"].mean())
    found, expected = (base.values(fit.design.matrix(rows)[0]) for rows in (empty, mean))
    assert found == pytest.approx(expected, rel=1e-5)


def test_a_column_with_one_empty_cell_counts_below_its_mean_too():
    data = table_of_additive_base(200)
    holed = data.assign(a=data["a"].where(data.index > 0), b=data["b"].where(data.index > 0))
    full, fit = fit_of_of_additive_base(data), fit_of_of_additive_base(holed)
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
    fit = fit_of_of_additive_base(table_of_additive_base())
    base, _ = base_of(fit.data, splines=False)
    assert base.ends.tolist() == [[0.0, 1.0]] * 5
    values = replace(base, ends=None).values(fit.data.X)
    np.testing.assert_array_equal(values, base.values(fit.data.X))


def test_a_base_of_too_many_columns_is_none():
    assert can_have_base(2000, 100, splines=True)
    assert not can_have_base(10_000, 10_000, splines=False)
    assert can_have_base(1_000_000, 20, splines=True)
