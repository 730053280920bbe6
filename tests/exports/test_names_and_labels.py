"""Names and labels that another language lacks."""

from __future__ import annotations

import ast
import builtins

import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability.export_targets import (
    COMPILER,
    in_c,
    in_duckdb,
    in_onnx,
    in_python,
    in_sqlite,
    predicted,
)
from exported import wide_table
from odrf import InputError
from odrf.exports.python import TAKEN


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


EXPORTS = {
    "C": lambda fit: fit.to_c(),
    "ONNX": lambda fit: fit.to_onnx(),
    "SQLite": lambda fit: fit.to_sql("sqlite"),
    "DuckDB": lambda fit: fit.to_sql("duckdb"),
}


def factor_fit(levels):
    """Return a tree of a factor with these levels, and its rows."""
    code = np.arange(90) % 3
    data = pd.DataFrame({"f": pd.Categorical.from_codes(code, pd.Index(levels, dtype=object))})
    return odrf.odt("y ~ f", data.assign(y=code * 1.0), alpha=None, seed=1), data


@pytest.mark.parametrize("target", EXPORTS)
@pytest.mark.parametrize(
    "levels", [[1, "a", 2.5], ["1", 1, "b"], [True, "a", "b"], [True, 2, 3]], ids=str
)
def test_levels_of_several_types_are_refused_but_in_python(target, levels):
    fit, data = factor_fit(levels)
    with pytest.raises(InputError, match=r"the levels of 'f' are of several types: .*astype\(str"):
        EXPORTS[target](fit)
    assert in_python(fit.to_python(), data) == predicted(fit, data)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the option
@pytest.mark.parametrize("target", EXPORTS)
@pytest.mark.parametrize("label", ["a\0b", "a\ud800"])
def test_text_that_is_none_elsewhere_is_refused_but_in_python(target, label):
    with pd.option_context("future.infer_string", False):
        data = wide_table()[["a", "f", "c"]].replace({"f": {"x": label}, "c": {"low": label}})
        of_levels = odrf.odt("a ~ f", data, alpha=None, max_leaves=3, seed=1)
        of_classes = odrf.odt("c ~ a", data, seed=1)
        for fit, what in ((of_levels, "levels of 'f'"), (of_classes, "classes of 'c'")):
            with pytest.raises(InputError, match=f"the {what} include .* give it another name"):
                EXPORTS[target](fit)
            assert in_python(fit.to_python(), data) == predicted(fit, data)


@pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the option
@pytest.mark.parametrize("name", ["a\0b", "a\ud800", ""])
def test_names_without_a_spelling_elsewhere_are_written_in_c_and_python(name):
    with pd.option_context("future.infer_string", False):
        data = wide_table()[["a", "b", "y"]].rename(columns={"a": name})
        fit = odrf.odt("y ~ .", data, max_leaves=6, seed=1)
        expected = predicted(fit, data)
        assert in_python(fit.to_python(), data) == expected
        fit.to_dot().encode("utf-8")
        if COMPILER is not None:
            assert in_c(fit, data) == expected
        with pytest.raises(InputError, match=r"the name of column .* rename this column"):
            fit.to_onnx()


def test_names_that_end_comments_are_written_in_c():
    names = {"a": "/*/ */ /*", "b": "*/ int /*", "y": "the */ y /*"}
    data = wide_table()[["a", "b", "y"]].rename(columns=names)
    fit = odrf.odt("`the */ y /*` ~ .", data, max_leaves=6, seed=1)
    if COMPILER is not None:
        assert in_c(fit, data) == predicted(fit, data)


@pytest.mark.parametrize("target", ["C", "ONNX"])
@pytest.mark.parametrize("levels", [[2**60, 2**60 + 1, 3], [2**53, 1, 2], [-(2**53), 1, 2]])
def test_whole_numbers_from_2_to_the_53_are_no_levels_of_floats(target, levels):
    fit, data = factor_fit(levels)
    with pytest.raises(
        InputError, match=rf"levels of 'f' include {levels[0]}, a whole number that"
    ):
        EXPORTS[target](fit)
    assert in_python(fit.to_python(), data) == predicted(fit, data)


@pytest.mark.parametrize("levels", [[2**53 - 1, -3, 0], [0.5, 1, 5e-324], [-0.0, 1.5, 1e300]])
def test_levels_that_are_numbers_are_so_elsewhere_whatever_holds_them(levels):
    fit, data = factor_fit(levels)
    expected = predicted(fit, data)
    assert in_onnx(fit, data)[0] == expected
    assert in_sqlite(fit.to_sql("sqlite"), data) == expected
    assert in_duckdb(fit.to_sql("duckdb"), data) == expected
    if COMPILER is not None:
        assert in_c(fit, data) == expected


@pytest.mark.parametrize("target", EXPORTS)
def test_infinite_levels_and_classes_are_refused(target):
    fit, data = factor_fit([1.0, np.inf, -np.inf])
    with pytest.raises(InputError, match="the levels of 'f' include an infinite number"):
        EXPORTS[target](fit)
    of_classes = odrf.odt("f ~ x", data.assign(x=np.arange(90) % 3), seed=1)
    with pytest.raises(InputError, match="the classes of 'f' include an infinite number"):
        EXPORTS[target](of_classes)


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
