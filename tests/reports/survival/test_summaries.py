"""Calibration and ROC curves at a time, curves of rows, summaries and plots of survival forests."""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.reports.survival.summaries import estimates_table
from odrf.statistics.survival.curves import kaplan_meier
from odrf.statistics.survival.discrimination import dynamic_areas, roc_at
from odrf.statistics.survival.pseudo_values import RowwiseEstimate
from odrf.statistics.survival.scores import calibration_at

DATA = odrf.load_data("gbsg2").sample(300, random_state=1)
TIME, EVENT = DATA["time"].to_numpy(dtype=float), DATA["event"].to_numpy()


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("Surv(time, event) ~ .", DATA, n_trees=60, seed=1)


def risks(forest, times, **rows):
    return 1 - forest.predict(type="survival", times=times, **rows).to_numpy()


def test_calibration_is_that_of_out_of_bag_risks(forest):
    report = forest.calibration(900, groups=5, level=0.9)
    known = calibration_at(TIME, EVENT, risks(forest, 900)[:, 0], 900, 5, level=0.9)
    for name, column in (("predicted", "predicted"), ("observed", "observed"), ("low", "conf_low")):
        np.testing.assert_allclose(report.table[column], getattr(known, name))
    assert report.table["weight"].sum() == len(DATA)
    assert report.overall["observed"] == pytest.approx(1 - kaplan_meier(TIME, EVENT).curve(900))
    assert "out of bag" in repr(report)


def test_calibration_of_new_rows_is_by_all_trees(forest):
    report = forest.calibration(900, DATA, groups=4)
    mean = risks(forest, 900, newdata=DATA).mean()
    assert report.overall["predicted"] == pytest.approx(mean)
    assert "300, new" in report.summary().as_text()


def test_where_all_rows_had_the_event_there_are_no_limits():
    data = odrf.simulate.hazard_jump(p=3).sample(60, seed=1).assign(event=True)
    fit = odrf.odrf("Surv(time, event) ~ .", data, n_trees=20, seed=1)
    report = fit.calibration(float(data["time"].max()), groups=2)
    table = report.table
    assert "1.000 (no limits)" in repr(report)
    np.testing.assert_allclose(table["observed"], 1)
    assert table[["conf_low", "conf_high"]].isna().all(axis=None)


def test_where_no_row_had_the_event_there_are_no_limits():
    data = odrf.simulate.hazard_jump(p=3).sample(60, seed=1)
    fit = odrf.odrf("Surv(time, event) ~ .", data, n_trees=20, seed=1)
    table = fit.calibration(float(data["time"][data["event"]].min()), groups=10).table
    none = table["observed"] == 0
    assert none.any()
    assert table.loc[none, ["conf_low", "conf_high"]].isna().all(axis=None)
    assert table.loc[~none, ["conf_low", "conf_high"]].notna().all(axis=None)


def test_areas_are_those_of_out_of_bag_risks(forest):
    report = forest.roc(900)
    at = report.table.index.to_numpy()
    assert 900 in at
    risk = risks(forest, at)
    known = dynamic_areas(TIME, EVENT, risk, at)
    np.testing.assert_allclose(report.table["auc"], known.area)
    np.testing.assert_allclose(report.table["std_error"], known.std_error)
    assert report.mean["auc"] == pytest.approx(known.mean.estimate)
    assert report.mean["std_error"] == pytest.approx(known.mean.std_error)
    curve = roc_at(TIME, EVENT, risk[:, at == 900][:, 0], 900)
    np.testing.assert_allclose(report.curve["sensitivity"], curve.sensitivity)
    # the area under the curve that is drawn
    false = 1 - report.curve["specificity"]
    area = np.trapezoid(report.curve["sensitivity"], false)
    assert report.table.loc[900, "auc"] == pytest.approx(area)


def test_areas_are_of_times_at_which_some_rows_have_not_had_the_event():
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"x": rng.random(40), "time": rng.integers(1, 6, 40), "event": True})
    fit = odrf.odrf("Surv(time, event) ~ x", data, n_trees=20, seed=1)
    report = fit.roc(3)
    assert report.table.index.tolist() == [1, 2, 3, 4]
    assert np.isfinite(report.mean).all()
    with pytest.raises(InputError, match=r"time=5: every row .* has had the event"):
        fit.roc(5)
    # rows with an event of another cause have not had it, also at the end
    causes = np.where(rng.random(40) < 0.5, "a", "b")
    data["event"] = pd.Categorical(causes, ["censored", "a", "b"])
    fit = odrf.odrf("Surv(time, event) ~ x", data, n_trees=20, seed=1)
    report = fit.roc(5, cause="a")
    assert report.table.index[-1] == 5
    assert np.isfinite(report.table).all(axis=None)
    assert np.isfinite(report.mean).all()


def test_infinite_times_are_explained():
    data = DATA.assign(event=EVENT * (TIME < 1000))
    fit = odrf.odrf("Surv(time, event) ~ .", data, n_trees=10, seed=1)
    assert "inf where" in str(fit.curves(data.head(3)).summary())
    assert "inf where" in str(odrf.odt("Surv(time, event) ~ .", data, alpha=0.01).summary())
    data = data.assign(event=True)
    fit = odrf.odrf("Surv(time, event) ~ .", data, n_trees=10, seed=1)
    assert "inf" not in str(fit.curves(data.head(3)).summary())


def test_curves_are_predictions(forest):
    rows = DATA.head(3)
    report = forest.curves(rows, times=[900, 300])
    known = forest.predict(rows, type="survival", times=[300, 900])
    np.testing.assert_array_equal(report.table, known)
    np.testing.assert_array_equal(report.quartiles, forest.predict(rows, type="quantile"))
    assert forest.curves(rows).table.shape == (3, len(forest.event_times))
    text = report.summary().as_text()
    assert "Survival by time" in text


def test_curves_at_time_0_alone_are_drawn(forest):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        left, right = forest.curves(DATA.head(2), times=0).plot().get_xlim()
    assert left == 0 < right


def test_events_at_time_0_alone_are_drawn():
    data = DATA.assign(time=np.where(EVENT == 1, 0, TIME))
    tree = odrf.odt("Surv(time, event) ~ nodes + age", data, alpha=0.0, max_leaves=3, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        tree.plot()


def test_the_curves_of_many_rows_are_drawn_without_names(forest):
    ax = forest.curves(DATA, times=[300, 900]).plot()
    assert ax.get_legend() is None
    assert ax.get_title() == "100 rows (first 100 of 300)"
    shown = [text.get_text() for text in ax.texts]
    assert shown[:2] == ["at risk", "300"]


def test_groups_of_risk_are_drawn_with_what_was_observed(forest):
    ax = forest.plot("curves")
    names = [text.get_text() for text in ax.get_legend().get_texts()]
    assert names == ["lowest", "2", "3", "highest"]
    counts = [text for text in ax.texts if text.get_ha() == "center"]
    at_start = [text.get_text() for text in counts if text.xy[0] == 0]
    assert sum(map(int, at_start)) == len(DATA)
    risk = forest.predict().to_numpy()
    lowest = risk <= np.sort(risk)[int(at_start[0]) - 1]
    observed, predicted = ax.lines[0], ax.lines[1]
    known = kaplan_meier(TIME[lowest], EVENT[lowest])
    np.testing.assert_allclose(observed.get_ydata()[1:], known.survival)
    times = predicted.get_xdata()
    mean = forest.predict(type="survival", times=times).to_numpy()[lowest].mean(axis=0)
    np.testing.assert_allclose(predicted.get_ydata(), mean)


def test_both_plots_stand_side_by_side(forest):
    left, right = forest.plot()
    assert left.get_xlabel() == "time"
    assert [label.get_text() for label in right.get_yticklabels()] == list(
        forest.importance().index
    )
    assert forest.plot("importance", type="impurity").get_xlabel().startswith("share of")
    line = forest.plot("error").lines[0]
    np.testing.assert_array_equal(line.get_ydata(), forest.error_path)


def test_the_summary_has_follow_up_scores_and_importances(forest):
    summary = forest.summary()
    followed = kaplan_meier(TIME, ~EVENT.astype(bool)).quantile()
    assert summary.facts["Median follow-up"] == f"{followed:.0f}"
    assert summary.facts["Person-time"] == f"{TIME.sum():.0f}"
    assert summary.facts["Events"].startswith(f"{EVENT.sum()} (")
    titles = list(summary.sections)
    assert titles[0].startswith("Scores (out of bag, times up to ")
    np.testing.assert_array_equal(summary.sections[titles[0]], forest.oob_scores)
    assert titles[-1].startswith("Importance (fall of Uno's C")
    assert "OOB Uno's C" in repr(forest)


def test_a_curve_of_all_rows_explains_nothing_and_has_no_error():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"a": rng.normal(size=60), "t": rng.exponential(size=60) + 0.1, "e": 1})
    for rows in (data, pd.concat([data] * 3).assign(g=np.tile(np.arange(60), 3))):
        groups = "g" if "g" in rows else None
        root = odrf.odt("Surv(t, e) ~ a", rows, max_leaves=1, groups=groups, seed=1)
        table = root.score(rows)
        assert table.loc["explained", "estimate"] == 0
        unknown = table.loc[["explained", "harrell_c"], ["std_error", "conf_low", "conf_high"]]
        assert unknown.isna().all(axis=None)
        assert "e-1" not in str(root.summary())


def test_errors_that_are_rounding_are_unknown():
    tiny = np.array([9e-17, -9e-17, 0.0])
    for estimate in (1.0, 0.0, -0.5):
        found = RowwiseEstimate(estimate, tiny)
        assert found.std_error == 0 == found.std_error_of_groups(np.arange(3))
        assert np.isnan(found.p_value())
        table = estimates_table({"C": found}, 0.95, None, "rows")
        assert table.loc["C", "std_error":].isna().all()
    assert RowwiseEstimate(1e-5, np.array([1e-9, -1e-9])).std_error > 0
