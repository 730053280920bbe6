"""Every argument of every method of results and reports: any value works or is refused by name."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import pytest

import odrf
from hostile import HOSTILE, complaint, small_table
from odrf.evaluation.compare import Comparison
from odrf.evaluation.learning_curve import LearningCurve
from odrf.evaluation.tuning import Tuning
from odrf.exports.mean_prediction import PredictionResults
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.importance import ProjectionImportance, StrengthCorrelation
from odrf.reports.paths import ForestPath, GrowthPath, PruningPath
from odrf.reports.selection import Elimination, ShadowSelection
from odrf.reports.sensitivity import Sensitivity
from odrf.reports.survival.bands import SurvivalBands
from odrf.reports.survival.checks import SurvivalCalibration, SurvivalROC
from odrf.reports.survival.curves import SurvivalCurves
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.results.tree import ODTResults
from odrf.simulate.problem import Problem

DATA = small_table().assign(t=lambda data: data["y"].abs() + 0.1, e=lambda data: data["a"] > -0.5)
TIMES = "Surv(t, e) ~ a + b + f"
# Fits and reports are made when they are first needed: by one process, after others' kernels.
FITS: dict[str, tuple[type, Callable[[], Any]]] = {
    "odt of classes": (ODTResults, lambda: odrf.odt("c ~ a + b + f", DATA, seed=1)),
    "odt of numbers": (ODTResults, lambda: odrf.odt("y ~ a + b + f", DATA, seed=1)),
    "odrf of classes": (ODRFResults, lambda: odrf.odrf("c ~ a + b + f", DATA, n_trees=5, seed=1)),
    "odrf of numbers": (ODRFResults, lambda: odrf.odrf("y ~ a + b + f", DATA, n_trees=20, seed=1)),
    "odbt of classes": (
        ODBTResults,
        lambda: odrf.odbt("c ~ a + b + f", DATA, n_trees=3, n_runs=3, seed=1),
    ),
    "odbt of numbers": (ODBTResults, lambda: odrf.odbt("y ~ a + b + f", DATA, n_trees=3, seed=1)),
    "graf of classes": (GRAFResults, lambda: odrf.graf("c ~ a + b + f", DATA, n_trees=3, seed=1)),
    "graf of numbers": (GRAFResults, lambda: odrf.graf("y ~ a + b + f", DATA, n_trees=3, seed=1)),
    "odt of times": (SurvivalTreeResults, lambda: odrf.odt(TIMES, DATA, seed=1)),
    "odrf of times": (SurvivalForestResults, lambda: odrf.odrf(TIMES, DATA, n_trees=20, seed=1)),
    "odbt of times": (
        SurvivalBoostedResults,
        lambda: odrf.odbt(TIMES, DATA, n_trees=3, n_runs=3, seed=1),
    ),
}
REPORTS: dict[str, tuple[type, Callable[[], Any]]] = {
    "pruning path": (PruningPath, lambda: one("odt of classes").pruning_path(cv=3)),
    "forest path": (ForestPath, lambda: one("odrf of classes").pruning_path()),
    "growth path": (GrowthPath, lambda: one("odt of classes").growth_path(cv=3)),
    "elimination": (Elimination, lambda: one("odrf of classes").select_variables()),
    "shadows": (
        ShadowSelection,
        lambda: one("odrf of classes").select_variables("boruta", rounds=3),
    ),
    "sensitivity": (Sensitivity, lambda: one("graf of classes").sensitivity()),
    "strength": (StrengthCorrelation, lambda: one("odrf of classes").strength_correlation()),
    "consistency": (ConsistencyReport, lambda: one("odt of numbers").consistency()),
    "projections": (ProjectionImportance, lambda: one("odrf of classes").projection_importance()),
    "mean prediction": (PredictionResults, lambda: one("odrf of numbers").get_prediction(DATA)),
    "comparison": (
        Comparison,
        lambda: odrf.compare("y ~ a", DATA, {"1": odrf.odt, "2": odrf.odt}, cv=3, seed=1),
    ),
    "tuning": (Tuning, lambda: odrf.tune("y ~ a", DATA, {"min_leaf": [2, 5]}, n_trees=3, seed=1)),
    "learning": (
        LearningCurve,
        lambda: odrf.learning_curve("y ~ a", DATA, {"1": odrf.odt}, seed=1, repeats=1),
    ),
    "calibration of curves": (
        SurvivalCalibration,
        lambda: one("odrf of times").calibration(0.5),
    ),
    "curves": (SurvivalCurves, lambda: one("odrf of times").curves(DATA)),
    "bands": (SurvivalBands, lambda: one("odrf of times").bands(DATA)),
    "areas along time": (SurvivalROC, lambda: one("odrf of times").roc(0.5)),
    "problem": (Problem, odrf.simulate.friedman1),
}
OBJECTS = FITS | REPORTS


@cache
def one(name: str) -> Any:
    kind, make = OBJECTS[name]
    made = make()
    assert type(made) is kind
    return made


# Valid values of arguments without default, and of those that make a call short.
VALID = {
    "newdata": DATA, "data": DATA, "k": 1, "fraction": 0.5, "i": 0, "svm": [0, 1], "n": 50,
    "formula": "y ~ a", "model": "1", "than": "2", "path": None, "level": 0.9,
    "dialect": "duckdb", "variables": "a", "variable": "a", "row": DATA.iloc[[0]],
    "time": 0.5, "estimand": "rmst",
}  # fmt: skip
SHORT = {
    "select_variables": {"rounds": 2}, "slopes": {"variables": "a"},
    "comparisons": {"variables": "a"}, "interactions": {"rows": 4, "permutations": 1},
    "shap": {"newdata": DATA[:4]}, "shap_interactions": {"newdata": DATA[:2]},
}  # fmt: skip
# A text is a file to write, a fit is one to combine with.
ELSEWHERE = {("save", "path"), ("combine", "other")}
# Their methods that forests have as well are not asked again: forests are asked for numbers and for
# classes, trees and boosted trees for classes.
OWN_ALONE = {"odt of numbers", "odbt of numbers", "graf of classes", "graf of numbers"}


def methods() -> list[tuple[str, str, str]]:
    found = []
    for name, (kind, _) in OBJECTS.items():
        for method, function in inspect.getmembers(kind, inspect.isfunction):
            inherited = function is getattr(ODRFResults, method, None)
            if not method.startswith("_") and not (inherited and name in OWN_ALONE):
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
    asked = getattr(one(name), method)
    parameters = list(inspect.signature(asked).parameters.values())
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
        found = complaint(lambda value=value: asked(**{**given, argument: value}))
        if found:
            wrong[words] = found
    assert not wrong


@pytest.mark.parametrize(
    "words", [words for words in HOSTILE if not isinstance(HOSTILE[words], str)]
)
def test_save_and_load_need_a_path(words):
    for call in (one("odt of classes").save, odrf.load):
        found = complaint(lambda call=call: call(HOSTILE[words]))
        assert not found


@pytest.mark.parametrize("words", HOSTILE)
def test_combine_needs_a_forest(words):
    assert not complaint(lambda: one("odrf of classes").combine(HOSTILE[words]))
