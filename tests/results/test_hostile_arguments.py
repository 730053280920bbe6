"""Every argument of every method of results and reports: any value works or is refused by name."""

from __future__ import annotations

import inspect
from typing import Any

import matplotlib.pyplot as plt
import pytest

import odrf
from hostile import HOSTILE, complaint, small_table

DATA = small_table()
FOREST = {"n_trees": 20, "seed": 1}
FITS = {
    "odt of classes": odrf.odt("c ~ a + b + f", DATA, seed=1),
    "odt of numbers": odrf.odt("y ~ a + b + f", DATA, seed=1),
    "odrf of classes": odrf.odrf("c ~ a + b + f", DATA, n_trees=5, seed=1),
    "odrf of numbers": odrf.odrf("y ~ a + b + f", DATA, **FOREST),
    "odbt of classes": odrf.odbt("c ~ a + b + f", DATA, n_trees=3, n_runs=3, seed=1),
    "odbt of numbers": odrf.odbt("y ~ a + b + f", DATA, n_trees=3, seed=1),
    "graf of classes": odrf.graf("c ~ a + b + f", DATA, n_trees=3, seed=1),
    "graf of numbers": odrf.graf("y ~ a + b + f", DATA, n_trees=3, seed=1),
}
REPORTS = {
    "pruning path": FITS["odt of classes"].pruning_path(cv=3),
    "forest path": FITS["odrf of classes"].pruning_path(),
    "growth path": FITS["odt of classes"].growth_path(cv=3),
    "elimination": FITS["odrf of classes"].select_variables(),
    "shadows": FITS["odrf of classes"].select_variables("boruta", rounds=3),
    "sensitivity": FITS["graf of classes"].sensitivity(),
    "strength": FITS["odrf of classes"].strength_correlation(),
    "consistency": FITS["odt of numbers"].consistency(),
    "projections": FITS["odrf of classes"].projection_importance(),
    "mean prediction": FITS["odrf of numbers"].get_prediction(DATA),
    "comparison": odrf.compare("y ~ a", DATA, {"1": odrf.odt, "2": odrf.odt}, cv=3, seed=1),
    "tuning": odrf.tune("y ~ a", DATA, {"min_leaf": [2, 5]}, n_trees=3, seed=1),
    "learning": odrf.learning_curve("y ~ a", DATA, {"1": odrf.odt}, seed=1, repeats=1),
    "problem": odrf.simulate.friedman1(),
}
OBJECTS: dict[str, Any] = {**FITS, **REPORTS}
# Valid values of arguments without default, and of those that make a call short.
VALID = {
    "newdata": DATA, "data": DATA, "k": 1, "fraction": 0.5, "i": 0, "svm": [0, 1], "n": 50,
    "formula": "y ~ a", "model": "1", "than": "2", "path": None, "level": 0.9,
    "dialect": "duckdb", "variables": "a", "variable": "a", "row": DATA.iloc[[0]],
}  # fmt: skip
SHORT = {"select_variables": {"rounds": 2}, "plot": {}, "growth_path": {}, "pruning_path": {}}
# A text is a file to write, a fit is one to combine with.
ELSEWHERE = {("save", "path"), ("combine", "other")}


def methods() -> list[tuple[str, str, str]]:
    found = []
    for name, one in OBJECTS.items():
        for method, function in inspect.getmembers(type(one), inspect.isfunction):
            if not method.startswith("_"):
                arguments = list(inspect.signature(function).parameters)[1:]
                found += [(name, method, argument) for argument in arguments]
    return [(name, method, argument) for name, method, argument in found
            if (method, argument) not in ELSEWHERE]  # fmt: skip


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(("name", "method", "argument"), methods())
def test_any_value_works_or_is_refused(name, method, argument):
    one = OBJECTS[name]
    parameters = list(inspect.signature(getattr(type(one), method)).parameters.values())[1:]
    needed = {p.name: VALID[p.name] for p in parameters if p.default is p.empty}
    given = {**needed, **SHORT.get(method, {})}
    if name == "sensitivity" and method == "plot":
        given |= {"x": "a", "y": "b"}
    if argument == "rounds":
        given |= {"method": "boruta"}
    if argument == "path":
        given |= {"rule": "min"}
    wrong = {}
    for words, value in HOSTILE.items():
        found = complaint(lambda value=value: getattr(one, method)(**{**given, argument: value}))
        if found:
            wrong[words] = found
    assert not wrong


@pytest.mark.parametrize(
    "words", [words for words in HOSTILE if not isinstance(HOSTILE[words], str)]
)
def test_save_and_load_need_a_path(words):
    for call in (FITS["odt of classes"].save, odrf.load):
        found = complaint(lambda call=call: call(HOSTILE[words]))
        assert not found


@pytest.mark.parametrize("words", HOSTILE)
def test_combine_needs_a_forest(words):
    assert not complaint(lambda: FITS["odrf of classes"].combine(HOSTILE[words]))
