"""Partial dependence: by predict, by scikit-learn, with its intervals."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots
from odrf import InputError
from odrf.reports.checks import PredictiveCheck
from reference.ale import ale, ale_of_two


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


# ------------------------------------------------------------------------------------------------
# Accumulated local effects, beside loops over rows with predict.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data_of_accumulated_effects():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "u"])
    data["z"] = data["x"] + rng.normal(size=120)
    data["k"] = rng.integers(0, 4, 120)
    data["f"] = rng.choice(["high", "low", "mid"], 120)
    data["y"] = data["x"] * data["z"] + (data["f"] == "low") + rng.normal(size=120) / 3
    data["c"] = np.where(data["y"] > 1, "over", "below")
    return data


@pytest.fixture(scope="module")
def forest_of_accumulated_effects(data_of_accumulated_effects):
    with with_few_pilots():
        return odrf.odrf(
            "y ~ x + x:z + z + u + k + f", data_of_accumulated_effects, n_trees=20, seed=1
        )


def by_number(fit):
    return lambda rows: fit.predict(rows).to_numpy()


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("grow", [odrf.odrf, odrf.odt, odrf.odbt, odrf.graf])
def test_effects_of_a_number_are_those_of_loops(grow, data_of_accumulated_effects):
    few = {} if grow is odrf.odt else {"n_trees": 8}
    fit = grow("c ~ x + z + u", data_of_accumulated_effects, seed=1, **few)
    table = fit.ale("x", points=6, newdata=data_of_accumulated_effects).table
    over = table[table["class"] == "over"]
    expected = ale(
        lambda rows: fit.predict(rows, "prob")["over"].to_numpy(),
        data_of_accumulated_effects,
        "x",
        over["value"].tolist(),
    )
    np.testing.assert_allclose(over["estimate"], expected, atol=1e-12)


@pytest.mark.usefixtures("few_pilots")
def test_products_and_whole_numbers(forest_of_accumulated_effects, data_of_accumulated_effects):
    for name in ("x", "k"):
        table = forest_of_accumulated_effects.ale(
            name, points=5, newdata=data_of_accumulated_effects
        ).table
        expected = ale(
            by_number(forest_of_accumulated_effects),
            data_of_accumulated_effects,
            name,
            table["value"].tolist(),
        )
        np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)
    assert table["value"].tolist() == [0, 1, 2, 3]


@pytest.mark.usefixtures("few_pilots")
def test_second_order_effects_are_those_of_loops(
    forest_of_accumulated_effects, data_of_accumulated_effects
):
    found = forest_of_accumulated_effects.ale(
        ["x", "k"], points=4, newdata=data_of_accumulated_effects
    )
    edges = [axis.values.tolist() for axis in found.axes]
    expected = ale_of_two(
        by_number(forest_of_accumulated_effects), data_of_accumulated_effects, ["x", "k"], edges
    )
    np.testing.assert_allclose(found.estimate[:, :, 0], expected, atol=1e-12)
    assert found.table["std_error"].notna().all()


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.filterwarnings("error")
def test_an_interval_may_have_no_rows_that_know_both_variables(data_of_accumulated_effects):
    holed = data_of_accumulated_effects.assign(
        z=data_of_accumulated_effects["z"].where(
            data_of_accumulated_effects["x"] < data_of_accumulated_effects["x"].quantile(0.7)
        )
    )
    fit = odrf.odrf("y ~ x + z", holed, n_trees=40, inference=True, seed=1)
    found = fit.ale(["x", "z"], points=6)
    assert np.isfinite(found.estimate).all() and found.table["std_error"].notna().all()


@pytest.mark.usefixtures("few_pilots")
def test_weights_count_rows(data_of_accumulated_effects):
    weights = np.random.default_rng(1).integers(0, 3, len(data_of_accumulated_effects))
    # whole numbers are read back from the matrix as they were, others to seven digits
    data_of_accumulated_effects = data_of_accumulated_effects.assign(
        x=(100 * data_of_accumulated_effects["x"]).round().astype(int)
    )
    fit = odrf.odt("y ~ x + k", data_of_accumulated_effects, weights=weights, seed=1)
    table = fit.ale("x", points=5).table
    repeated = data_of_accumulated_effects.loc[
        np.repeat(data_of_accumulated_effects.index, weights)
    ]
    expected = ale(by_number(fit), repeated, "x", table["value"].tolist())
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)


@pytest.mark.usefixtures("few_pilots")
def test_an_additive_function_has_no_second_order_effects():
    x, z = np.meshgrid(np.arange(12.0), np.arange(12.0))
    data = pd.DataFrame({"x": x.ravel(), "z": z.ravel()})
    data["y"] = np.where(data["x"] > 4, 3.0, 0.0)
    fit = odrf.odt("y ~ x + z", data, kind="regression", projection="axis", seed=1)
    assert fit.ale(["x", "z"], points=6).estimate == pytest.approx(0, abs=1e-12)
    data["y"] = np.where((data["x"] > 4) & (data["z"] > 6), 3.0, 0.0)
    fit = odrf.odt("y ~ x + z", data, kind="regression", projection="axis", seed=1)
    assert np.ptp(fit.ale(["x", "z"], points=6).estimate) > 1


@pytest.mark.usefixtures("few_pilots")
def test_levels_differ_by_the_rows_of_both(data_of_accumulated_effects):
    two = data_of_accumulated_effects.assign(
        f=np.where(data_of_accumulated_effects["f"] == "low", "low", "other")
    )
    fit = odrf.odrf("y ~ x + f + u", two, n_trees=10, seed=1)
    table = fit.ale("f").table.set_index("value")["estimate"]
    change = fit.predict(two.assign(f="other")) - fit.predict(two.assign(f="low"))
    assert table["other"] - table["low"] == pytest.approx(change.mean())
    share = (two["f"] == "low").mean()
    assert share * table["low"] + (1 - share) * table["other"] == pytest.approx(0, abs=1e-12)


@pytest.mark.usefixtures("few_pilots")
def test_levels_in_the_order_of_similarity():
    rng = np.random.default_rng(0)
    place = {"far": 3, "near": 0, "between": 1}
    f = rng.choice(list(place), 300)
    data = pd.DataFrame({"f": f, "x": pd.Series(f).map(place) + rng.normal(size=300) / 2})
    data["y"] = data["x"] + rng.normal(size=300)
    fit = odrf.odrf("y ~ f + x", data, n_trees=10, seed=1)
    table = fit.ale("f").table.set_index("value")["estimate"]
    rows = data[data["f"].isin(["near", "between"])]
    change = fit.predict(rows.assign(f="between")) - fit.predict(rows.assign(f="near"))
    assert table["between"] - table["near"] == pytest.approx(change.mean(), abs=1e-6)


@pytest.mark.usefixtures("few_pilots")
def test_what_cannot_be_asked_of_accumulated_effects(
    forest_of_accumulated_effects, data_of_accumulated_effects
):
    with pytest.raises(InputError, match="'f' is a factor, and second-order"):
        forest_of_accumulated_effects.ale(["x", "f"])
    with pytest.raises(InputError, match="one value only"):
        forest_of_accumulated_effects.ale("x", newdata=data_of_accumulated_effects.assign(x=1.0))
    with pytest.raises(InputError, match="no predictor"):
        forest_of_accumulated_effects.ale("w")


@pytest.mark.usefixtures("few_pilots")
def test_a_number_that_only_rows_of_weight_0_have_is_refused(data_of_accumulated_effects):
    weights = np.r_[np.zeros(20), np.ones(len(data_of_accumulated_effects) - 20)]
    holes = data_of_accumulated_effects.assign(
        z=data_of_accumulated_effects["z"].where(weights == 0)
    )
    fit = odrf.odrf("y ~ x + z", holes, n_trees=6, seed=1)
    # a fit of an older version has rows of weight 0 among its rows
    fit = type(fit)(replace(fit.fit, training=replace(fit.fit.data, weights=weights)))
    with pytest.raises(InputError, match="'z' is empty in all rows of positive weight"):
        fit.ale("z")


# ------------------------------------------------------------------------------------------------
# The order of the regions that a column divides rows into.
# ------------------------------------------------------------------------------------------------


SIZES = pd.CategoricalDtype(["small", "medium", "large"])


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        (pd.Series(["large", "small", None, "medium"] * 3, dtype=SIZES), list(SIZES.categories)),
        (pd.Series([10, 2, 2, 30] * 3), ["2", "10", "30"]),
        (pd.Series([10.5, 2.0, np.nan, 30.0] * 3), ["2.0", "10.5", "30.0"]),
        (pd.Series(["b", "a", None, "c"] * 3), ["a", "b", "c"]),
        (pd.Series(pd.to_datetime(["2020-02-01", "2019-03-01"] * 6)), ["2019-03-01", "2020-02-01"]),
        (pd.Series([True, False, True] * 4), ["False", "True"]),
    ],
)
def test_regions_are_in_the_order_of_the_column(values, expected):
    n = len(values)
    rows = pd.DataFrame({"observed": np.arange(n) % 5.0, "fitted": np.arange(n) / 2.0})
    rows = rows.assign(conf_low=0.0, conf_high=3.5, pit=0.5)
    coverage = PredictiveCheck("", rows, 0.95, values, "new").coverage
    assert coverage["region"].tolist() == expected
    inside = (rows["observed"] <= 3.5).groupby(values.astype(object)).mean()
    np.testing.assert_allclose(np.sort(coverage["coverage"]), np.sort(inside))
    assert coverage["rows"].sum() == values.notna().sum()
