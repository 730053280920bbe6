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
        ({"interval": "prediction"}, ": intervals are those of odrf.odrf and odrf.auto$"),
        ({"se_fit": True}, r": standard errors are those of odrf.odrf: get_prediction\(\)$"),
        ({"kind": "prob"}, "; did you mean 'type'[?]$"),
        ({"what": 1}, "; it has newdata, type, priors, training, progress$"),
    ],
)
def test_arguments_that_predictions_of_a_tree_lack(class_tree, table, arguments, way_out):
    with pytest.raises(TypeError, match=way_out):
        class_tree.predict(table, **arguments)
