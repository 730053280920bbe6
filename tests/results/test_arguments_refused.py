"""Arguments of methods that say nothing of this fit are refused by name."""

from __future__ import annotations

import numpy as np
import pytest

import odrf
from odrf import InputError


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
    for fit in (class_tree, chunks, odrf.odt("y ~ a + b", [table], seed=1)):
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


def test_how_variables_of_curves_are_given(number_forest):
    with pytest.raises(TypeError, match=r"^partial\(\) needs variables="):
        number_forest.partial()
    way_out = r"^partial\(\) takes variables by position.*: write variables=\['a', 'b'\]$"
    with pytest.raises(TypeError, match=way_out):
        number_forest.partial("a", "b")
    with pytest.raises(TypeError, match=r"^partial\(\) takes variables by position.*: name the"):
        number_forest.partial("a", 3)


@pytest.mark.parametrize("argument", ["max_depth", "max_terms", "digits"])
def test_what_is_for_a_drawn_tree_is_not_for_importances(class_tree, argument):
    with pytest.raises(InputError, match=f'^{argument}= is for kind="tree": leave'):
        class_tree.plot("importance", **{argument: 2})
