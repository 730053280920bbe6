"""Studies of models of times to an event: folds, metrics, and what cannot be compared."""

from __future__ import annotations

from functools import partial

import numpy as np
import pandas as pd
import pytest
from sklearn.ensemble import RandomForestRegressor
from sklearn.model_selection import StratifiedKFold

import odrf
from odrf import InputError, compare, learning_curve, simulate, tune
from odrf.evaluation.metrics import METRICS, times_to_score
from odrf.sklearn import ODRFSurvival
from odrf.statistics.survival.discrimination import harrells_c, unos_c
from odrf.statistics.survival.observation import censoring_curve
from odrf.statistics.survival.scores import brier_scores

FORMULA = "Surv(time, event) ~ ."
PROBLEM = simulate.proportional_hazards(p=3, relevant=2)
DATA = PROBLEM.sample(150, seed=1)
TIME, EVENT = DATA["time"].to_numpy(), DATA["event"].to_numpy()
forest = partial(odrf.odrf, n_trees=10)


class Mean:
    """A model that predicts the same for all rows, and remembers what it was asked."""

    fits: list[Mean] = []  # noqa: RUF012 - of all copies

    def __init__(self, formula, data):
        self.train = data
        Mean.fits.append(self)

    def predict(self, newdata, type="risk", times=None):
        self.test, self.times = newdata, times
        one = np.full(len(newdata), 0.5)
        return one if type == "risk" else np.outer(one, np.exp(-times))


@pytest.fixture
def watched():
    Mean.fits.clear()
    return Mean.fits


def study(metric, models, **options):
    return compare(FORMULA, DATA, models, cv=3, metric=metric, seed=1, n_jobs=1, **options)


def test_folds_are_stratified_by_event(watched):
    study("uno_c", {"one": Mean, "two": Mean})
    events = [fit.test["event"].sum() for fit in watched]
    assert max(events) - min(events) <= 1
    assert 0 < EVENT.sum() < 150
    watched.clear()
    study("uno_c", {"one": Mean, "two": Mean}, strata=np.arange(150) % 5)
    events = [fit.test["event"].sum() for fit in watched]
    assert max(events) - min(events) <= 5


def test_scores_are_those_of_the_functions_with_weights_of_the_whole_table(watched):
    models = {"one": forest, "two": Mean}
    scores = {name: study(name, models).scores for name in ("integrated_brier", "uno_c")}
    scores["harrell_c"] = study("harrell_c", models).scores
    assert (scores["uno_c"]["two"] == 0.5).all()
    assert (scores["uno_c"]["one"] > 0.5).all()
    censoring = censoring_curve(TIME, EVENT)
    at_risk = (np.unique(TIME[EVENT])[:, np.newaxis] <= TIME).mean(axis=1)
    until = np.unique(TIME[EVENT])[at_risk >= 0.1][-1]
    for number, fit in enumerate(watched[:3]):
        time, event = fit.test["time"].to_numpy(), fit.test["event"].to_numpy()
        assert fit.times[0] == 0
        assert fit.times[-1] == until
        survival = 0.5 * np.exp(-np.tile(fit.times, (len(time), 1)))
        found = brier_scores(time, event, 1 - survival, fit.times, observed=censoring)
        assert scores["integrated_brier"]["two"].iloc[number] == found.integrated.estimate
    for number, fit in enumerate(watched[3:6]):
        time, event = fit.test["time"].to_numpy(), fit.test["event"].to_numpy()
        grown = forest(FORMULA, fit.train, seed=seed_of(number))
        risk = grown.predict(fit.test).to_numpy()
        tau = np.nextafter(until, np.inf)
        assert scores["uno_c"]["one"].iloc[number] == pytest.approx(
            unos_c(time, event, risk, tau, observed=censoring).estimate
        )
        assert scores["harrell_c"]["one"].iloc[number] == pytest.approx(
            harrells_c(time, event, risk).estimate
        )


def seed_of(number):
    """The seed of the models of a fold of the only repeat."""
    return int(np.random.SeedSequence(1, spawn_key=(0, 0)).generate_state(3)[number])


def test_the_default_metric_needs_curves_and_less_is_better():
    found = study("auto", {"one": forest, "two": "Surv(time, event) ~ x1"})
    assert found.metric is METRICS["integrated_brier"]
    assert "integrated Brier score" in str(found.summary())
    assert (found.table["estimate"].diff().dropna() > 0).all()


def test_an_own_function_gets_times_events_and_risks():
    def late(observed, risk):
        assert list(observed.columns) == ["time", "event"]
        assert observed["event"].dtype == bool
        return -float(np.corrcoef(observed["time"], risk)[0, 1])

    assert np.isfinite(study(late, {"one": forest, "two": odrf.odt}).scores.to_numpy()).all()


def test_estimators_take_a_structured_array():
    models = {"one": ODRFSurvival(n_trees=10), "two": forest}
    for metric in ("integrated_brier", "uno_c"):
        scores = study(metric, models).scores
        assert scores["one"].tolist() == pytest.approx(scores["two"].tolist(), abs=0.1)
    with pytest.raises(InputError, match=r"has no predict_survival_function.*uno_c"):
        study("auto", {"one": RandomForestRegressor(), "two": forest})
    with pytest.raises(InputError, match="must take these as a structured array"):
        study("uno_c", {"one": RandomForestRegressor(), "two": forest})


def test_rows_that_enter_late():
    data = DATA.assign(start=TIME / 3)
    late = partial(compare, "Surv(start, time, event) ~ .", data, cv=3, seed=1)
    models = {"one": forest, "two": ODRFSurvival(n_trees=10)}
    assert (late(models, metric="harrell_c").scores > 0.5).to_numpy().all()
    assert (late(models, metric="uno_c").scores > 0.5).to_numpy().all()
    # not much worse than a constant that knows nothing
    assert (late(models).scores < 0.3).to_numpy().all()
    tuning = tune(
        "Surv(start, time, event) ~ .", data, {"min_leaf": [2, 5]}, n_trees=10, seed=1,
        metric="uno_c",
    )  # fmt: skip
    assert (tuning.table["score"] > 0.5).all()


def test_splitters_see_events():
    found = compare(FORMULA, DATA, {"one": forest, "two": odrf.odt}, cv=StratifiedKFold(3), seed=1)
    assert found.scores.shape == (3, 2)


@pytest.mark.parametrize("metric", ["integrated_brier", "uno_c", "harrell_c"])
def test_candidates_are_judged_out_of_bag_as_by_score(metric):
    how = {"n_trees": 20, "seed": 1}
    tuning = tune(FORMULA, DATA, {"min_leaf": [2, 30]}, metric=metric, **how)
    fits = {leaf: odrf.odrf(FORMULA, DATA, min_leaf=leaf, **how) for leaf in (2, 30)}
    column = "error" if metric == "integrated_brier" else "score"
    for _, line in tuning.table.iterrows():
        expected = fits[int(line["min_leaf"])].score().loc[metric]
        assert line[column] == expected["estimate"]
        assert line["std_error"] == expected["std_error"]
    best = tuning.table.iloc[0]
    assert (tuning.table[column] * METRICS[metric].sign).min() == best[column] * METRICS[
        metric
    ].sign
    assert tuning.best().predict().equals(fits[int(best["min_leaf"])].predict())


def test_candidates_are_judged_by_folds():
    grid = {"max_leaves": [2, 6]}
    tuning = tune(FORMULA, DATA, grid, model=odrf.odt, method="cv", cv=3, alpha=None, seed=1)
    assert tuning.table["error"].notna().all()
    runs = tune(FORMULA, DATA, {"max_depth": [1, 3]}, model=odrf.odbt, n_runs=3, n_trees=5, seed=1)
    assert len(runs.table) == 2


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"model": odrf.odt}, 'needs out-of-bag rows.*method="cv"'),
        ({"metric": lambda observed, risk: 1.0}, 'lambda.*is a function.*\'?"integrated_brier"'),
        ({"metric": "mse"}, "metric='mse' does not go with a time to an event: use one of 'integ"),
    ],
)
def test_what_cannot_be_judged_out_of_bag(options, message):
    with pytest.raises(InputError, match=message):
        tune(FORMULA, DATA, {"min_leaf": [2, 5]}, seed=1, **options)


def test_learning_curves():
    models = {"one": forest, "two": Mean}
    curve = learning_curve(FORMULA, DATA, models, sizes=[20, 60, 110], repeats=2, seed=1)
    assert (curve.table["error"] > 0).all()
    with pytest.raises(InputError, match="smaller is better"):
        learning_curve(FORMULA, DATA, models, metric="uno_c", seed=1)


def test_responses_of_different_kinds_are_told_apart():
    models = {"one": odrf.odt, "two": forest}
    tables = {"times": (FORMULA, DATA), "numbers": ("x1 ~ x2", DATA)}
    with pytest.raises(InputError, match="a number in table 'numbers' and a time to an event in"):
        compare(None, tables, models)
    with pytest.raises(InputError, match="has another response"):
        compare(FORMULA, DATA, {"one": "time ~ x1", "two": forest})
    with pytest.raises(InputError, match="'uno_c' does not go with a regression: use one of 'mse'"):
        compare("x1 ~ x2", DATA, models, metric="uno_c")
    with pytest.raises(InputError, match="'auc' does not go with a time to an event"):
        compare(FORMULA, DATA, models, metric="auc")


def test_a_survival_of_other_times_is_refused():
    class Short(Mean):
        def predict(self, newdata, type="risk", times=None):
            return np.ones((len(newdata), 3))

    with pytest.raises(InputError, match=r"3 columns for .* times"):
        study("auto", {"one": Short, "two": forest})


def test_folds_without_events_to_train_on_are_refused():
    data = DATA.assign(event=np.arange(150) < 50)
    with pytest.raises(InputError, match=r"training rows of fold 1 have no events.*cv="):
        compare(FORMULA, data, {"one": forest, "two": odrf.odt}, cv=(np.arange(150) >= 50) * 1)


def test_what_has_no_bias_and_variance_says_so():
    with pytest.raises(InputError, match="no bias and variance: compare models by compare"):
        odrf.bias_variance(PROBLEM, forest, 50)
    with pytest.raises(InputError, match=r"is a time to an event.*compare\(\), tune\(\)"):
        odrf.bias_variance((FORMULA, DATA), forest, 50)


@pytest.mark.parametrize("function", [odrf.graf, odrf.auto])
def test_functions_that_do_not_take_times_name_those_that_do(function):
    with pytest.raises(InputError, match=r"is a time to an event.*use odt\(\), odrf\(\) or odbt"):
        function(FORMULA, DATA)


@pytest.mark.parametrize("function", [odrf.odt, odrf.odrf])
def test_rows_in_chunks_are_refused(function):
    with pytest.raises(InputError, match="a data frame in memory"):
        function(FORMULA, odrf.Chunks([DATA[:70], DATA[70:]]))


def test_the_table_has_one_last_time():
    observed = times_to_score_of(DATA)
    half = observed.keeping(np.arange(0, 150, 2))
    assert half.until == observed.until
    assert half.at is observed.at
    assert half.frame().equals(DATA[::2][["time", "event"]].reset_index(drop=True))


def times_to_score_of(data: pd.DataFrame):
    return times_to_score(odrf.odrf(FORMULA, data, n_trees=1, seed=1).fit.data.times)
