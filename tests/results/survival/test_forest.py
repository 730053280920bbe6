"""Scores of survival forests, out of bag, of new rows and of training rows."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError as InputErrorSelectionOfPredictors
from odrf import simulate
from odrf.errors import InputError
from odrf.results.survival.forest import SurvivalForestResults
from odrf.statistics.survival.curves import kaplan_meier
from odrf.statistics.survival.discrimination import (
    concordance_of_cause,
    harrells_c,
    unos_c,
)
from odrf.statistics.survival.scores import EvaluatedTimes, brier_scores

FORMULA = "Surv(time, event) ~ ."
PROBLEM = odrf.simulate.proportional_hazards(p=4, relevant=2)
DATA = PROBLEM.sample(150, seed=1)
NEW = PROBLEM.sample(120, seed=2)
CAUSES = odrf.simulate.competing_risks(p=4).sample(200, seed=1)


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=40, seed=1)


def scores_by_hand(lives, risk, survival, grid, weights=None):
    """The estimates, from predictions, with the Kaplan–Meier curve of the training rows."""
    time, event = lives["time"].to_numpy(), lives["event"].to_numpy()
    until = grid[-1]
    known = kaplan_meier(DATA["time"].to_numpy(), DATA["event"].to_numpy()).curve
    model = brier_scores(time, event, 1 - survival, grid, weights=weights).integrated
    nothing = brier_scores(time, event, 1 - known(grid)[None], grid, weights=weights).integrated
    return [
        harrells_c(time, event, risk, weights).estimate,
        unos_c(time, event, risk, np.nextafter(until, np.inf), weights).estimate,
        model.estimate,
        1 - model.estimate / nothing.estimate,
    ]


def grid_until(lives, until):
    times = lives["time"][lives["event"]]
    return np.unique([0.0, *times[times < until], until])


SHARES = ["harrell_c", "uno_c", "integrated_brier"]


def on_log_odds(p, reach):
    """The end of an interval by the delta method, back from log(p/(1 - p))."""
    return 1 / (1 + np.exp(-(np.log(p / (1 - p)) + reach / (p * (1 - p)))))


def test_out_of_bag_scores_are_those_of_out_of_bag_predictions(forest):
    table = forest.oob_scores
    assert table.index.name == "out of bag"
    times = np.sort(DATA["time"][DATA["event"]])
    until = max(t for t in times if (DATA["time"] >= t).mean() >= 0.1)
    grid = grid_until(DATA, until)
    assert len(grid) <= 102
    survival = forest.predict(type="survival", times=grid).to_numpy()
    expected = scores_by_hand(DATA, forest.predict().to_numpy(), survival, grid)
    np.testing.assert_allclose(table["estimate"], expected)
    half = 1.959964 * table["std_error"]
    ends = on_log_odds(table["estimate"], half)
    np.testing.assert_allclose(table["conf_high"][SHARES], ends[SHARES], rtol=1e-6)
    ratio, reach = 1 - table["estimate"]["explained"], half["explained"]
    high = 1 - ratio * np.exp(-reach / ratio)
    np.testing.assert_allclose(table["conf_high"]["explained"], high, rtol=1e-6)
    pd.testing.assert_frame_equal(table, forest.score())


def test_new_rows_are_scored_by_all_trees(forest):
    until = 1.0
    grid = grid_until(NEW, until)
    table = forest.score(NEW, until=until, level=0.5)
    assert table.index.name == "new"
    survival = forest.predict(NEW, type="survival", times=grid).to_numpy()
    expected = scores_by_hand(NEW, forest.predict(NEW).to_numpy(), survival, grid)
    np.testing.assert_allclose(table["estimate"], expected)
    half = 0.6744898 * table["std_error"]
    ends = on_log_odds(table["estimate"], -half)
    np.testing.assert_allclose(table["conf_low"][SHARES], ends[SHARES], rtol=1e-6)


def test_weights_count():
    weights = np.random.default_rng(1).integers(0, 3, len(DATA)).astype(float)
    fit = odrf.odrf(FORMULA, DATA, weights=weights, n_trees=20, seed=1)
    risk, used = fit.predict().to_numpy(), weights > 0
    found = fit.oob_scores.loc["harrell_c", "estimate"]
    time, event = DATA["time"].to_numpy(), DATA["event"].to_numpy()
    known = harrells_c(time[used], event[used], risk[used], weights[used])
    assert found == pytest.approx(known.estimate)


def test_a_forest_without_rows_out_of_bag_is_scored_by_training_rows():
    fit = odrf.odrf(FORMULA, DATA, resample="none", n_trees=3, seed=1)
    assert fit.score().index.name == "training"
    assert (fit.score() > fit.score(NEW)).loc["harrell_c":"uno_c", "estimate"].all()
    assert "Training Harrell's C" in repr(fit)
    for refused in (
        lambda: fit.oob_scores,
        lambda: fit.error_path,
        lambda: fit.importance("permutation"),
        lambda: fit.plot("error"),
    ):
        with pytest.raises(InputError, match='resample="none"'):
            refused()


def test_groups_are_the_units_of_errors():
    twice = pd.concat([DATA, DATA]).assign(unit=np.tile(np.arange(len(DATA)), 2))
    formula = "Surv(time, event) ~ . - unit"
    fit = odrf.odrf(formula, twice, groups="unit", n_trees=30, seed=1)
    alone = fit.score(twice.assign(unit=np.arange(len(twice))))
    together = fit.score(twice)
    np.testing.assert_allclose(together["estimate"], alone["estimate"])
    # a sum of two equal rows, and of n groups n / (n - 1) times the sum of squares
    factor = np.sqrt(2 * (150 / 149) / (300 / 299))
    np.testing.assert_allclose(together["std_error"], factor * alone["std_error"])


def test_one_cause_is_scored_alone():
    fit = odrf.odrf(FORMULA, CAUSES, n_trees=30, seed=1)
    first = fit.design.response.causes[0]
    table = fit.score(cause=first)
    assert list(table.index) == ["uno_c", "integrated_brier", "explained"]
    code = (CAUSES["event"].cat.codes).to_numpy().astype(np.int64)
    risk = fit.predict(cause=first).to_numpy()
    times = np.sort(CAUSES["time"][code == 1])
    until = max(t for t in times if (CAUSES["time"] >= t).mean() >= 0.1)
    tau = np.nextafter(until, np.inf)
    known = concordance_of_cause(CAUSES["time"].to_numpy(), code, risk, 1, tau)
    assert table.loc["uno_c", "estimate"] == pytest.approx(known.estimate)
    grid = np.unique([0.0, *times[times < until], until])
    incidence = fit.predict(type="incidence", times=grid, cause=first).to_numpy()
    score = brier_scores(CAUSES["time"].to_numpy(), code, incidence, grid, 1).integrated
    assert table.loc["integrated_brier", "estimate"] == pytest.approx(score.estimate)
    with pytest.raises(InputError, match="cause='none' is not known"):
        fit.score(cause="none")
    with pytest.raises(
        InputError, match=r"none of the .* validation rows has an event of the cause"
    ):
        fit.score(CAUSES[code != 1], cause=first)


def test_rows_that_enter_late_have_all_scores():
    late = DATA.assign(start=DATA["time"] / 3)
    fit = odrf.odrf("Surv(start, time, event) ~ .", late, n_trees=20, seed=1)
    table = fit.oob_scores
    assert list(table.index) == ["harrell_c", "uno_c", "integrated_brier", "explained"]
    risk = fit.predict().to_numpy()
    time, event, start = (late[name].to_numpy() for name in ("time", "event", "start"))
    rows = EvaluatedTimes(time, event.astype(int), np.ones(len(late)), "", start)
    since = rows.first_time()
    used = time > since
    lives = time[used], event[used], risk[used]
    given = {"start": np.maximum(start[used], since)}
    assert table.loc["harrell_c", "estimate"] == harrells_c(*lives, **given).estimate
    tau = np.nextafter(rows.last_time(), np.inf)
    assert table.loc["uno_c", "estimate"] == unos_c(*lives, tau, **given).estimate
    at = rows.given_none_before(since).grid(rows.last_time())
    survival = fit.predict(type="survival", times=at, training="out-of-bag").to_numpy()[used]
    survival = (
        survival / fit.predict(type="survival", times=since, training="out-of-bag").to_numpy()[used]
    )
    score = brier_scores(*lives[:2], 1 - survival, at, **given).integrated.estimate
    assert table.loc["integrated_brier", "estimate"] == pytest.approx(score)
    assert "Rows enter late: scores are given that no event has come by" in str(fit.summary())
    time = float(np.median(time))
    assert 0.5 < fit.roc(time).table.loc[time, "auc"] <= 1
    overall = fit.calibration(time, groups=2).overall
    assert abs(overall["predicted"] - overall["observed"]) < 0.1


def test_a_forest_that_no_event_evaluates_is_shown_without_scores():
    data = DATA.head(30).assign(event=np.arange(30) == 0)
    fit = odrf.odrf(FORMULA, data, n_trees=1, seed=1)
    assert "Harrell" not in repr(fit)
    assert "no row out of bag has an event" in fit.summary().as_text()
    assert "share" in fit.importance()
    with pytest.raises(InputError, match="give rows with events"):
        fit.score()


def test_nothing_is_explained_where_nothing_is_to_explain():
    data = DATA.assign(event=DATA["time"] == DATA["time"].max())
    assert np.isnan(
        odrf.odrf(FORMULA, data, n_trees=9, seed=1).score().loc["explained", "estimate"]
    )


def test_the_error_path_is_that_of_smaller_forests():
    options = {"blend": False, "seed": 1}
    path = odrf.odrf(FORMULA, DATA, n_trees=12, **options).error_path
    assert (path.index[0], path.index[-1]) == (1, 12)
    for trees in (2, 5, 12):
        small = odrf.odrf(FORMULA, DATA, n_trees=trees, **options)
        assert path[trees] == pytest.approx(1 - small.oob_scores.loc["harrell_c", "estimate"])


@pytest.mark.parametrize(
    ("call", "words"),
    [
        (lambda fit: fit.score(until=0), "until=0"),
        (lambda fit: fit.score(until=1e9), "the end of their observation"),
        (lambda fit: fit.score(level=1), "level=1"),
        (lambda fit: fit.score(NEW.drop(columns="x1")), "x1"),
        (lambda fit: fit.score(NEW.drop(columns="time")), "time"),
        (lambda fit: fit.score(NEW.assign(event=False)), "none of the 120 validation rows"),
        (lambda fit: fit.calibration("soon"), "time='soon'"),
        (lambda fit: fit.calibration(1.0, groups=0), "groups=0"),
        (lambda fit: fit.calibration(1.0, level=0), "level=0"),
        (lambda fit: fit.roc(-1.0), "time=-1.0"),
        (lambda fit: fit.roc(1.0).plot("area"), "kind='area'"),
        (lambda fit: fit.importance("split"), "type='split'"),
        (lambda fit: fit.importance("impurity", cause="event"), "cause= is for"),
        (lambda fit: fit.plot("tree"), "kind='tree'"),
        (lambda fit: fit.tree(40), "i=40"),
        (lambda fit: fit.grow(0), "k=0"),
        (lambda fit: fit.combine(fit), "count twice"),
        (lambda fit: fit.combine("forest"), "combine"),
        (lambda fit: fit.curves(NEW, times=[]), "times="),
        (lambda fit: fit.summary(detail="all"), "detail"),
    ],
)
def test_wrong_arguments_are_refused(forest, call, words):
    with pytest.raises(InputError) as error:
        call(forest)
    assert words in str(error.value)


def test_quantiles_and_times_may_be_a_series(forest):
    for type, name in (("quantile", "quantiles"), ("survival", "times")):
        listed = forest.predict(NEW[:3], type, **{name: [0.2, 0.6]})
        assert forest.predict(NEW[:3], type, **{name: pd.Series([0.2, 0.6])}).equals(listed)


# ------------------------------------------------------------------------------------------------
# Backward elimination of predictors of survival times.
# ------------------------------------------------------------------------------------------------

DATA_OF_SELECTION_OF_PREDICTORS = simulate.proportional_hazards(p=6, relevant=2).sample(150, seed=2)


@pytest.fixture(scope="module")
def forest_of_six():
    return odrf.odrf(FORMULA, DATA_OF_SELECTION_OF_PREDICTORS, n_trees=40, seed=1)


@pytest.fixture(scope="module")
def selections(forest_of_six):
    return {metric: forest_of_six.select_variables(metric=metric) for metric in ("auto", "uno_c")}


@pytest.mark.parametrize(
    ("metric", "words"), [("auto", "integrated Brier score"), ("uno_c", "1 - Uno's C")]
)
def test_steps_go_from_all_predictors_to_one(metric, words, selections, forest_of_six):
    steps = selections[metric]
    table = steps.table
    assert table["predictors"].tolist() == [6, 5, 4, 3, 2, 1]
    assert sorted([*table["dropped"].iloc[:-1], *steps.kept[-1]]) == [f"x{j}" for j in range(1, 7)]
    scores = forest_of_six.score()
    name = "uno_c" if metric == "uno_c" else "integrated_brier"
    estimate, std_error = scores.loc[name, ["estimate", "std_error"]]
    assert table["error"].iloc[0] == (1 - estimate if metric == "uno_c" else estimate)
    assert table["std_error"].iloc[0] == std_error
    assert f"OOB {words}" in str(steps.summary())
    assert steps.plot().get_ylabel() == f"out-of-bag {words}"
    assert set(steps.kept[4]) == {"x1", "x2"}


def test_the_first_to_go_is_least_important(selections, forest_of_six):
    table = forest_of_six.importance()
    assert selections["uno_c"].table["dropped"].iloc[0] == table["importance"].idxmin()
    assert selections["auto"].table["dropped"].iloc[0] == table["brier_rise"].idxmin()


def test_the_best_step_is_grown_again(selections, forest_of_six):
    steps = selections["auto"]
    best = steps.best("min")
    assert type(best) is SurvivalForestResults
    assert list(best.design.predictors) == steps.selected("min")
    row = steps.table.iloc[steps.row("min")]
    assert best.score().loc["integrated_brier", "estimate"] == row["error"]
    formula = f"Surv(time, event) ~ {' + '.join(steps.selected('min'))}"
    again = odrf.odrf(formula, DATA_OF_SELECTION_OF_PREDICTORS, n_trees=40, seed=1)
    assert best.predict(DATA_OF_SELECTION_OF_PREDICTORS, type="survival").equals(
        again.predict(DATA_OF_SELECTION_OF_PREDICTORS, type="survival")
    )
    assert "select_variables().best('min')" in best.call
    assert pickle.loads(pickle.dumps(steps)).table.equals(steps.table)


def test_predictors_that_tell_something_beat_permuted_copies(forest_of_six):
    found = forest_of_six.select_variables("boruta", rounds=11)
    assert sorted(found.selected()) == ["x1", "x2"]
    assert (found.table["hits"][["x1", "x2"]] == found.table["rounds"][["x1", "x2"]]).all()
    assert (found.table["decision"].drop(["x1", "x2"]) != "confirmed").all()
    assert found.summary().facts["Loss"] == "integrated Brier score"
    again, known = (
        forest_of_six.select_variables("boruta", rounds=k, metric="uno_c") for k in (1, 1)
    )
    assert again.table.equals(known.table)
    assert again.summary().facts["Loss"] == "1 - Uno's C"
    small = found.best()
    assert type(small) is SurvivalForestResults
    assert sorted(small.design.predictors) == ["x1", "x2"]
    assert "select_variables('boruta').best()" in small.call
    assert pickle.loads(pickle.dumps(found)).table.equals(found.table)


def test_copies_of_predictors_of_several_causes_and_late_rows():
    data = simulate.competing_risks(p=4).sample(150, seed=1)
    causes = odrf.odrf(FORMULA, data, n_trees=10, seed=1)
    assert causes.select_variables("boruta", rounds=3).rounds == 3
    late = DATA_OF_SELECTION_OF_PREDICTORS.assign(start=DATA_OF_SELECTION_OF_PREDICTORS["time"] / 2)
    forest = odrf.odrf("Surv(start, time, event) ~ x1 + x6", late, n_trees=10, seed=1)
    found = forest.select_variables("boruta", rounds=10)
    assert found.table.loc["x1", "hits"] > found.table.loc["x6", "hits"]


def test_rows_that_enter_late_and_groups():
    late = DATA_OF_SELECTION_OF_PREDICTORS.assign(
        start=DATA_OF_SELECTION_OF_PREDICTORS["time"] / 2, unit=np.arange(150) // 3
    )
    forest = odrf.odrf(
        "Surv(start, time, event) ~ x1 + x2 + x3", late, groups="unit", n_trees=20, seed=1
    )
    steps = forest.select_variables()
    line = forest.score().loc["integrated_brier"]
    assert steps.table["error"].iloc[0] == line["estimate"]
    assert steps.table["std_error"].iloc[0] == line["std_error"]
    for metric in ("uno_c", "harrell_c"):
        steps = forest.select_variables(metric=metric)
        assert steps.table["error"].iloc[0] == 1 - forest.score().loc[metric, "estimate"]


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"method": "knockoff", "rounds": 9}, "rounds"),
        ({"method": "knockoff", "fdr": 2}, "fdr"),
        ({"fdr": 0.2}, 'method="knockoff"'),
        ({"method": "boruta", "rounds": 0}, "rounds=0"),
        ({"method": "forward"}, "method='forward' is not known"),
        ({"method": np.array(["backward"])}, "is not known"),
        ({"metric": "mse"}, "metric='mse' is not known"),
        ({"drop": 1}, "drop"),
    ],
)
def test_refusals(options, message, forest):
    with pytest.raises(InputErrorSelectionOfPredictors, match=message):
        forest.select_variables(**options)


def test_trees_of_all_rows_are_refused():
    forest = odrf.odrf(FORMULA, DATA_OF_SELECTION_OF_PREDICTORS, resample="none", n_trees=3, seed=1)
    with pytest.raises(InputErrorSelectionOfPredictors, match="Selections of variables need"):
        forest.select_variables()
