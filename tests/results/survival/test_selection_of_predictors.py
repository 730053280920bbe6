"""Backward elimination of predictors of times to an event."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import odrf
from odrf import InputError, simulate
from odrf.results.survival.forest import SurvivalForestResults

DATA = simulate.proportional_hazards(p=6, relevant=2).sample(150, seed=2)
FORMULA = "Surv(time, event) ~ ."


@pytest.fixture(scope="module", name="forest")
def grown():
    return odrf.odrf(FORMULA, DATA, n_trees=40, seed=1)


@pytest.fixture(scope="module")
def selections(forest):
    return {metric: forest.select_variables(metric=metric) for metric in ("auto", "uno_c")}


@pytest.mark.parametrize(
    ("metric", "words"), [("auto", "integrated Brier score"), ("uno_c", "1 - Uno's C")]
)
def test_steps_go_from_all_predictors_to_one(metric, words, selections, forest):
    steps = selections[metric]
    table = steps.table
    assert table["predictors"].tolist() == [6, 5, 4, 3, 2, 1]
    assert sorted([*table["dropped"].iloc[:-1], *steps.kept[-1]]) == [f"x{j}" for j in range(1, 7)]
    scores = forest.score()
    name = "uno_c" if metric == "uno_c" else "integrated_brier"
    estimate, std_error = scores.loc[name, ["estimate", "std_error"]]
    assert table["error"].iloc[0] == (1 - estimate if metric == "uno_c" else estimate)
    assert table["std_error"].iloc[0] == std_error
    assert f"OOB {words}" in str(steps.summary())
    assert steps.plot().get_ylabel() == f"out-of-bag {words}"
    assert set(steps.kept[4]) == {"x1", "x2"}


def test_the_first_to_go_is_least_important(selections, forest):
    table = forest.importance()
    assert selections["uno_c"].table["dropped"].iloc[0] == table["importance"].idxmin()
    assert selections["auto"].table["dropped"].iloc[0] == table["brier_rise"].idxmin()


def test_the_best_step_is_grown_again(selections, forest):
    steps = selections["auto"]
    best = steps.best("min")
    assert type(best) is SurvivalForestResults
    assert list(best.design.predictors) == steps.selected("min")
    row = steps.table.iloc[steps.row("min")]
    assert best.score().loc["integrated_brier", "estimate"] == row["error"]
    formula = f"Surv(time, event) ~ {' + '.join(steps.selected('min'))}"
    again = odrf.odrf(formula, DATA, n_trees=40, seed=1)
    assert best.predict(DATA, type="survival").equals(again.predict(DATA, type="survival"))
    assert "select_variables().best('min')" in best.call
    assert pickle.loads(pickle.dumps(steps)).table.equals(steps.table)


def test_predictors_that_tell_something_beat_permuted_copies(forest):
    found = forest.select_variables("boruta", rounds=11)
    assert sorted(found.selected()) == ["x1", "x2"]
    assert (found.table["hits"][["x1", "x2"]] == found.table["rounds"][["x1", "x2"]]).all()
    assert (found.table["decision"].drop(["x1", "x2"]) != "confirmed").all()
    assert found.summary().facts["Loss"] == "integrated Brier score"
    again, known = (forest.select_variables("boruta", rounds=k, metric="uno_c") for k in (1, 1))
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
    late = DATA.assign(start=DATA["time"] / 2)
    forest = odrf.odrf("Surv(start, time, event) ~ x1 + x6", late, n_trees=10, seed=1)
    found = forest.select_variables("boruta", rounds=10)
    assert found.table.loc["x1", "hits"] > found.table.loc["x6", "hits"]


def test_rows_that_enter_late_and_groups():
    late = DATA.assign(start=DATA["time"] / 2, unit=np.arange(150) // 3)
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
        ({"method": "knockoff"}, 'is for forests of numbers and classes: use method="boruta"'),
        ({"method": "boruta", "rounds": 0}, "rounds=0"),
        ({"method": "forward"}, "method='forward' is not known"),
        ({"method": np.array(["backward"])}, "is not known"),
        ({"metric": "mse"}, "metric='mse' is not known"),
        ({"drop": 1}, "drop"),
    ],
)
def test_refusals(options, message, forest):
    with pytest.raises(InputError, match=message):
        forest.select_variables(**options)


def test_trees_of_all_rows_are_refused():
    forest = odrf.odrf(FORMULA, DATA, resample="none", n_trees=3, seed=1)
    with pytest.raises(InputError, match="Selections of variables need"):
        forest.select_variables()
