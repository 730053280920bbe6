"""Names and labels that another language lacks."""

from __future__ import annotations

import ast
import builtins

import pandas as pd
import pytest

import odrf
from exported import wide_table
from odrf import InputError
from odrf.exports.python_text import TAKEN


def test_columns_whose_names_become_the_same_in_c_are_told_apart():
    data = wide_table().rename(columns={"a": "x y", "b": "x.y"})
    text = odrf.odt("y ~ .", data[["y", "x y", "x.y"]], max_leaves=6, seed=1).to_c()
    assert " x_y;" in text
    assert " x_y_;" in text


@pytest.mark.parametrize("name", ["math", "struct", "_leaf", "_columns", "max", "CLASSES"])
def test_names_that_the_text_has_for_something_else_are_refused_in_python(name):
    fit = odrf.odt("y ~ a + b", wide_table(), max_leaves=4, seed=1)
    with pytest.raises(InputError, match=f"name='{name}' has another meaning in the text"):
        fit.to_python(name=name)


def test_names_that_the_text_of_python_uses_are_all_known():
    fit = odrf.odt("c ~ a + f + log(p)", wide_table().assign(p=2.0), max_leaves=4, seed=1)
    used = {
        node.id
        for node in ast.walk(ast.parse(fit.to_python()))
        if isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load)
    }
    there: dict[str, object] = {}
    exec(fit.to_python(), there)
    assert used & (there.keys() | vars(builtins).keys()) <= {*TAKEN}


def test_classes_of_several_types_are_refused_in_c():
    data = wide_table()
    data["c"] = pd.Categorical(data["c"].map({"low": 1, "mid": "mid", "top": "top"}))
    fit = odrf.odt("c ~ a + b + f", data, max_leaves=4, seed=1)
    with pytest.raises(InputError, match="the classes of 'c' are of several types: make them text"):
        fit.to_c()


def test_levels_that_are_neither_text_nor_numbers_are_refused():
    data = wide_table()
    data["f"] = pd.Categorical(pd.to_datetime(data["f"].map({"x": "2024"}).fillna("2025")))
    fit = odrf.odt("y ~ a + b + f", data, max_leaves=6, seed=1)
    with pytest.raises(InputError, match="the levels of 'f' are neither text nor numbers"):
        fit.to_python()


def test_levels_of_several_columns_are_refused():
    data = wide_table()
    fit = odrf.odt("y ~ a + b + C(k + t)", data, max_leaves=6, seed=1)
    with pytest.raises(InputError, match=r"the term 'C\(k \+ t\)' cannot be written"):
        fit.to_python()
