"""Intervals and quantiles as a user asks for them."""

from __future__ import annotations

import re
import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(scope="module")
def simulated():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.random((900, 4)), columns=list("abcd"))
    return data.assign(y=4 * data["a"] + 2 * data["b"] + rng.normal(size=900))


@pytest.fixture(scope="module")
def forest(simulated):
    return odrf.odrf("y ~ .", simulated[:300], n_trees=200, blend=False, seed=1)


@pytest.fixture(scope="module")
def blended(simulated):
    return odrf.odrf("y ~ .", simulated[:300], n_trees=150, blend=True, seed=1)


# quantiles of the few responses in the leaves of a row lie too close together
@pytest.mark.parametrize(("method", "off"), [("conformal", 0.03), ("quantile", 0.1)])
@pytest.mark.parametrize("fit", ["forest", "blended"])
def test_new_responses_are_covered(request, simulated, fit, method, off):
    fit, new = request.getfixturevalue(fit), simulated[300:]
    found = fit.predict(new, interval="prediction", method=method)
    assert list(found.columns) == ["estimate", "conf_low", "conf_high"]
    assert found.index.equals(new.index)
    assert found["estimate"].equals(fit.predict(new).rename("estimate"))
    covered = new["y"].between(found["conf_low"], found["conf_high"]).mean()
    assert covered == pytest.approx(0.95, abs=off)
    narrower = fit.predict(new, interval="prediction", method=method, level=0.5)
    covered = new["y"].between(narrower["conf_low"], narrower["conf_high"]).mean()
    assert covered == pytest.approx(0.5, abs=0.1)


def test_conformal_is_the_default_for_a_response(forest, simulated):
    new = simulated[300:310]
    found = forest.predict(new, interval="prediction")
    assert found.equals(forest.predict(new, interval="prediction", method="conformal"))


def test_the_mean_of_trees_varies_less_than_a_response(simulated):
    new = simulated[300:400]
    forest = odrf.odrf("y ~ .", simulated[:100], n_trees=2000, blend=False, seed=1)
    mean = forest.predict(new, interval="confidence")
    assert list(mean.columns) == ["estimate", "conf_low", "conf_high", "std_error"]
    half = (mean["conf_high"] - mean["conf_low"]) / 2
    np.testing.assert_allclose(half, 1.959964 * mean["std_error"], rtol=1e-6)
    response = forest.predict(new, interval="prediction")
    assert half.mean() < (response["conf_high"] - response["conf_low"]).mean() / 2


def test_every_row_has_a_standard_error_however_few_trees(table):
    plain = odrf.odrf("y ~ a + b + f", table, n_trees=5, seed=1)
    with pytest.warns(UserWarning, match=r"5 trees are few .*; use inference=True"):
        assert (plain.predict(table, interval="confidence")["std_error"] > 0).all()
    few = odrf.odrf("y ~ a + b + f", table, n_trees=5, inference=True, seed=1)
    with pytest.warns(UserWarning, match=r"5 trees are few .* n_trees=\d+00, or ") as caught:
        found = few.predict(table, interval="confidence")
    assert caught[0].filename == __file__
    assert (found["std_error"] > 0).all()
    assert found.notna().all(axis=None)


def test_as_many_trees_as_advised_end_the_warning(simulated):
    few = odrf.odrf("y ~ .", simulated[:120], n_trees=100, inference=True, seed=1)
    new = simulated[300:500]
    with pytest.warns(UserWarning, match="trees are few") as caught:
        wide = few.predict(new, interval="confidence")
    advised = int(re.search(r"grow\((\d+)\)", str(caught[0].message))[1])
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        found = few.grow(advised).predict(new, interval="confidence")
    assert found["std_error"].mean() < wide["std_error"].mean()
    assert (found["std_error"] > 0).all()


def test_quantiles_have_columns(forest, simulated):
    new = simulated[300:]
    found = forest.predict(new, type="quantile")
    assert list(found.columns) == [0.05, 0.5, 0.95]
    assert found.columns.name == "quantile"
    assert (found[0.05] <= found[0.5]).all()
    assert (found[0.5] <= found[0.95]).all()
    assert set(np.unique(found)) <= set(simulated["y"][:300])
    one = forest.predict(new, type="quantile", quantiles=0.5)
    assert one[0.5].equals(found[0.5])
    turned = forest.predict(new, type="quantile", quantiles=[0.95, 0.05])
    assert turned.equals(found[[0.95, 0.05]])
    ends = forest.predict(new, interval="prediction", method="quantile", level=0.9)
    assert ends["conf_low"].equals(found[0.05].rename("conf_low"))
    assert (new["y"] < found[0.5]).mean() == pytest.approx(0.5, abs=0.08)


def test_quantiles_ask_for_quantiles(forest, simulated, class_forest, table):
    new = simulated[300:320]
    asked = forest.predict(new, type="quantile", quantiles=[0.2, 0.9])
    assert forest.predict(new, quantiles=[0.2, 0.9]).equals(asked)
    assert forest.predict(new, quantiles=0.9)[0.9].equals(asked[0.9])
    assert forest.predict(quantiles=0.5).columns.tolist() == [0.5]
    with pytest.raises(InputError, match=r'needs a regression.*type="prob"'):
        class_forest.predict(table, quantiles=0.5)


@pytest.mark.parametrize(
    "asked",
    [{"type": "quantile"}, {"interval": "prediction"}, {"interval": "confidence"}],
)
def test_missing_rows_stay_missing(table, asked):
    fit = odrf.odrf("y ~ a + b + f", table, n_trees=40, missing="drop", seed=1)
    holed = table.copy()
    holed.loc[["row2", "row5"], "a"] = np.nan
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        found = fit.predict(holed, **asked)
        rest = fit.predict(holed.drop(["row2", "row5"]), **asked)
    assert found.loc[["row2", "row5"]].isna().all(axis=None)
    pd.testing.assert_frame_equal(found.drop(["row2", "row5"]), rest)


@pytest.mark.parametrize(
    "asked",
    [{"interval": "prediction"}, {"interval": "prediction", "method": "quantile"}],
)
def test_rows_of_weight_zero_are_not_there(simulated, asked):
    weights = np.where(np.arange(200) % 2, 1.0, 0.0)
    half = simulated[:200][weights > 0]
    new = simulated[300:320]
    weighted = odrf.odrf("y ~ a + b", simulated[:200], weights=weights, n_trees=30, seed=1)
    alone = odrf.odrf("y ~ a + b", half, n_trees=30, seed=1)
    # the scaling of predictors knows all rows, and splits may fall elsewhere between two of them
    one, other = weighted.predict(new, **asked), alone.predict(new, **asked)
    # ends are .016 apart, .13 where rows of weight 0 calibrate like the others
    assert (one - other).abs().mean().max() < 0.05


@pytest.mark.parametrize(
    ("asked", "message"),
    [
        ({"interval": "predictions"}, "did you mean 'prediction'"),
        ({"interval": "prediction", "level": 95}, "level=95: use a number above 0 and below 1"),
        ({"interval": "prediction", "level": True}, "level=True: use a number"),
        ({"interval": "prediction", "level": 0.999}, "level=0.999 needs 999 training rows"),
        ({"interval": "prediction", "type": "trees"}, "leave type='trees' out"),
        ({"interval": "prediction", "method": "jackknife"}, "is for interval='confidence'"),
        ({"interval": "confidence", "method": "quantile"}, "use 'jackknife'"),
        ({"interval": "confidence", "method": "bayes"}, "method='bayes' is not known"),
        ({"level": 0.9}, 'level=0.9 needs interval=: use interval="confidence"'),
        ({"method": "quantile"}, "method='quantile' needs interval="),
        ({"type": "quantiles"}, "did you mean 'quantile'"),
        ({"type": "quantile", "quantiles": (0.1, 1.0)}, "quantiles=1.0: use a number"),
        ({"type": "quantile", "quantiles": []}, r"quantiles=\[\] is empty"),
        ({"type": "quantile", "quantiles": "half"}, "quantiles='half': use a number"),
        ({"quantiles": 2}, "quantiles=2: use a number above 0 and below 1"),
        ({"quantiles": 0.5, "type": "trees"}, "quantiles= and type='trees' ask for two things"),
        ({"quantiles": 0.5, "type": "quantiles"}, "did you mean 'quantile'"),
        (
            {"quantiles": 0.5, "interval": "prediction"},
            "quantiles= and interval= ask for two things: leave one of them out; .* use level=",
        ),
    ],
)
def test_invalid_requests(forest, simulated, asked, message):
    with pytest.raises(InputError, match=message):
        forest.predict(simulated[300:], **asked)


@pytest.fixture(scope="module")
def small_forest(simulated):
    return odrf.odrf("y ~ .", simulated[:150], n_trees=60, blend=False, seed=1)


@pytest.mark.parametrize("asked", [{}, {"method": "quantile"}, {"interval": "confidence"}])
@pytest.mark.parametrize("training", [True, False])
def test_ends_are_in_order_at_any_level(simulated, small_forest, asked, training):
    newdata = None if training else simulated[150:200]
    width = 0.0
    for level in (0.001, 0.01, 0.1, 0.3, 0.6, 0.9, 0.99):
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            given = {"interval": "prediction", "level": level} | asked
            ends = small_forest.predict(newdata, **given)
        widths = (ends["conf_high"] - ends["conf_low"]).dropna()
        assert (widths >= 0).all()
        assert widths.mean() >= width
        width = widths.mean()
    assert width > 0


def test_classes_have_probabilities_instead(class_forest, table):
    for asked in ({"interval": "prediction"}, {"type": "quantile"}):
        with pytest.raises(InputError, match=r'needs a regression.*type="prob"'):
            class_forest.predict(table, **asked)
    with pytest.raises(InputError, match=r"without intervals, or predictions\(newdata=one_row\)"):
        class_forest.predict(table, type="prob", interval="confidence")
    row = class_forest.predictions(newdata=table.head(1)).table
    np.testing.assert_allclose(
        row["estimate"], class_forest.predict(table.head(1), type="prob").iloc[0]
    )
    assert row["conf_high"].notna().any()


def test_trees_that_saw_all_rows(table):
    every = odrf.odrf("y ~ a + b", table, n_trees=3, resample="none", seed=1)
    with pytest.raises(InputError, match='"subsample", or use method="quantile"'):
        every.predict(table, interval="prediction")
    with pytest.raises(InputError, match='resample="none" leaves none'):
        every.predict(table, interval="confidence")
    assert every.predict(table, interval="prediction", method="quantile").notna().all(axis=None)
    with pytest.raises(InputError, match="this forest has one: fit with n_trees=500"):
        odrf.odrf("y ~ a", table, n_trees=1, seed=1).predict(table, interval="confidence")
    whole = odrf.odrf("y ~ a", table, n_trees=3, resample="subsample", sample_fraction=1.0, seed=1)
    for asked in ("confidence", "prediction"):
        with pytest.raises(InputError, match="sample_fraction=1 leaves none"):
            whole.predict(table, interval=asked)
    but_one = odrf.odrf(
        "y ~ a", table[:20], n_trees=3, resample="subsample", sample_fraction=0.95, seed=1
    )
    with pytest.raises(InputError, match="fit with a lower sample_fraction"):
        but_one.predict(interval="confidence")


def test_ends_that_cross_at_low_levels_are_replaced_by_their_middle():
    data = odrf.load_data("diabetes")[:120]
    forest = odrf.odrf("progression ~ bmi + bp", data, n_trees=20, blend=False, seed=1)
    found = forest.predict(data, interval="prediction", level=0.01)
    crossed = found["conf_low"] == found["conf_high"]
    assert crossed.sum() > 50 and (found["conf_low"] <= found["conf_high"]).all()
    assert (found["conf_low"] - found["estimate"])[crossed].abs().max() < 30
