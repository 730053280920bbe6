"""Accumulated local effects, beside loops over rows with predict."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_few_pilots
from odrf import InputError
from reference.ale import ale, ale_of_two

pytestmark = pytest.mark.usefixtures("few_pilots")


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["x", "u"])
    data["z"] = data["x"] + rng.normal(size=120)
    data["k"] = rng.integers(0, 4, 120)
    data["f"] = rng.choice(["high", "low", "mid"], 120)
    data["y"] = data["x"] * data["z"] + (data["f"] == "low") + rng.normal(size=120) / 3
    data["c"] = np.where(data["y"] > 1, "over", "below")
    return data


@pytest.fixture(scope="module")
def forest(data):
    with with_few_pilots():
        return odrf.odrf("y ~ x + x:z + z + u + k + f", data, n_trees=20, seed=1)


def by_number(fit):
    return lambda rows: fit.predict(rows).to_numpy()


@pytest.mark.parametrize("grow", [odrf.odrf, odrf.odt, odrf.odbt, odrf.graf])
def test_effects_of_a_number_are_those_of_loops(grow, data):
    few = {} if grow is odrf.odt else {"n_trees": 8}
    fit = grow("c ~ x + z + u", data, seed=1, **few)
    table = fit.ale("x", points=6, newdata=data).table
    over = table[table["class"] == "over"]
    expected = ale(
        lambda rows: fit.predict(rows, "prob")["over"].to_numpy(), data, "x", over["value"].tolist()
    )
    np.testing.assert_allclose(over["estimate"], expected, atol=1e-12)


def test_products_and_whole_numbers(forest, data):
    for name in ("x", "k"):
        table = forest.ale(name, points=5, newdata=data).table
        expected = ale(by_number(forest), data, name, table["value"].tolist())
        np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)
    assert table["value"].tolist() == [0, 1, 2, 3]


def test_second_order_effects_are_those_of_loops(forest, data):
    found = forest.ale(["x", "k"], points=4, newdata=data)
    edges = [axis.values.tolist() for axis in found.axes]
    expected = ale_of_two(by_number(forest), data, ["x", "k"], edges)
    np.testing.assert_allclose(found.estimate[:, :, 0], expected, atol=1e-12)
    assert found.table["std_error"].notna().all()


@pytest.mark.filterwarnings("error")
def test_an_interval_may_have_no_rows_that_know_both_variables(data):
    holed = data.assign(z=data["z"].where(data["x"] < data["x"].quantile(0.7)))
    fit = odrf.odrf("y ~ x + z", holed, n_trees=40, inference=True, seed=1)
    found = fit.ale(["x", "z"], points=6)
    assert np.isfinite(found.estimate).all() and found.table["std_error"].notna().all()


def test_weights_count_rows(data):
    weights = np.random.default_rng(1).integers(0, 3, len(data))
    # whole numbers are read back from the matrix as they were, others to seven digits
    data = data.assign(x=(100 * data["x"]).round().astype(int))
    fit = odrf.odt("y ~ x + k", data, weights=weights, seed=1)
    table = fit.ale("x", points=5).table
    repeated = data.loc[np.repeat(data.index, weights)]
    expected = ale(by_number(fit), repeated, "x", table["value"].tolist())
    np.testing.assert_allclose(table["estimate"], expected, atol=1e-12)


def test_an_additive_function_has_no_second_order_effects():
    x, z = np.meshgrid(np.arange(12.0), np.arange(12.0))
    data = pd.DataFrame({"x": x.ravel(), "z": z.ravel()})
    data["y"] = np.where(data["x"] > 4, 3.0, 0.0)
    fit = odrf.odt("y ~ x + z", data, kind="regression", projection="axis", seed=1)
    assert fit.ale(["x", "z"], points=6).estimate == pytest.approx(0, abs=1e-12)
    data["y"] = np.where((data["x"] > 4) & (data["z"] > 6), 3.0, 0.0)
    fit = odrf.odt("y ~ x + z", data, kind="regression", projection="axis", seed=1)
    assert np.ptp(fit.ale(["x", "z"], points=6).estimate) > 1


def test_levels_differ_by_the_rows_of_both(data):
    two = data.assign(f=np.where(data["f"] == "low", "low", "other"))
    fit = odrf.odrf("y ~ x + f + u", two, n_trees=10, seed=1)
    table = fit.ale("f").table.set_index("value")["estimate"]
    change = fit.predict(two.assign(f="other")) - fit.predict(two.assign(f="low"))
    assert table["other"] - table["low"] == pytest.approx(change.mean())
    share = (two["f"] == "low").mean()
    assert share * table["low"] + (1 - share) * table["other"] == pytest.approx(0, abs=1e-12)


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


def test_what_cannot_be_asked(forest, data):
    with pytest.raises(InputError, match="'f' is a factor, and second-order"):
        forest.ale(["x", "f"])
    with pytest.raises(InputError, match="one value only"):
        forest.ale("x", newdata=data.assign(x=1.0))
    with pytest.raises(InputError, match="no predictor"):
        forest.ale("w")


def test_a_number_that_only_rows_of_weight_0_have_is_refused(data):
    weights = np.r_[np.zeros(20), np.ones(len(data) - 20)]
    holes = data.assign(z=data["z"].where(weights == 0))
    fit = odrf.odrf("y ~ x + z", holes, n_trees=6, seed=1)
    # a fit of an older version has rows of weight 0 among its rows
    fit = type(fit)(replace(fit.fit, data=replace(fit.fit.data, weights=weights)))
    with pytest.raises(InputError, match="'z' is empty in all rows of positive weight"):
        fit.ale("z")
