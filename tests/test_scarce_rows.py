"""Whatever fits of few rows, without rows out of bag or without errors are asked, they answer.

Or they refuse by an `InputError`, which says why.
"""

from __future__ import annotations

import inspect
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.results.forest import ODRFResults

pytestmark = pytest.mark.usefixtures("few_pilots")

RESPONSES = ["y", "two", "three", "ranks"]
FITS = {
    "tree": odrf.odt,
    "pruned tree": partial(odrf.odt, alpha="cv"),
    "tree by rate": partial(odrf.odt, max_leaves="sqrt"),
    "forest": partial(odrf.odrf, n_trees=5),
    "tree of a forest": partial(odrf.odrf, n_trees=1),
    "blend": partial(odrf.odrf, n_trees=20, blend=True),
    "boosted": partial(odrf.odbt, n_trees=2, min_leaf=1),
    "runs": partial(odrf.odbt, n_trees=2, n_runs=2, validation="oob"),
    "held out": partial(odrf.odbt, n_trees=2, validation=0.3),
    "guided": partial(odrf.graf, n_trees=2),
}
# Classes, ordered or not, differ between these; the others are made of them.
BASIC = ("tree", "forest", "boosted", "guided")
CASES = [(fit, y) for fit in FITS for y in RESPONSES if fit in BASIC or y in ("y", "ranks")]
# Reports of classes are drawn alike, too, and so are those of other trees and forests: by code that
# does not ask how they were grown.
DRAWN = ("y", "ranks")
# What explains predictions is the same of these as of "tree", "forest" and "boosted", and of three
# classes as of two and of ordered ones.
NOT_EXPLAINED = ("pruned tree", "tree by rate", "blend", "held out", "three")
KINDS = {"y": "regression", "two": "auto", "three": "auto", "ranks": "auto"}
NO_ROWS_OUT = {
    "all rows": {"resample": "none"},
    "all in subsamples": {"resample": "subsample", "sample_fraction": 1.0},
    "all in halves": {"resample": "subsample", "sample_fraction": 1.0, "honest": True},
    "all in a blend": {"sample_fraction": 1.0, "blend": True, "n_trees": 20},
}
# Each other option leaves the same reports as one of these.
DRAWN_OPTIONS = ("all rows", "all in halves")
WHOLE = [(w, y) for w in NO_ROWS_OUT for y in RESPONSES if "blend" not in w or y in DRAWN]


def rows(n):
    rng = np.random.default_rng(n)
    data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=n)
    data["two"] = np.where(np.arange(n) % 2, "no", "yes")
    data["three"] = np.array(["low", "mid", "top"])[np.arange(n) % 3]
    data["ranks"] = pd.Categorical(data["three"], ["low", "mid", "top"], ordered=True)
    return data


def asked_of(name, response):
    """Return what `ask` asks of a fit."""
    # Reports that forests have as well are drawn of forests alone.
    drawn = "all" if name == "forest" else "own"
    if response not in DRAWN or name not in BASIC:
        drawn = "none"
    return {"drawn": drawn, "explained": not {name, response} & set(NOT_EXPLAINED)}


def ask(fit, data, folder, drawn, explained):
    """Ask for every public attribute and report as text, or also drawn; count the answers.

    What is drawn is "all", "own", which are reports that forests have not, or "none"; methods that
    explain predictions are asked if `explained`.
    """
    answered = 0
    given = {
        "ale": {"variables": "a"},
        "approximate": {"fraction": 0.5},
        "combine": {"other": fit},
        "estimate_priors": {"newdata": data},
        "explain": {"row": data.iloc[[0]]},
        "grow": {"k": 2},
        "ice": {"variable": "a"},
        "interactions": {"rows": 4, "permutations": 1},
        "partial": {"variables": ["a", "b"], "points": 3},
        "prune": {"alpha": 0.01},
        "save": {"path": folder / "fit"},
        "to_sql": {"dialect": "sqlite"},
        "tree": {"i": 0},
        "update": {"newdata": data, "weights": np.ones(len(data))},
    }
    for name in dir(type(fit)):
        if name.startswith("_") or name == "load":
            continue
        explains = ".explaining." in getattr(getattr(type(fit), name), "__module__", "")
        if explains and not explained:
            continue
        is_drawn = drawn == "all" or (drawn == "own" and not hasattr(ODRFResults, name))
        try:
            answer = getattr(fit, name)
            if callable(answer):
                answer = answer(**given.get(name, {}))
            if type(answer).__module__.startswith("odrf"):
                repr(answer)
            if type(answer).__module__.startswith("odrf.reports"):
                str(answer.summary())
                if hasattr(answer, "plot") and is_drawn:
                    answer.plot()
        except (InputError, TypeError) as refusal:
            # a method that needs an argument is not called
            assert isinstance(refusal, InputError) or "required" in str(refusal), name
            assert len(str(refusal)) > 20
        else:
            answered += 1
        plt.close("all")
    repr(fit)
    return answered


@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("name", "response"), WHOLE)
def test_a_forest_without_rows_out_of_bag(name, response, tmp_path):
    data, options = rows(30), NO_ROWS_OUT[name]
    forest = odrf.odrf(f"{response} ~ a + b", data, seed=1, **{"n_trees": 5} | options)
    drawn = "all" if response in DRAWN and name in DRAWN_OPTIONS else "none"
    assert ask(forest, data, tmp_path, drawn, response not in NOT_EXPLAINED) > 15
    for question in (
        forest.pruning_path,
        forest.select_variables,
        forest.strength_correlation,
        forest.growth_path,
        partial(forest.importance, "permutation"),
        partial(forest.prune, rule="oob"),
        partial(getattr, forest, "oob_error"),
        partial(odrf.odrf, f"{response} ~ a + b", data, alpha="oob", **{"n_trees": 5} | options),
    ):
        with pytest.raises(InputError, match=r"need.* out-of-bag rows, and .* leaves none"):
            question()


def test_options_are_not_tuned_without_rows_out_of_bag():
    data, full = rows(30), {"resample": "subsample", "sample_fraction": 1.0, "n_trees": 3}
    with pytest.raises(InputError, match="out-of-bag rows, and sample_fraction=1 leaves none"):
        odrf.tune("y ~ a", data, {"min_leaf": [1, 2]}, method="oob", **full)


@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("name", "response"), CASES)
def test_a_few_rows(name, response, tmp_path):
    data = rows(3 if response in DRAWN else 6)
    try:
        fit = FITS[name](f"{response} ~ a + b", data, seed=1)
    except InputError:
        return
    assert ask(fit, data, tmp_path, **asked_of(name, response)) > 10


@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("name", "response"), CASES)
def test_a_few_rows_of_weight(name, response, tmp_path):
    data = rows(12)
    rest = 0.0 if response in ("y", "three") else 1e-300
    weights = np.where(np.arange(12) < 2, 1.0, rest)
    try:
        fit = FITS[name](f"{response} ~ a + b", data, weights=weights, seed=1)
    except InputError:
        return
    assert ask(fit, data, tmp_path, **asked_of(name, response)) > 10


def test_a_weighted_mean_of_models_needs_rows_out_of_bag():
    with pytest.raises(InputError, match="so few rows leave none: use 3 or more, or odrf"):
        odrf.auto("y ~ a + b", rows(2), n_trees=20, kind="regression", seed=1)


@pytest.mark.parametrize("response", RESPONSES)
@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf])
def test_a_response_that_is_constant_where_it_has_weight_is_refused(grow, response):
    data = rows(12)
    weights = (data[response] == data[response].iloc[0]).to_numpy(dtype=float)
    message = f"{response!r} is constant .* in every row of positive weight"
    if weights.sum() == 1:
        message = "weights are 0 in all rows but one, and at least 2"
    with pytest.raises(InputError, match=message):
        grow(f"{response} ~ a + b", data, weights=weights)


@pytest.mark.parametrize("response", RESPONSES)
def test_every_fold_leaves_rows_of_weight(response):
    data = rows(40)
    weights = np.zeros(40)
    weights[[3, 4]] = 1.0
    tree = odrf.odt(f"{response} ~ a + b", data, weights=weights, min_leaf=1, seed=1)
    with pytest.raises(InputError, match="cv=3 is not a number of folds: use 2 to 2"):
        tree.pruning_path(cv=3)
    for seed in range(10):
        table = tree.pruning_path(cv=2, seed=seed).table
        assert table[["xerror", "xstd"]].notna().all(axis=None)


@pytest.mark.parametrize(("name", "response"), CASES)
def test_new_data_without_rows(name, response):
    data = rows(30)
    fit = FITS[name](f"{response} ~ a + b", data, seed=1)
    none = data[:0]
    for predict in ("predict", "staged_predict"):
        if hasattr(fit, predict):
            assert len(getattr(fit, predict)(none)) == 0
    for question, argument in (
        ("growth_path", "newdata"), ("pruning_path", "newdata"), ("update", "newdata"),
        ("estimate_priors", "newdata"), ("sensitivity", "newdata"),
    ):  # fmt: skip
        asked = getattr(fit, question, None)
        if asked is not None and argument in inspect.signature(asked).parameters:
            with pytest.raises(InputError, match=r"no complete rows|needs classes"):
                asked(**{argument: none})
    with pytest.raises(InputError):
        FITS[name](f"{response} ~ a + b", none)


@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize(("name", "response"), CASES)
def test_models_that_make_no_error(name, response, tmp_path):
    data = rows(30)
    data["a"] = data["ranks"].cat.codes if response in ("three", "ranks") else data["two"] == "yes"
    data["y"] = 3.0 * data["a"]
    fit = FITS[name](f"{response} ~ a", data.astype({"a": float}), kind=KINDS[response], seed=1)
    assert ask(fit, data.astype({"a": float}), tmp_path, **asked_of(name, response)) > 10


@pytest.mark.filterwarnings("ignore::UserWarning", "error::RuntimeWarning")
@pytest.mark.parametrize("response", RESPONSES)
def test_comparisons_of_models_that_make_no_error(response):
    data = rows(30)
    data["a"] = data["ranks"].cat.codes.astype(float)
    data["two"], data["y"] = np.where(data["a"] > 0, "no", "yes"), 3.0 * data["a"]
    models = {"tree": partial(odrf.odt, min_leaf=1), "forest": FITS["forest"]}
    for made in (
        odrf.compare(f"{response} ~ a", data, models, cv=3, seed=1),
        odrf.tune(f"{response} ~ a", data, {"min_leaf": [1, 2]}, n_trees=3),
        odrf.tune(f"{response} ~ a", data, {"min_leaf": [1, 2]}, model=odrf.odt, method="cv"),
    ):
        assert repr(made) and str(made.summary())
        if response in DRAWN:
            made.plot()
            plt.close("all")
