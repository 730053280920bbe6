"""Stacks of several models as estimators: what they can do as the others do, and what not."""

from __future__ import annotations

import pickle

import numpy as np
import pandas as pd
import pytest
import sklearn
from sklearn.base import clone
from sklearn.feature_selection import SelectFromModel
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

import odrf
from odrf.errors import InputError
from odrf.sklearn import AutoClassifier, AutoRegressor, ODRFRegressor
from odrf.sklearn.inputs import with_threads

HOW = {"n_trees": 20, "random_state": 1}
HURRIED = {**HOW, "budget": 1e-9}
PREDICTORS = ["a", "b", "f"]


@pytest.fixture(name="X")
def predictors(table):
    return table[PREDICTORS]


def with_holes(table):
    return table.assign(a=table["a"].mask(np.arange(120) % 7 == 0))


@pytest.mark.usefixtures("quick_stacks")
def test_factors_empty_cells_and_class_weights_are_those_of_the_function(table):
    holes = with_holes(table)
    how = {"n_trees": 20, "class_weights": "balanced"}
    stack = AutoClassifier(random_state=1, **how).fit(holes[PREDICTORS], holes["c"])
    fit = odrf.auto("c ~ a + b + f", holes, seed=1, **how)
    found = stack.predict_proba(holes[PREDICTORS])
    assert (found == fit.predict(holes, "prob").to_numpy()).all()
    again = clone(fit.to_sklearn()).fit(holes[PREDICTORS], holes["c"])
    assert (again.predict_proba(holes[PREDICTORS]) == found).all()


@pytest.mark.usefixtures("quick_stacks")
def test_sample_weights_are_those_of_the_function(X, table):
    weights = 1.0 + np.arange(120) % 3
    stack = AutoRegressor(**HOW).fit(X, table["y"], sample_weight=weights)
    fit = odrf.auto("y ~ a + b + f", table, weights=weights, n_trees=20, seed=1)
    assert (stack.predict(X) == fit.predict(table).to_numpy()).all()


@pytest.mark.usefixtures("quick_stacks")
def test_groups_are_a_column_that_comes_back(X, table):
    grouped = table.assign(unit=np.arange(120) // 4)
    fit = odrf.auto("y ~ a + b + f", grouped, groups="unit", n_trees=20, budget=99.0, seed=1)
    stack = fit.to_sklearn()
    assert stack.get_params() == {
        **AutoRegressor().get_params(), "n_trees": 20, "groups": "unit", "budget": 99.0,
        "random_state": 1,
    }  # fmt: skip
    assert stack.feature_names_in_.tolist() == [*PREDICTORS, "unit"]
    new = grouped[[*PREDICTORS, "unit"]]
    assert (stack.predict(new) == fit.predict(grouped).to_numpy()).all()
    again = clone(stack).fit(new, table["y"])
    assert again.results_.part("forest").predict(new).equals(fit.part("forest").predict(new))


@pytest.mark.usefixtures("quick_stacks")
def test_ordered_classes_stay_ordered(X, table):
    y = pd.Series(pd.Categorical(table["c"], ["top", "mid", "low"], ordered=True), table.index)
    stack = AutoClassifier(**HURRIED).fit(X, y)
    assert stack.classes_.tolist() == ["low", "mid", "top"]
    assert stack.results_.classes.tolist() == ["top", "mid", "low"]
    assert (stack.predict(X) == np.asarray(stack.results_.predict(table))).all()


@pytest.mark.usefixtures("quick_stacks")
def test_a_saved_stack_becomes_an_estimator(X, table, tmp_path):
    fit = odrf.auto("c ~ a + b + f", table, n_trees=20, seed=1)
    fit.save(tmp_path / "fit", data=False)
    stack = odrf.load(tmp_path / "fit").to_sklearn()
    assert (stack.predict_proba(X) == fit.predict(table, "prob").to_numpy()).all()
    assert repr(stack) == "AutoClassifier(n_trees=20, random_state=1)"


@pytest.mark.usefixtures("quick_stacks")
def test_threads_of_all_models_follow(X, table):
    stack = AutoRegressor(n_jobs=2, **HOW).fit(X, table["y"])
    before, results = stack.predict(X), stack.results_
    assert (stack.set_params(n_jobs=1).predict(X) == before).all()
    assert stack.results_ is results
    alone = with_threads(results, 1).fit
    assert [fit.control.n_jobs for fit in (alone, *alone.grown.values())] == [1] * 4
    assert [part.name for part in alone.parts] == [part.name for part in results.fit.parts]


@pytest.mark.usefixtures("quick_stacks")
def test_importances_are_shares_of_those_above_0():
    rng = np.random.default_rng(3)
    X = pd.DataFrame(rng.normal(size=(120, 6)), columns=list("abcdef"))
    stack = AutoRegressor(**HURRIED).fit(X, rng.normal(size=120) + 0.3 * X["a"])
    signed, found = stack.results_.importance()["importance"], stack.feature_importances_
    assert signed.min() < 0 == found.min()
    assert found.sum() == pytest.approx(1)
    assert not hasattr(AutoRegressor(), "feature_importances_")
    chosen = SelectFromModel(stack, prefit=True, threshold="mean").get_support()
    assert chosen.tolist() == (found >= 1 / 6).tolist()


@pytest.mark.usefixtures("quick_stacks")
def test_pipeline_grid_search_and_pickle(table):
    numbers = table[["a", "b"]]
    model = make_pipeline(StandardScaler(), AutoRegressor(**HURRIED))
    search = GridSearchCV(model, {"autoregressor__missing": ["split", "median"]}, cv=2)
    search.fit(numbers, table["y"])
    assert search.predict(numbers).shape == (120,)
    stack = AutoClassifier(**HOW).fit(table[PREDICTORS], table["c"])
    again = pickle.loads(pickle.dumps(stack))
    found = again.predict_proba(table[PREDICTORS])
    assert (found == stack.predict_proba(table[PREDICTORS])).all()
    assert clone(stack).get_params() == stack.get_params()


@pytest.mark.usefixtures("quick_stacks")
def test_weights_are_routed(X, table):
    weights = np.arange(120) % 4
    with sklearn.config_context(enable_metadata_routing=True):
        stack = AutoClassifier(**HURRIED)
        stack.set_fit_request(sample_weight=True).set_score_request(sample_weight=True)
        scores = cross_val_score(stack, X, table["c"], cv=2, params={"sample_weight": weights})
    assert (scores > 0.6).all()


@pytest.mark.usefixtures("quick_stacks")
@pytest.mark.parametrize("kind", [AutoClassifier, AutoRegressor])
def test_what_one_forest_can_do_is_left_to_its_forest(kind, X, table):
    for name in ("apply", "decision_path", "partial_fit", "predict_quantiles"):
        assert not hasattr(kind(), name)
    with pytest.raises(InputError, match="has no argument 'warm_start'"):
        kind(warm_start=True)
    stack = kind(**HURRIED).fit(X, table["c" if kind is AutoClassifier else "y"])
    forest = stack.results_.part("forest").to_sklearn()
    assert forest.apply(X).shape == (120, 20)
    assert (forest.predict(X) == stack.predict(X)).all()


@pytest.mark.usefixtures("quick_stacks")
@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"n_trees": 5}, "n_trees=5"),
        ({"budget": "soon"}, "budget='soon'.*seconds above 0"),
        ({"missing": "surrogate"}, "surrogate"),
        ({"groups": np.arange(120)}, "groups= must be the name of a column of X"),
    ],
)
def test_errors_are_those_of_the_function(options, message, X, table):
    with pytest.raises(InputError, match=message):
        AutoRegressor(**options).fit(X, table["y"])


# ------------------------------------------------------------------------------------------------
# Estimators that go on from an earlier fit, after errors, interrupts and further rows.
# ------------------------------------------------------------------------------------------------


@pytest.fixture
def warm(table):
    forest = ODRFRegressor(n_trees=4, warm_start=True, random_state=1)
    return forest.fit(table[PREDICTORS], table["y"])


def test_after_an_interrupt_the_missing_trees_are_grown(warm, table, monkeypatch):
    def interrupted(*_, **__):
        raise KeyboardInterrupt

    X, y = table[PREDICTORS], table["y"]
    with monkeypatch.context() as patched:
        patched.setattr(type(warm.results_), "grow", interrupted)
        with pytest.raises(KeyboardInterrupt):
            warm.set_params(n_trees=8).fit(X, y)
    assert warm.fit(X, y).results_.forest.n_trees == 8


def test_options_that_were_refused_once_are_refused_again(warm, table):
    X, y = table[PREDICTORS], table["y"]
    warm.set_params(warm_start=False).fit(X, y).set_params(warm_start=True, min_leaf=-1)
    for _ in range(2):
        with pytest.raises(InputError, match="min_leaf=-1"):
            warm.fit(X, y)


def test_a_warm_start_does_not_keep_rows_of_partial_fit(warm, table):
    X, y = table[PREDICTORS], table["y"]
    warm.fit(X, y).partial_fit(X[:20], y[:20])
    assert warm.results_.nobs == 140
    assert warm.fit(X, y).results_.nobs == 120


def test_a_warm_start_goes_on_from_the_default_number_of_trees(table):
    X, y = table[PREDICTORS][:40], table["y"][:40]
    warm = ODRFRegressor(warm_start=True, random_state=1).fit(X, y)
    assert warm.get_params()["n_trees"] is None and warm.results_.forest.n_trees == 500
    first = warm.results_
    assert warm.fit(X, y).results_ is first
    assert warm.set_params(n_trees=503).fit(X, y).results_.forest.n_trees == 503
    with pytest.raises(InputError, match=r"^n_trees=500: with warm_start=True .* below the 503"):
        warm.set_params(n_trees=None).fit(X, y)


@pytest.mark.parametrize(
    "options", [{"n_trees": "9"}, {"n_trees": 9, "backend": "dusk"}], ids=["n_trees", "backend"]
)
def test_a_warm_start_checks_what_may_change(warm, table, options):
    with pytest.raises(InputError, match=f"^{list(options)[-1]}="):
        warm.set_params(**options).fit(table[PREDICTORS], table["y"])
