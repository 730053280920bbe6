"""Every argument of every method of results and reports: any value works or is refused by name."""

from __future__ import annotations

import inspect
import os
import pydoc
from collections.abc import Callable
from functools import cache
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from blends import with_quick_stacks
from hostile import HOSTILE, complaint, small_table
from odrf import InputError
from odrf.api.load import RESULTS
from odrf.errors import AbsentError
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
from odrf.results.absent import NEED, why_absent
from odrf.results.base import AnyResults
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
    "time": 0.5, "estimand": "rmst", "source": [DATA],
}  # fmt: skip
SHORT = {
    "select_variables": {"rounds": 2}, "slopes": {"variables": "a"},
    "comparisons": {"variables": "a"}, "interactions": {"rows": 4, "permutations": 1},
    "shap": {"newdata": DATA[:4]}, "shap_interactions": {"newdata": DATA[:2]},
    "predict_to_parquet": {"path": os.devnull},
}  # fmt: skip
# A text is a file to write, a fit is one to combine with.
ELSEWHERE = {("save", "path"), ("predict_to_parquet", "path"), ("combine", "other")}
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


@pytest.fixture
def closed():
    yield
    plt.close("all")


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize(("name", "method", "argument"), methods())
def test_any_value_works_or_is_refused(name, method, argument):
    asked = getattr(one(name), method)
    parameters = list(inspect.signature(asked).parameters.values())
    needed = {p.name: VALID[p.name] for p in parameters if p.default is p.empty}
    given = {**needed, **SHORT.get(method, {})}
    if name == "sensitivity" and method == "plot":
        given |= {"x": "a", "y": "b"}
    if (method, argument) == ("select_variables", "rounds"):
        given |= {"method": "boruta"}
    if argument == "path":
        given |= {"rule": "min"}
    wrong = {}
    for words, value in HOSTILE.items():
        found = complaint(lambda value=value: asked(**{**given, argument: value}))
        if found:
            wrong[words] = found
    assert not wrong


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize(
    "words", [words for words in HOSTILE if not isinstance(HOSTILE[words], str)]
)
def test_save_and_load_need_a_path(words):
    for call in (one("odt of classes").save, odrf.load):
        found = complaint(lambda call=call: call(HOSTILE[words]))
        assert not found


@pytest.mark.usefixtures("closed")
@pytest.mark.parametrize("words", HOSTILE)
def test_combine_needs_a_forest(words):
    assert not complaint(lambda: one("odrf of classes").combine(HOSTILE[words]))


# ------------------------------------------------------------------------------------------------
# Arguments of methods that say nothing of this fit are refused by name.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("method", "arguments", "message"),
    [
        ("comparisons", {"variables": "f", "contrast": "first"}, "contrast='first'"),
        ("predictions", {"by": []}, r"by=\[\] names no column"),
        ("partial", {"variables": "f", "values": []}, "values= of 'f': give one level or more"),
        ("partial", {"variables": "f", "values": ["x", "x"]}, "give one level or more, each once"),
    ],
)
def test_of_forests(number_forest, method, arguments, message):
    with pytest.raises(InputError, match=message):
        getattr(number_forest, method)(**arguments)


def test_rows_without_any_value(number_forest, table):
    with pytest.raises(InputError, match="'f' is empty in all rows: give other rows as newdata="):
        number_forest.partial("f", newdata=table.assign(f=np.nan))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"type": "cumulative"}, "needs ordered classes, and those of 'c' are not"),
        ({"priors": {"low": 0.5, "mid": 0.5}}, "priors lacks 'top'"),
        ({"priors": {"low": 0.5, "mid": 0.5, "top": 0}}, r"priors\['top'\]=0: use a positive"),
        ({"priors": {"low": 1, "mid": 1, "top": 2}}, "priors add up to 4, not to 1"),
    ],
)
def test_of_predictions_of_classes(class_forest, table, arguments, message):
    with pytest.raises(InputError, match=message):
        class_forest.predict(table, **arguments)


def test_a_folder_is_no_file(class_tree, tmp_path):
    with pytest.raises(InputError, match=r"is no file: use another name"):
        class_tree.save(tmp_path)


def test_intervals_of_one_tree(table):
    forest = odrf.odrf("y ~ a + b + f", table, n_trees=1, seed=1)
    with pytest.raises(InputError, match="compares trees, and this forest has one"):
        forest.predict(table, interval="confidence")


@pytest.mark.parametrize(
    ("arguments", "way_out"),
    [
        (
            {"interval": "prediction"},
            ": intervals of numbers are those of odrf.odrf and odrf.auto",
        ),
        ({"se_fit": True}, r": standard errors are those of odrf.odrf: get_prediction\(\)$"),
        ({"kind": "prob"}, "; did you mean 'type'[?]$"),
        ({"what": 1}, "; it has newdata, type, priors, training, progress$"),
    ],
)
def test_arguments_that_predictions_of_a_tree_lack(class_tree, table, arguments, way_out):
    with pytest.raises(TypeError, match=way_out):
        class_tree.predict(table, **arguments)


TESTS = r'= is for type="conditional" and "loco": leave '


@pytest.mark.parametrize(
    "arguments",
    [{"groups": {"size": ["a", "zz"]}}, {"adjust": "nonsense"}, {"adjust": None}, {"test": "x"},
     {"level": 7}],
)  # fmt: skip
@pytest.mark.parametrize(
    "type", [None, "permutation", "out_of_bag", "impurity", "held_out", "knockoff"]
)
def test_arguments_of_tests_for_other_importances(number_forest, type, arguments):
    with pytest.raises(InputError, match=next(iter(arguments)) + TESTS):
        number_forest.importance(type, **arguments)


def test_arguments_of_tests_of_other_results(class_tree, table):
    chunks = odrf.odrf("y ~ a + b", [table], n_trees=5, seed=1)
    for fit in (class_tree, chunks):
        with pytest.raises(InputError, match="groups" + TESTS):
            fit.importance("impurity", groups={"both": ["a", "b"]})
        kept = fit.importance("impurity", test="t", adjust="holm", groups=None, level=0.95)
        assert kept.equals(fit.importance("impurity"))


@pytest.mark.usefixtures("quick_stacks")
def test_arguments_of_a_stack(table):
    stack = odrf.auto("y ~ a + b", table, seed=1)
    with pytest.raises(InputError, match="level" + TESTS):
        stack.importance(level=0.9)
    with pytest.raises(InputError, match='level= is for interval="prediction": leave level= out'):
        stack.predict(table, level=7)


@pytest.mark.parametrize("method", ["pruning_path", "growth_path"])
def test_folds_beside_new_rows(number_tree, table, method):
    with pytest.raises(InputError, match=r"cv= is for paths without newdata=: leave cv= out"):
        getattr(number_tree, method)(newdata=table, cv=3)
    with pytest.raises(InputError, match="seed='x'"):
        getattr(number_tree, method)(newdata=table, seed="x")


def test_a_number_of_points_beside_points(number_forest):
    message = "points= is for variables without values=: leave points= out"
    with pytest.raises(InputError, match=message):
        number_forest.partial("a", values=[0, 1], points=3)
    with pytest.raises(InputError, match=message):
        number_forest.ice("a", values=[0, 1], points=3)
    surface = number_forest.partial(["a", "b"], values={"a": [0, 1]}, points=3)
    assert len(surface.table) == 6


@pytest.mark.parametrize(
    ("method", "arguments", "used"),
    [
        ("backward", {"rounds": 3}, "boruta"),
        ("backward", {"fdr": 0.2}, "knockoff"),
        ("boruta", {"drop": 0.3}, "backward"),
    ],
)
def test_arguments_of_another_selection(number_forest, method, arguments, used):
    with pytest.raises(InputError, match=f'= is for method="{used}": leave '):
        number_forest.select_variables(method, **arguments)


def test_importances_of_other_plots(number_forest, number_tree):
    for fit, kind in ((number_forest, "error"), (number_tree, "tree")):
        with pytest.raises(InputError, match='type= is for kind="importance": leave type= out'):
            fit.plot(kind, type="impurity")


def test_offsets_of_leaves(table):
    rounds = odrf.odbt("y ~ a + b", table, n_trees=3, seed=1)
    times = table.assign(t=table["a"].abs() + 0.1, e=table["b"] > 0)
    for fit in (rounds, odrf.odbt("Surv(t, e) ~ a + b", times, n_trees=3, seed=1)):
        with pytest.raises(InputError, match="offset= is for predictions of scores: leave offset="):
            fit.predict(table, "leaf", offset=1.0)


@pytest.mark.parametrize("argument", ["max_depth", "max_terms", "digits"])
def test_what_is_for_a_drawn_tree_is_not_for_importances(class_tree, argument):
    with pytest.raises(InputError, match=f'^{argument}= is for kind="tree": leave'):
        class_tree.plot("importance", **{argument: 2})


# ------------------------------------------------------------------------------------------------
# Why results of some kinds lack what others have.
# ------------------------------------------------------------------------------------------------

KINDS = {kind for kind in RESULTS.values() if issubclass(kind, AnyResults)}
SMALL = {"odt": {}, "odrf": {"n_trees": 5}, "odbt": {"n_trees": 3}, "graf": {"n_trees": 3}}


@cache
def fits_of_all_kinds() -> dict[str, Any]:
    """Fits of all functions to all responses, with and without rows, and rows out of bag."""
    data = DATA.assign(
        o=DATA["c"].astype(pd.CategoricalDtype(sorted(set(DATA["c"])), ordered=True))
    )
    made: dict[str, Any] = {}
    for response in ("y", "c", "o", "Surv(t, e)"):
        for name, options in SMALL.items():
            if not (name == "graf" and response == "Surv(t, e)"):
                formula = f"{response} ~ a + b + f"
                made[f"{name} of {response}"] = getattr(odrf, name)(
                    formula, data, seed=1, **options
                )
    for response in ("y", "c", "Surv(t, e)"):
        formula = f"{response} ~ a + b"
        made[f"runs of {response}"] = odrf.odbt(formula, data, n_trees=2, n_runs=3, seed=1)
        made[f"all rows of {response}"] = odrf.odrf(
            formula, data, n_trees=3, resample="none", seed=1
        )
        made[f"tree of {response}"] = made[f"odrf of {response}"].tree(0)
    for response in "yc":
        chunks = odrf.odrf(f"{response} ~ a + b", [data], n_trees=3, seed=1)
        made |= {f"chunks of {response}": chunks, f"pruned of {response}": chunks.prune(alpha=0.01)}
        made[f"updated of {response}"] = made[f"odrf of {response}"].update(data[:9])
        with with_quick_stacks():
            made[f"auto of {response}"] = odrf.auto(f"{response} ~ a + b", data, seed=1)
    made["blend"] = odrf.odrf("y ~ a + b", data, n_trees=30, blend=True, seed=1)
    made["surrogates"] = odrf.odt("y ~ a + b", data, missing="surrogate", seed=1)
    made["lines"] = odrf.odt("y ~ a + b", data, leaves="linear", seed=1)
    made["estimand"] = one("odrf of times").estimand("rmst", time=0.5)
    for name, fit in [*made.items()]:
        if hasattr(fit, "without_data"):
            made[f"{name}, without rows"] = fit.without_data()
    return made


def test_what_a_fit_has_is_in_its_dir_and_nothing_else():
    missed = {type(fit) for fit in fits_of_all_kinds().values()} ^ KINDS
    assert not missed
    wrong = []
    for words, fit in fits_of_all_kinds().items():
        listed = set(dir(fit))
        names = {name for each in type(fit).__mro__ for name in vars(each)} | set(NEED) | listed
        for name in sorted(name for name in names if not name.startswith("_")):
            try:
                getattr(fit, name)
                there = True
            except AbsentError as error:
                assert isinstance(error, InputError) and len(str(error)) > 20
                there = False
            except AttributeError as error:
                assert not hasattr(type(fit), name), (words, name, error)
                there = False
            if (name in listed) is not there:
                wrong.append((words, name, there))
    assert not wrong


def test_no_class_of_results_descends_from_more_than_five_others():
    for kind in KINDS:
        line = [each for each in kind.__mro__ if each.__module__.startswith("odrf.")]
        assert len(line) <= 6 and all(len(each.__bases__) == 1 for each in line), line


def test_dir_and_help_of_a_class_leave_out_what_it_lacks():
    assert "nodes" in dir(ODTResults) and "nodes" not in dir(ODRFResults)
    assert not hasattr(ODRFResults, "nodes")
    assert " |  nodes\n" in pydoc.plain(pydoc.render_doc(ODTResults))
    assert " |  nodes\n" not in pydoc.plain(pydoc.render_doc(ODRFResults))


def test_what_a_subclass_lacks_it_does_not_inherit():
    chunks = odrf.odrf("y ~ a", [DATA], n_trees=3, seed=1)
    assert isinstance(chunks, ODRFResults) and not hasattr(chunks, "kinds")
    assert why_absent(type(chunks), "nodes") == why_absent(ODRFResults, "nodes")
    with pytest.raises(AbsentError, match="StreamedResults has no 'to_sklearn': estimators of"):
        chunks.to_sklearn()
