"""Tuning: every candidate evaluated as the model itself would be."""

from __future__ import annotations

import pickle
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.evaluation.metrics import METRICS, metric_for, out_of_bag_score


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(2)
    frame = pd.DataFrame(rng.random((150, 3)), columns=list("abc"))
    frame["y"] = frame.a + 2 * frame.b + rng.normal(size=150) / 4
    frame["side"] = np.where(frame.y > 1.5, "over", "below")
    return frame


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


GRID = {"min_leaf": [1, 40], "projection": ["axis", "least_squares"]}


def folds_of(method):
    """Return the arguments that ask for folds; out of bag there are none."""
    return {"cv": 3} if method == "cv" else {}


@pytest.mark.parametrize("formula", ["y ~ a + b + c", "side ~ a + b + c"])
def test_all_combinations_are_evaluated_out_of_bag(data, formula):
    found = odrf.tune(formula, data, GRID, n_trees=9, seed=4)
    assert len(found.table) == 4
    assert found.options == ["min_leaf", "projection"]
    assert found.table["error"].is_monotonic_increasing
    for _, line in found.table.iterrows():
        options = {name: line[name] for name in GRID}
        forest = odrf.odrf(formula, data, n_trees=9, seed=4, **options)
        assert line["error"] == pytest.approx(forest.oob_error)
    assert found.best_options == {name: found.table[name].iloc[0] for name in GRID}
    assert found.best().oob_error == pytest.approx(found.table["error"].iloc[0])
    assert found.best().control.min_leaf == found.best_options["min_leaf"]


def test_trees_are_evaluated_by_folds(data):
    grid = [{"min_leaf": 5}, {"min_leaf": 20, "projection": "axis"}]
    found = odrf.tune("y ~ a + b", data, grid, model=odrf.odt, method="cv", cv=4, seed=3)
    again = odrf.tune("y ~ a + b", data, grid, model=odrf.odt, method="cv", cv=4, seed=3)
    assert found.table.equals(again.table)
    comparison = odrf.compare(
        "y ~ a + b",
        data,
        {str(i): partial(odrf.odt, seed=3, **options) for i, options in enumerate(grid)},
        cv=4,
        seed=3,
    )
    for i, line in found.table.iterrows():
        assert line["error"] == comparison.table["estimate"][str(i)]
    assert found.table["projection"][0] == "logistic"  # the default, which the first leaves
    assert "4-fold" in str(found.summary())


@pytest.mark.parametrize("method", ["oob", "cv"])
def test_options_are_chosen_on_a_table_with_empty_cells(data, method):
    holes = data.mask(np.random.default_rng(4).random(data.shape) < 0.1)
    grid = {"missing": ["split", "median"], "min_leaf": [2, 20]}
    tuning = odrf.tune(
        "y ~ a + b", holes, grid, method=method, **folds_of(method), n_trees=20, seed=1
    )
    assert np.isfinite(tuning.table["error"]).all() and len(tuning.table) == 4


def test_halving_lets_the_better_half_go_on(data, monkeypatch):
    monkeypatch.setattr("odrf.evaluation.tuning.FEWEST_TREES", 15)
    grid = {"min_leaf": [1, 5, 20, 60, 100], "max_depth": [1, 2, 3, 4]}
    options = {"n_trees": 60, "blend": False, "projection": "axis", "max_leaves": 4, "seed": 1}
    found = odrf.tune("y ~ a + b", data, grid, **options)
    counts = found.table["trees"].value_counts().to_dict()
    assert counts == {15: 10, 30: 5, 60: 5}
    assert found.table["trees"].is_monotonic_decreasing
    last = found.table[found.table["trees"] == 60]
    assert last["error"].is_monotonic_increasing
    whole = odrf.tune("y ~ a + b", data, grid, halving=False, **options)
    assert "trees" not in whole.table
    assert whole.table["error"].iloc[0] <= last["error"].iloc[0]
    assert found.best().forest.n_trees == 60


def test_rounds_of_halving_end_with_the_default_number_of_trees(data):
    options = {"blend": False, "projection": "axis", "max_leaves": 2, "seed": 1, "halving": True}
    for inference, most in ((False, 500), (True, 4000)):
        how = {} if not inference else {"inference": True}
        found = odrf.tune("y ~ a", data[:40], {"min_leaf": [1, 5]}, **how, **options)
        assert found.table["trees"].max() == most == found.best().forest.n_trees


def test_functions_of_the_user_in_formulas(data):
    def doubled(column):
        return 2 * column

    for method in ("oob", "cv"):
        found = odrf.tune(
            "y ~ doubled(a) + b",
            data,
            {"min_leaf": [2, 9]},
            method=method,
            **folds_of(method),
            n_trees=5,
        )
        assert found.best().design.predictors == ("doubled(a)", "b")


def test_summary_and_drawings(data):
    one = odrf.tune("y ~ a", data, {"min_leaf": [1, 10, 100]}, n_trees=9)
    text = str(one.summary())
    assert f"Best: min_leaf={one.best_options['min_leaf']}." in text
    assert "mean squared error" in text
    ax = one.plot()
    assert ax.get_xlabel() == "min_leaf"
    assert ax.get_xscale() == "log"
    curve = ax.lines[-2]
    assert curve.get_xdata().tolist() == [1, 10, 100]
    two = odrf.tune("y ~ a + b", data, GRID, n_trees=9)
    labels = [text.get_text() for text in two.plot().get_yticklabels()]
    assert labels[0].split() == list(two.best_options)
    assert labels[1].split() == [str(value) for value in two.best_options.values()]
    switch = odrf.tune("y ~ a + b", data, {"blend": [True, False]}, n_trees=20)
    assert switch.plot().get_yticklabels()[0].get_text().split() == ["blend"]
    assert repr(one).startswith("Tuning of 3 candidates")


@pytest.mark.parametrize(
    ("grid", "options", "message"),
    [
        ({}, {}, "grid holds 1 combination of options: name at least one option"),
        ([], {}, "grid holds 0 combinations"),
        ({"minleaf": [1]}, {}, "grid names 'minleaf', .*did you mean 'min_leaf'"),
        ({"min_leaf": [3]}, {}, "grid holds 1 combination"),
        ({"min_leaf": 3}, {}, r"grid\['min_leaf'\]=3: use a list"),
        ({"projection": "axis"}, {}, r"grid\['projection'\]='axis': use a list"),
        ({"min_leaves": [1, 2]}, {}, "'min_leaves', which is no option to try; did you mean"),
        ({"seed": [1, 2]}, {}, "'seed', which is no option to try: give it to tune"),
        ({"qwxz": [1, 2]}, {}, "'qwxz', which is no option to try: use some of n_trees, "),
        ({"min_leaf": [1, 2]}, {"min_leaf": 3}, "'min_leaf' is in grid and fixed as well"),
        ({"min_leaf": [1, 2]}, {"method": "boot"}, "method='boot' is not known"),
        ({"min_leaf": [1, 2]}, {"halving": "yes"}, "halving='yes': use \"auto\""),
        ({"min_leaf": [1, 2]}, {"model": odrf.odt}, 'needs out-of-bag rows, .* use method="cv"'),
        ({"min_leaf": [1, 2]}, {"model": odrf.odt, "halving": True}, "halving=True needs"),
        ({"n_trees": [5, 9]}, {"halving": True}, "halving=True needs"),
        ({"min_leaf": [1, -2]}, {"n_trees": 3}, "min_leaf=-2"),
        ({"min_leaf": [1, 2]}, {"model": 5}, "model=5: use odrf.odrf"),
        ({"min_leaf": {1, 2}}, {}, r"grid\['min_leaf'\]={1, 2}: use a list"),
        (5, {}, "grid=5: use a mapping"),
        ([5, 6], {}, r"grid=\[5, 6\]: use a mapping"),
        ({5: [1, 2]}, {}, "grid names 5, which is no option"),
        ({"min_leaf": [1, 2]}, {"metric": "msee"}, "metric='msee' is not known.*mean 'mse'"),
        ({"min_leaf": [1, 2]}, {"metric": "auc"}, "metric='auc' does not go with a regression"),
        ({"min_leaf": [1, 2]}, {"repeats": 0}, "repeats=0: use a whole number of at least 1"),
        ({"min_leaf": [1, 2]}, {"n_trees": "x"}, "n_trees='x': use a whole number"),
        ({"min_leaf": [1, 2]}, {"max_leafs": 3}, "no argument 'max_leafs'; did you mean 'max_le"),
        ({"min_leaf": [1, 2]}, {"seed": -1}, "seed=-1"),
    ],
)
def test_bad_requests(data, grid, options, message):
    with pytest.raises(InputError, match=message):
        odrf.tune("y ~ a + b", data, grid, **options)


def test_values_are_shown_as_they_were_given(data):
    grid = {"max_depth": [None, 2], "penalty": [None, "aic"], "min_leaf": [1, 5]}
    found = odrf.tune("y ~ a + b", data, grid, n_trees=3, seed=1)
    for i, options in found._candidates.items():
        assert found.table.loc[i, list(grid)].to_dict() == options
    assert None in found.table["max_depth"].tolist()
    assert found.table["min_leaf"].dtype == np.int64
    labels = [label.get_text().split() for label in found.plot().get_yticklabels()]
    assert "None" in {label[labels[0].index("max_depth")] for label in labels[1:]}
    assert "None" in str(found.summary())


@pytest.mark.parametrize(
    ("formula", "metric", "better"),
    [
        ("y ~ a + b", "mae", min),
        ("y ~ a + b", "r2", max),
        ("side ~ a + b", "auc", max),
        ("side ~ a + b", "log_loss", min),
        ("side ~ a + b", lambda y, predicted: float(np.mean(y != predicted)), min),
    ],
)
@pytest.mark.parametrize("method", ["oob", "cv"])
def test_any_metric(data, formula, metric, better, method):
    options = {"method": method, **folds_of(method), "n_trees": 9, "seed": 2}
    found = odrf.tune(formula, data, {"min_leaf": [2, 20]}, metric=metric, **options)
    column = "score" if better is max else "error"
    assert found.table[column].iloc[0] == better(found.table[column])
    assert (found.table["std_error"] > 0).all()
    assert found.best_options == {"min_leaf": found.table["min_leaf"].iloc[0]}
    assert found.plot().get_ylabel() == found.metric.words


def test_scores_are_spoken_of_as_scores(data):
    grid, options = {"min_leaf": [1, 40]}, {"n_trees": 9, "seed": 1}
    errors = odrf.tune("side ~ a", data, grid, **options)
    scores = odrf.tune("side ~ a", data, grid, metric="accuracy", **options)
    for found, word in ((errors, "error"), (scores, "score")):
        text = " ".join(str(found.summary()).split())
        assert f"Its {word} is optimistic, because it is the best of several" in text
        assert f"Metric {found.metric.words}" in " ".join(repr(found).split())


def test_the_jackknife_agrees_with_the_formula_for_means(data):
    forest = odrf.odrf("y ~ a + b", data, n_trees=50, seed=1)
    expected = out_of_bag_score(forest, METRICS["mse"], 1)
    by_function = metric_for(METRICS["mse"].function, "regression", 1)
    found = out_of_bag_score(forest, by_function, 1)
    assert found[0] == pytest.approx(expected[0])
    assert found[1] == pytest.approx(expected[1], rel=0.4)
    squares = (data["y"] - forest.oob_prediction) ** 2
    assert expected[1] == pytest.approx(squares.std(ddof=0) / np.sqrt(len(squares)))


def test_repeats_are_means_over_seeds(data):
    grid = {"min_leaf": [2, 60]}
    found = odrf.tune("y ~ a + b", data, grid, n_trees=5, repeats=3, seed=7)
    seeds = [7, *(np.random.SeedSequence(7, spawn_key=(r,)).generate_state(1)[0] for r in (1, 2))]
    for i, options in enumerate(({"min_leaf": 2}, {"min_leaf": 60})):
        fits = [odrf.odrf("y ~ a + b", data, n_trees=5, seed=int(s), **options) for s in seeds]
        assert found.table["error"][i] == pytest.approx(np.mean([f.oob_error for f in fits]))
    assert "Repeats" in str(found.summary())
    folds = odrf.tune("y ~ a", data, grid, method="cv", cv=3, repeats=2, n_trees=5, seed=7)
    assert len(folds.table) == 2


def test_boosted_trees_of_several_runs_have_rows_out_of_bag(data):
    options = {"model": odrf.odbt, "n_runs": 5, "n_trees": 5, "seed": 1}
    found = odrf.tune("y ~ a + b", data, {"max_depth": [1, 3]}, **options)
    for i, line in found.table.iterrows():
        fit = odrf.odbt("y ~ a + b", data, n_runs=5, n_trees=5, seed=1, max_depth=[1, 3][i])
        assert line["error"] == pytest.approx(fit.oob_error)


@pytest.mark.parametrize("options", [{}, {"validation": 0.3}])
def test_one_run_of_boosting_is_told_the_method_that_evaluates_it(data, options):
    with pytest.raises(InputError, match=r'boosted trees with several runs .*: use method="cv"'):
        odrf.tune("y ~ a", data, {"max_depth": [1, 2]}, model=odrf.odbt, n_trees=3, **options)


@pytest.mark.usefixtures("quick_stacks")
@pytest.mark.parametrize(("formula", "metric"), [("y ~ a + b", "mse"), ("side ~ a + b", "brier")])
def test_stacks_of_models_have_rows_out_of_bag(data, formula, metric):
    grid = {"missing": ["split", "median"]}
    how = {"model": odrf.auto, "n_trees": 20, "seed": 1}
    found = odrf.tune(formula, data, grid, metric=metric, **how)
    fit = odrf.auto(formula, data, n_trees=20, seed=1)
    y = data["y"] if fit.classes is None else pd.get_dummies(data["side"])
    predicted = fit.oob_prediction if fit.classes is None else fit.oob_prob
    losses = (pd.DataFrame(y - predicted).dropna() ** 2).sum(axis=1)
    assert found.table["error"].tolist() == pytest.approx([losses.mean()] * 2)
    assert found.best().fit.control == fit.control


def test_a_seed_is_drawn_and_kept_and_threads_change_nothing(data):
    grid = {"min_leaf": [2, 9]}
    found = odrf.tune("y ~ a + b", data, grid, n_trees=5)
    again = odrf.tune("y ~ a + b", data, grid, n_trees=5, seed=found.seed, n_jobs=1)
    assert found.table.equals(again.table)
    assert found.best().seed == found.seed
    folds = [
        odrf.tune("y ~ a", data, grid, method="cv", cv=3, n_trees=5, seed=1, n_jobs=jobs).table
        for jobs in (1, 2)
    ]
    assert folds[0].equals(folds[1])


@pytest.mark.parametrize("method", ["oob", "cv"])
def test_the_best_fit_has_the_threads_asked_for(data, method):
    options = {"method": method, **folds_of(method), "n_trees": 5, "seed": 1}
    found = odrf.tune("y ~ a", data, {"min_leaf": [2, 9]}, n_jobs=2, **options)
    assert found.best().control.n_jobs == 2


def test_a_model_without_a_seed(data):
    def small(formula, data, min_leaf=1):
        return odrf.odrf(formula, data, n_trees=5, min_leaf=min_leaf, seed=3)

    found = odrf.tune("y ~ a + b", data, {"min_leaf": [2, 60]}, model=small, seed=1)
    assert found.best_options == {"min_leaf": 2}


def test_repeats_of_a_model_without_a_seed_are_refused(data):
    def small(formula, data, min_leaf=1):
        return odrf.odrf(formula, data, n_trees=5, min_leaf=min_leaf, seed=3)

    asked = partial(odrf.tune, "y ~ a + b", data, {"min_leaf": [2, 60]}, model=small, repeats=2)
    with pytest.raises(InputError, match="repeats=2: model has no argument 'seed'"):
        asked()
    assert asked(method="cv", cv=2).best_options == {"min_leaf": 2}


def test_a_metric_that_gives_no_number_is_refused(data):
    nothing = {"metric": lambda y, predicted: np.nan, "n_trees": 5}
    with pytest.raises(InputError, match="metric '<lambda>' is nan out of bag for min_leaf=2: use"):
        odrf.tune("y ~ a + b", data, {"min_leaf": [2, 60]}, **nothing)


def test_best_was_an_attribute_once(data):
    found = odrf.tune("y ~ a + b", data, {"min_leaf": [2, 60]}, n_trees=5, seed=1)
    assert found.best() is found.best()
    with pytest.warns(FutureWarning, match=r"Tuning.best is an old spelling.*Tuning.best\(\)"):
        assert found.best.oob_error == found.best().oob_error
    with pytest.warns(FutureWarning, match=r"Tuning.best\(\)"):
        assert repr(found.best) == repr(found.best())


def test_it_can_be_kept_with_its_best_model(data):
    twice = lambda column: 2 * column  # noqa: E731
    model = lambda formula, data, **options: odrf.odrf(formula, data, n_trees=5, **options)  # noqa: E731
    found = odrf.tune("y ~ a + b", data, {"min_leaf": [1, 40]}, model=model, seed=1)
    again = pickle.loads(pickle.dumps(found))
    assert again.table.equals(found.table)
    assert again.best().predict(data).equals(found.best().predict(data))
    assert str(again.summary()) == str(found.summary())
    assert odrf.tune("y ~ twice(a)", data, {"min_leaf": [1, 40]}, n_trees=5).best_options
    assert twice(1) == 2


def test_a_function_with_the_name_of_a_metric_is_called(data):
    def mse(y, predicted):
        return float(np.mean(np.abs(y - predicted)))

    options = {"n_trees": 5, "seed": 1, "blend": False}
    found = odrf.tune("y ~ a + b", data, {"min_leaf": [2, 60]}, metric=mse, **options)
    expected = odrf.tune("y ~ a + b", data, {"min_leaf": [2, 60]}, metric="mae", **options)
    assert found.table["error"].tolist() == expected.table["error"].tolist()


def test_folds_are_refused_out_of_bag(data):
    with pytest.raises(InputError, match='cv= is for method="cv", and method is "oob"'):
        odrf.tune("y ~ a", data, {"min_leaf": [2, 9]}, cv=10)


def test_halving_is_refused_in_folds(data):
    with pytest.raises(InputError, match='halving=True is for method="oob": leave it out'):
        odrf.tune("y ~ a", data, {"min_leaf": [2, 9]}, method="cv", halving=True)


def test_folds_do_not_take_numbers_of_classes_for_numbers(data):
    numbers = data.assign(k=3 * (data["y"] > 1.5) + (data["y"] > 2))
    options = {"method": "cv", "cv": 2, "n_trees": 3, "seed": 1}
    with pytest.raises(InputError, match=r"takes 'k' for classes.*write \"C\(k\) ~ …\" in place"):
        odrf.tune("k ~ a", numbers, {"min_leaf": [2, 9]}, kind="classification", **options)
    found = odrf.tune("C(k) ~ a", numbers, {"min_leaf": [2, 9]}, kind="classification", **options)
    assert found.table["error"].between(0, 1).all()
