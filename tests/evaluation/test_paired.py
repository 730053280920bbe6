"""Two fits compared on the same rows."""

from __future__ import annotations

import pickle
from math import sqrt

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm, ttest_rel
from sklearn.metrics import brier_score_loss, log_loss, roc_auc_score
from statsmodels.stats.contingency_tables import mcnemar

import odrf
from odrf import InputError, compare_fits

TREES = {"n_trees": 30, "seed": 1}
TIMES = "Surv(time, event) ~ "


def rows(n, seed=0):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    data["g"] = np.arange(n) // 4
    data["y"] = data["a"] + data["b"] + rng.normal(size=n)
    data["k"] = np.where(data["y"] > 0, "yes", "no")
    data["m"] = pd.cut(data["y"], [-np.inf, -1, 1, np.inf], labels=list("uvw")).astype(object)
    data["time"] = np.exp(-data["a"]) * rng.exponential(size=n) + 0.01
    data["event"] = rng.random(n) < 0.7
    return data


DATA, NEW = rows(160), rows(120, seed=1)


@pytest.fixture(scope="module")
def numbers():
    return [odrf.odrf(f"y ~ {terms}", DATA, **TREES) for terms in ("a + b", "a")]


@pytest.fixture(scope="module")
def classes():
    return [odrf.odrf(f"k ~ {terms}", DATA, **TREES) for terms in ("a + b", "a")]


@pytest.fixture(scope="module")
def times():
    return [odrf.odrf(TIMES + terms, DATA, **TREES) for terms in ("a + b", "b + c")]


@pytest.mark.parametrize("newdata", [None, NEW])
def test_squared_errors_have_the_paired_t(numbers, newdata):
    table = compare_fits(*numbers, newdata).table
    data = DATA if newdata is None else newdata
    predicted = [fit.oob_prediction if newdata is None else fit.predict(NEW) for fit in numbers]
    losses = [(data["y"] - each) ** 2 for each in predicted]
    row = table.loc["mean squared error"]
    assert (row["first"], row["second"]) == pytest.approx([loss.mean() for loss in losses])
    expected = ttest_rel(*losses)
    assert row["p_value"] == pytest.approx(expected.pvalue)
    ends = expected.confidence_interval(0.95)
    assert (row["conf_low"], row["conf_high"]) == pytest.approx((ends.low, ends.high))
    absolute = [(data["y"] - each).abs().mean() for each in predicted]
    assert table.loc["mean absolute error", "difference"] == pytest.approx(-np.diff(absolute)[0])


@pytest.mark.parametrize("newdata", [None, NEW])
def test_classes_have_mcnemar_s_test_delong_s_and_scores(classes, newdata):
    table = compare_fits(*classes, newdata).table
    data = DATA if newdata is None else newdata
    event = data["k"] == "yes"
    p = [fit.oob_prob if newdata is None else fit.predict(NEW, type="prob") for fit in classes]
    labels = [fit.oob_prediction if newdata is None else fit.predict(NEW) for fit in classes]
    wrong = [(label.astype(object) != data["k"]).to_numpy() for label in labels]
    for name, score in (
        ("Brier score", lambda q: 2 * brier_score_loss(event, q["yes"])),
        ("log loss", lambda q: log_loss(event, np.maximum(q[["no", "yes"]], np.finfo(float).eps))),
        ("area under ROC curve", lambda q: roc_auc_score(event, q["yes"])),
    ):
        row = table.loc[name, ["first", "second"]].tolist()
        assert row == pytest.approx([score(q) for q in p], rel=1e-6), name
    counts = pd.crosstab(*wrong)
    assert table.loc["error rate", "p_value"] == pytest.approx(mcnemar(counts).pvalue)
    assert table["test"].tolist() == ["McNemar", "t", "t", "DeLong"]


def test_order_of_classes_does_not_matter(classes):
    turned = DATA.assign(k=pd.Categorical(DATA["k"], ["yes", "no"]))
    other = odrf.odrf("k ~ a", turned, **TREES)
    assert list(other.classes) != list(classes[0].classes)
    found = compare_fits(classes[0], other).table
    own = compare_fits(other, classes[0]).table
    np.testing.assert_allclose(found["difference"][:3], -own["difference"][:3], atol=1e-12)
    np.testing.assert_allclose(found["p_value"][:3], own["p_value"][:3])
    # 1 - p has other ties than p, by rounding
    assert found["difference"].iloc[3] == pytest.approx(-own["difference"].iloc[3], abs=1e-3)


def test_three_classes_have_no_area():
    fits = [odrf.odrf(f"m ~ {terms}", DATA, **TREES) for terms in ("a + b", "a")]
    assert compare_fits(*fits).table.index.tolist() == ["error rate", "Brier score", "log loss"]


@pytest.mark.parametrize("newdata", [None, NEW])
def test_times_have_the_scores_of_summaries(times, newdata):
    table = compare_fits(*times, newdata).table
    for name, fit in zip(("first", "second"), times, strict=True):
        expected = fit.score(newdata)["estimate"]
        pd.testing.assert_series_equal(
            table[name], expected, check_names=False, check_index_type=False
        )
    assert set(table["test"]) == {"normal"}
    # errors of the difference are smaller than those of independent scores would be
    errors = [fit.score(newdata)["std_error"] for fit in times]
    assert (table["std_error"] < np.hypot(*errors)).all()


def test_times_of_the_rows_that_both_predict():
    few = [odrf.odrf(TIMES + "a", DATA, n_trees=3, seed=seed) for seed in (1, 2)]
    found = compare_fits(*few)
    each = [(~fit._unseen.any(axis=0)).sum() for fit in few]
    assert found.n_rows < 160 - max(each)
    back = compare_fits(*few[::-1]).table
    np.testing.assert_allclose(found.table["difference"], -back["difference"], atol=1e-12)


@pytest.mark.parametrize("response", ["y", "k", TIMES])
def test_boosted_fits_stacks_and_forests_meet_out_of_bag(response):
    formula = response + "a + b" if response == TIMES else f"{response} ~ a + b"
    forest = odrf.odrf(formula, DATA, **TREES)
    boosted = odrf.odbt(formula, DATA, n_trees=10, n_runs=6, seed=1)
    assert (compare_fits(forest, boosted).table["p_value"] <= 1).all()
    if response != TIMES:
        stack = odrf.auto(formula, DATA, seed=1)
        assert (compare_fits(stack, boosted).table["p_value"] <= 1).all()


@pytest.mark.parametrize("response", ["y", "k", TIMES])
def test_a_fit_does_not_differ_from_itself(response):
    formula = response + "a + b" if response == TIMES else f"{response} ~ a + b"
    fit = odrf.odrf(formula, DATA, **TREES)
    table = compare_fits(fit, fit).table
    assert (table[["difference", "std_error", "conf_low", "conf_high"]] == 0).all(axis=None)
    assert (table["p_value"] == 1).all()


def test_groups_of_fits_and_those_asked_for_are_units():
    fits = [odrf.odrf(f"y ~ {terms}", DATA, groups="g", **TREES) for terms in ("a + b", "a")]
    found = compare_fits(*fits)
    assert found.n_groups == 40
    off = (DATA["y"] - fits[0].oob_prediction) ** 2 - (DATA["y"] - fits[1].oob_prediction) ** 2
    sums = (off - off.mean()).groupby(DATA["g"]).sum()
    error = sqrt((sums**2).sum() * 40 / 39) / 160
    assert found.table.loc["mean squared error", "std_error"] == pytest.approx(error)
    for given in (DATA["g"], DATA["g"].to_numpy()):
        again = compare_fits(*fits, groups=given).table
        pd.testing.assert_frame_equal(again, found.table)
    new = compare_fits(*fits, NEW)
    assert new.n_groups == 30
    pd.testing.assert_frame_equal(compare_fits(*fits, NEW, groups="g").table, new.table)
    assert (compare_fits(*fits, NEW, groups=np.arange(120)).table["std_error"] > 0).all()


def test_times_have_groups_too(times):
    found = compare_fits(*times, NEW, groups="g")
    assert found.n_groups == 30 and set(found.table["test"]) == {"t"}
    alone = compare_fits(*times, NEW).table
    assert (found.table["difference"] == alone["difference"]).all()
    assert (found.table["std_error"] != alone["std_error"]).all()


def test_rows_that_one_fit_drops_are_left_out_of_both():
    holes = rows(120, seed=2)
    holes.loc[5:24, "c"] = np.nan
    for response in ("y", "k", TIMES):
        start = response if response == TIMES else f"{response} ~ "
        drops = odrf.odrf(start + "a + c", DATA, missing="drop", **TREES)
        keeps = odrf.odrf(start + "a + b", DATA, **TREES)
        found = compare_fits(drops, keeps, holes, groups="g")
        whole = compare_fits(drops, keeps, holes.dropna(), groups="g")
        assert found.n_rows == 100
        pd.testing.assert_frame_equal(found.table, whole.table)


def test_weights_count_if_both_fits_have_them():
    weights = 1 + np.arange(160) % 3
    fits = [odrf.odrf(f"k ~ {terms}", DATA, weights=weights, **TREES) for terms in ("a", "a + b")]
    table = compare_fits(*fits).table
    assert table.loc["error rate", ["first", "second"]].tolist() == pytest.approx(
        [fit.oob_error for fit in fits]
    )
    assert table.loc["error rate", "test"] == "t"
    other = odrf.odrf("k ~ a", DATA, **TREES)
    unweighted = compare_fits(other, fits[0]).table.loc["error rate"]
    assert unweighted["first"] == pytest.approx(other.oob_error)
    assert unweighted["test"] == "McNemar"


def test_rows_of_weight_0_are_left_out():
    weights = np.where(np.arange(160) % 8 == 0, 0.0, 1.0)
    fits = [odrf.odrf(f"y ~ {terms}", DATA, weights=weights, **TREES) for terms in ("a", "a + b")]
    found = compare_fits(*fits)
    assert found.n_rows == 140
    assert found.table.loc["mean squared error", "first"] == pytest.approx(fits[0].oob_error)


def test_the_level_and_the_report(numbers):
    found = compare_fits(*numbers, NEW, level=0.8)
    row = found.table.loc["mean squared error"]
    reach = (row["conf_high"] - row["difference"]) / row["std_error"]
    assert reach == pytest.approx(norm.ppf(0.9), rel=0.01)
    assert found.call == "compare_fits(first, second, newdata, level=0.8)"
    text = str(found.summary())
    for words in ("120, new", "80 %", "mean squared error", "two-sided", numbers[0].call):
        assert words in text
    assert found.summary().as_html() and found.summary().as_latex()
    again = pickle.loads(pickle.dumps(found))
    assert str(again.summary()) == text and repr(again) == repr(found)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"second": odrf.odt}, "second is of type function: give a fit"),
        ({"second": lambda: odrf.odrf("k ~ a", DATA, **TREES)}, "a number and that of second a c"),
        ({"second": lambda: odrf.odt("y ~ a", DATA)}, "second has no out-of-bag predictions"),
        ({"second": lambda: odrf.odrf("y ~ a", DATA[:99], **TREES)}, "other training rows"),
        ({"second": lambda: odrf.odrf("np.exp(y) ~ a", DATA, **TREES)}, "other responses"),
        ({"level": 2}, "level=2"),
        ({"groups": "g"}, "groups='g' is not a column"),
        ({"groups": np.zeros(160)}, "one group only"),
        ({"groups": [*[np.nan], *range(159)]}, "missing values"),
        ({"newdata": NEW.drop(columns="y")}, "y"),
    ],
)
def test_what_cannot_be_compared(numbers, change, message):
    asked = {"first": numbers[0], "second": numbers[1]} | change
    if callable(asked["second"]) and asked["second"] is not odrf.odt:
        asked["second"] = asked["second"]()
    with pytest.raises(InputError, match=message):
        compare_fits(**asked)


def test_a_forest_of_an_estimand_is_refused(times):
    with pytest.raises(InputError, match="first is of type EstimandResults"):
        compare_fits(times[0].estimand("survival", time=0.5), times[0])
