"""One convention for the names, the places and the defaults of all public arguments."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import pandas as pd
import pytest

import odrf
from hostile import small_table
from odrf import InputError, simulate
from odrf.errors import UnknownArgumentError
from signatures import CLASSES, PREDICTS, callables

CALLABLES = callables()
DATA = small_table()
PROBLEM = simulate.friedman1()
EMPTY = inspect.Parameter.empty

# Arguments that are given by name only, and their one default.
BY_NAME: dict[str, tuple[Any, ...]] = {
    "ax": (None,),
    "class_weights": (None,),
    "cv": (10, None),  # None: rows out of bag, where there are some
    "halving": ("auto",),
    "interval": (None,),
    "level": (0.95,),
    "metric": ("auto",),
    "missing": ("split",),
    "n_jobs": (None,),
    "priors": (None,),
    "progress": (False,),
    "repeats": (1, 5, 10, 50),
    "seed": (None,),
    "weights": (None,),
}
# These come last, in this order.
LAST = ("seed", "n_jobs", "progress")
# What is modelled comes before the models, and first of all comes formula before data.
FIRST = ("formula", "data")
# Words that had a second meaning, and what is written instead.
RETIRED = {"axes": "ax"}


@cache
def tree():
    return odrf.odt("y ~ a + b", DATA, seed=1)


@cache
def forest():
    return odrf.odrf("c ~ a + b", DATA, n_trees=5, seed=1)


@cache
def parameters(name: str) -> dict[str, inspect.Parameter]:
    return dict(inspect.signature(CALLABLES[name]).parameters)


def test_there_are_many():
    assert len(CALLABLES) > 100
    assert len(CLASSES) > 15


def test_options_are_given_by_name_and_have_one_default():
    for name in CALLABLES:
        for argument, defaults in BY_NAME.items():
            found = parameters(name).get(argument)
            if found is not None:
                assert found.kind is found.KEYWORD_ONLY, (name, argument)
                assert found.default in defaults, (name, argument)


def test_seed_threads_and_progress_come_last():
    for name in CALLABLES:
        named = [p.name for p in parameters(name).values() if p.kind is not p.VAR_KEYWORD]
        last = [argument for argument in LAST if argument in named]
        assert named[len(named) - len(last) :] == last, name


def test_formula_and_data_come_first_and_models_after_what_they_are_fitted_to():
    for name in CALLABLES:
        named = [argument for argument in parameters(name) if argument != "self"]
        if "formula" in named:
            assert named[:2] == ["formula", "data"], name
        if "models" in named:
            place = 2 if "formula" in named or "newdata" in named else 1
            assert named.index("models") == place, name


def test_no_retired_word():
    assert not [name for name in CALLABLES if RETIRED.keys() & parameters(name).keys()]


def test_a_rule_chooses_a_size_and_is_one_standard_error_unless_given():
    for name in CALLABLES:
        rule = parameters(name).get("rule")
        if rule is not None:
            assert rule.default == (None if name.endswith(".prune") else "1se"), name
        pruning = parameters(name).get("pruning")
        if pruning is not None:
            assert pruning.default in (None, "weakest_link"), name


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: odrf.odt("y ~ a", DATA, max_leafs=3),
            "no argument 'max_leafs'; did you mean 'max_l",
        ),
        (
            lambda: odrf.odrf("y ~ a", DATA, ntrees=3),
            "no argument 'ntrees'; did you mean 'n_trees'",
        ),
        (lambda: odrf.odbt("y ~ a", DATA, learn_rate=1), "did you mean 'learning_rate'"),
        (lambda: odrf.graf("y ~ a", DATA, subspaces="all"), "did you mean 'subspace'"),
        (lambda: odrf.compare("y ~ a", DATA, {}, repeat=3), "did you mean 'repeats'"),
        (lambda: tree().predict(new_data=DATA), "did you mean 'newdata'"),
        (lambda: forest().importance("permutations"), "did you mean 'permutation'"),
        (lambda: odrf.odt("y ~ a", DATA, criterion="ginni"), "did you mean 'gini'"),
        (lambda: odrf.odt("y ~ A", DATA), "did you mean 'a'"),
        (lambda: odrf.odt("y ~ a", DATA, kind="class"), "did you mean 'classification'"),
        (lambda: odrf.odrf("y ~ a", DATA, random_state=1), "did you mean 'seed'"),
        (lambda: odrf.odrf("y ~ a", DATA, sample_weight="a"), "did you mean 'weights'"),
        (lambda: odrf.odt("y ~ a", DATA, minsplit=3), "did you mean 'min_leaf'"),
        (lambda: odrf.graf("y ~ a", DATA, minsplit=3), "did you mean 'min_split'"),
        (lambda: odrf.odrf("y ~ a", DATA, **{"num.threads": 2}), "did you mean 'n_jobs'"),
        (lambda: odrf.foresee("y ~ a", DATA, n_estimators=3), "did you mean 'n_trees'"),
        (lambda: odrf.tune("y ~ a", DATA, {"mtry": [1, 2]}), "option to try; did you mean 'n_sing"),
    ],
)
def test_a_misspelt_name_is_answered_by_the_nearest(call, message):
    with pytest.raises(InputError, match=message):
        call()


@pytest.mark.parametrize("name", ["method", "of_no_package"])
def test_a_name_that_is_like_none_is_answered_by_all_names(name):
    with pytest.raises(InputError, match=f"no argument '{name}'; it has formula, data, "):
        odrf.odt("y ~ a", DATA, **{name: 1})


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf, odrf.auto])
def test_data_before_the_formula(grow):
    message = r"formula must be a text such as \"y ~ \.\", not a DataFrame: the formula comes first"
    with pytest.raises(InputError, match=message):
        grow(DATA, "y ~ a")


def test_an_unknown_argument_is_a_type_error_as_anywhere():
    with pytest.raises(TypeError, match="no argument 'trees'"):
        odrf.odrf("y ~ a", DATA, trees=3)
    with pytest.raises(TypeError, match=r"prune\(\) got an unexpected keyword argument 'leafs'"):
        tree().prune(leafs=3)


OLD: dict[str, tuple[Callable[[], Any], Callable[[], Any]]] = {
    "write pruning=": (
        lambda: tree().pruning_path(rule="growth", cv=None).table,
        lambda: tree().pruning_path("growth", cv=None).table,
    ),
    "PruningPath.pruning": (lambda: tree().pruning_path(cv=None).rule, lambda: "weakest_link"),
    "ForestPath.pruning": (lambda: forest().pruning_path().rule, lambda: "weakest_link"),
    "write newdata=": (
        lambda: tree().pruning_path(validation=DATA).table,
        lambda: tree().pruning_path(newdata=DATA).table,
    ),
    "write ax=": (
        lambda: len(forest().strength_correlation().plot(axes=plt.subplots(1, 3)[1])),
        lambda: 3,
    ),
    r'best_size\("min"\)': (
        lambda: tree().growth_path(cv=3).best,
        lambda: tree().growth_path(cv=3).best_size("min"),
    ),
    r'best_size\("1se"\)': (
        lambda: tree().growth_path(cv=3).chosen,
        lambda: tree().growth_path(cv=3).best_size(),
    ),
    r"bias_variance\(problem, models, n\)": (
        lambda: odrf.bias_variance(odrf.odt, PROBLEM, 20, repeats=2, seed=1).table,
        lambda: odrf.bias_variance(PROBLEM, odrf.odt, 20, repeats=2, seed=1).table,
    ),
    "repeats by position": (
        lambda: odrf.bias_variance(PROBLEM, odrf.odt, 20, 2, seed=1).table,
        lambda: odrf.bias_variance(PROBLEM, odrf.odt, 20, repeats=2, seed=1).table,
    ),
    "seed by position": (lambda: PROBLEM.sample(9, 1), lambda: PROBLEM.sample(9, seed=1)),
    "resamples by position": (
        lambda: forest().projection_importance(3, 0).table,
        lambda: forest().projection_importance(3, resamples=0).table,
    ),
}


@pytest.mark.parametrize("words", OLD)
def test_an_old_spelling_works_and_names_the_new_one(words):
    old, new = OLD[words]
    with pytest.warns(FutureWarning, match=words) as caught:
        found = old()
    assert [warning.filename for warning in caught] == [__file__]
    expected = new()
    if isinstance(expected, pd.DataFrame):
        pd.testing.assert_frame_equal(found, expected)
    else:
        assert found == expected
    plt.close("all")


def test_every_public_function_suggests_names():
    for name, function in CALLABLES.items():
        kinds = [parameter.kind for parameter in parameters(name).values()]
        if "." not in name and inspect.Parameter.VAR_KEYWORD not in kinds:
            with pytest.raises(UnknownArgumentError, match=rf"{name}\(\) .*'of_no_function'"):
                function(of_no_function=1)


@pytest.mark.parametrize("name", PREDICTS)
def test_every_predict_suggests_names(name):
    with pytest.raises(UnknownArgumentError, match="did you mean 'newdata'"):
        CALLABLES[name](None, new_data=DATA)


def test_the_package_that_is_called_says_where_its_function_is():
    with pytest.raises(TypeError, match=r"write from odrf import odrf, or odrf\.odrf"):
        odrf("y ~ .", DATA)
    assert inspect.ismodule(odrf)


@pytest.mark.parametrize("inside", ["", ".sklearn", ".simulate", ".projections", ".datasets"])
def test_names_that_a_star_imports_are_public(inside):
    package = importlib.import_module(f"odrf{inside}")
    names: dict[str, Any] = {}
    exec(f"from odrf{inside} import *", names)
    del names["__builtins__"]
    assert set(names) == set(package.__all__)
    assert not [name for name in names if name.startswith("_")]
    modules = [name for name, value in names.items() if inspect.ismodule(value)]
    assert modules == (["simulate"] if package is odrf else [])
