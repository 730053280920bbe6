"""Partial dependence: by predict, by scikit-learn, with its intervals."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=["x", "z", "u"])
    data["f"] = rng.choice(["high", "low", "mid"], 150)
    data["y"] = data["x"] ** 2 + (data["f"] == "low") + rng.normal(size=150) / 3
    data["c"] = np.where(data["y"] > 1, "over", "below")
    return data


@pytest.fixture(scope="module")
def forest(data):
    return odrf.odrf("y ~ x + z + u + f", data, n_trees=60, seed=1)


@pytest.fixture(scope="module")
def classes(data):
    return odrf.odrf("c ~ x + z + u + f", data, n_trees=60, seed=1)


def test_a_curve_is_the_weighted_mean_of_predictions(data):
    weights = np.random.default_rng(1).integers(1, 4, len(data))
    fit = odrf.odrf("y ~ x + z + f", data, weights=weights, n_trees=9, seed=1)
    table = fit.partial("x", values=[0.5, -1.0]).table
    assert table["value"].tolist() == [-1.0, 0.5]
    for value, estimate in zip(table["value"], table["estimate"], strict=True):
        predicted = fit.predict(data.assign(x=value))
        assert estimate == pytest.approx(np.average(predicted, weights=weights))
    half = data[:50]
    over_new = fit.partial("f", newdata=half).table.set_index("value")["estimate"]
    assert over_new["low"] == pytest.approx(fit.predict(half.assign(f="low")).mean())


def test_a_surface_is_the_mean_of_predictions(forest, data):
    table = forest.partial(["f", "x"], values={"x": [0.0, 1.0]}).table
    assert len(table) == 6
    for row in table.itertuples():
        assert row.estimate == pytest.approx(forest.predict(data.assign(f=row.f, x=row.x)).mean())


def test_probabilities_that_no_tree_gives_are_0():
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(160, 3)), columns=list("abc"))
    data["k"] = pd.cut(data["a"], 8, labels=list("stuvwxyz")).astype(str)
    forest = odrf.odrf("k ~ a + b + c", data, n_trees=10, blend=False, projection="axis", seed=1)
    table = forest.partial("a").table
    assert table["estimate"].between(0, 1).all()
    small = table[["estimate", "std_error"]].stack()
    small = small[small < 1e-12]
    assert len(small) > 0 and (small == 0).all()
    curves = forest.ice("a", rows=20)
    assert curves.table["estimate"].between(0, 1).all()


def test_as_scikit_learn_computes_it(data):
    inspection = pytest.importorskip("sklearn.inspection")
    fit = odrf.odrf("y ~ x + z + u", data, n_trees=20, seed=1)
    found = inspection.partial_dependence(
        fit.to_sklearn(), data[["x", "z", "u"]], ["x"], grid_resolution=12, method="brute"
    )
    curve = fit.partial("x", values=found["grid_values"][0])
    np.testing.assert_allclose(curve.table["estimate"], found["average"][0])


def test_intervals_are_those_of_the_single_functional(forest, classes):
    for fit in (forest, classes):
        table = fit.partial("x", points=15).table
        alone = fit.partial("x", values=[table["value"][7]]).table
        at = table[table["value"] == table["value"][7]]
        np.testing.assert_allclose(at["std_error"], alone["std_error"], rtol=1e-8)
        assert (table["band_low"] <= table["conf_low"]).all()
        assert (table["band_high"] >= table["conf_high"]).all()
        assert table["std_error"].gt(0).all()
    assert table["band_low"].min() >= 0 and table["band_high"].max() <= 1
    assert np.allclose(table.groupby("value")["estimate"].sum(), 1)


def test_slopes_are_differences_of_the_curve(forest):
    curve = forest.partial("x", points=20)
    slopes = curve.slopes(width=0.2).table
    at, estimate = curve.table["value"], curve.table["estimate"]
    expected = (estimate[12] - estimate[8]) / (at[12] - at[8])
    assert slopes["estimate"][10] == pytest.approx(expected)
    narrow = forest.partial("x", values=[at[8], at[12]]).slopes().table
    assert narrow["std_error"][0] == pytest.approx(slopes["std_error"][10], rel=0.2)
    with pytest.raises(InputError, match="'f' is a factor"):
        forest.partial("f").slopes()


def test_slopes_whose_variance_is_beyond_the_largest_number(data):
    tiny = data.assign(x=data["x"] * 1e-300)
    curve = odrf.odrf("y ~ x + f", tiny, n_trees=40, inference=True, seed=1).partial("x", points=4)
    assert curve.table["std_error"].gt(0).all()
    slopes = curve.slopes()
    assert np.isfinite(slopes.table["estimate"]).all() and slopes.table["std_error"].isna().all()
    assert "beyond the largest number" in str(slopes.summary())
    slopes.plot()


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odbt, odrf.graf])
def test_fits_without_errors_say_why(data, fit):
    curve = fit("y ~ x + f", data, seed=1).partial("x", points=4)
    assert curve.table["std_error"].isna().all()
    assert "No standard errors" in str(curve.summary())
    curve.plot()


def test_what_cannot_be_asked(forest, classes, data):
    for asked, message in {
        "w": "no predictor is computed from 'w'",
        ("x", "x"): "two different variables",
        ("x", "z", "u"): "the name of a variable, or a list of two",
        7: "the name of a variable",
    }.items():
        with pytest.raises(InputError, match=message):
            forest.partial(asked)
    with pytest.raises(InputError, match="finite number or more"):
        forest.partial("x", values=["a"])
    with pytest.raises(InputError, match="values= names 'u'"):
        forest.partial("x", values={"u": [1.0]})
    with pytest.raises(InputError, match="points"):
        forest.partial("x", points=1)
    with pytest.raises(InputError, match="level"):
        forest.partial("x", level=1.0)
    with pytest.raises(InputError, match="dates or times"):
        days = data.assign(day=pd.date_range("2024-01-01", periods=len(data)))
        odrf.odt("y ~ day.dt.day_of_year", days, seed=1).partial("day")
    with pytest.raises(InputError, match="use some of 'below', 'over'"):
        classes.partial("x", points=3).plot(classes=["beyond"])
    with pytest.raises(InputError, match="the response is a number"):
        forest.partial("x", points=3).plot(classes=["over"])


def test_points_are_values_that_the_variable_can_have(data):
    rng = np.random.default_rng(0)
    data = data.assign(k=rng.integers(0, 400, len(data)), b=rng.random(len(data)) > 0.5)
    fit = odrf.odrf("y ~ k + b + x", data, n_trees=5, seed=1)
    whole = fit.partial("k", points=30).table["value"]
    assert len(whole) == 30 and whole.dtype.kind == "i"
    assert fit.partial("b").table["value"].tolist() == [False, True]
    low, high = data["x"].quantile([0.01, 0.99])
    assert fit.partial("x").table["value"].between(low - 1e-6, high + 1e-6).all()
    assert fit.partial("x").table["rows"].sum() == len(data)


def test_regions_without_rows_are_hatched(data):
    apart = data.assign(x=np.where(data["x"] > 0, data["x"] + 5, data["x"] - 5))
    fit = odrf.odrf("y ~ x + z", apart, n_trees=5, seed=1)
    drawn = fit.partial("x").plot()
    assert [patch.get_hatch() for patch in drawn.patches] == ["///"]
    low, high = drawn.patches[0].get_extents().transformed(drawn.transData.inverted()).intervalx
    assert low == pytest.approx(apart["x"][apart["x"] < 0].max(), abs=1e-3)
    assert high == pytest.approx(apart["x"][apart["x"] > 0].min(), abs=1e-3)
    even = data.assign(z=np.linspace(0, 1, len(data)))
    assert not odrf.odrf("y ~ x + z", even, n_trees=5, seed=1).partial("z").plot().patches


@pytest.mark.parametrize("variables", ["a", ["a", "b"]])
def test_a_summary_without_standard_errors_has_no_empty_columns(
    number_tree, number_forest, variables
):
    bare, full = (str(fit.partial(variables).summary()) for fit in (number_tree, number_forest))
    for words in ("std_error", "conf_low", "Level"):
        assert words in full and words not in bare


def test_variables_named_like_columns_of_the_table_are_beside_them(data, classes):
    named = data.rename(columns={"f": "class", "x": "rows"})
    fit = odrf.odrf("c ~ rows + z + u + class", named, n_trees=60, seed=1)
    found = fit.partial(["rows", "class"], points=3).table
    expected = classes.partial(["x", "f"], points=3).table
    assert list(found.columns[:4]) == ["rows_", "class_", "class", "estimate"]
    assert found.set_axis(expected.columns, axis=1).equals(expected)
