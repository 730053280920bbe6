"""Names and labels that another language lacks."""

from __future__ import annotations

import ast
import builtins
import re
import warnings

import numpy as np
import pandas as pd
import pytest
import statsmodels.formula.api as smf
from hypothesis import given, settings
from hypothesis import strategies as st

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
from cases.tables import random_columns, random_new_rows
from exported import CASES, case, wide_table, with_holes
from odrf import InputError
from odrf.design.formula import quoted
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


# ------------------------------------------------------------------------------------------------
#
# ------------------------------------------------------------------------------------------------

TEXT = r'"(?:\\.|[^"\\])*"'
NAME = r"(?:[A-Za-z_]\w*|-?\d+(?:\.\d+)?|" + TEXT + ")"
SETTINGS = rf"\[{NAME}={NAME}(?:, {NAME}={NAME})*\]"
STATEMENT = re.compile(
    rf"\s*(?:(?P<tail>{NAME}) -> (?P<head>{NAME})|(?P<node>{NAME}))(?: (?P<settings>{SETTINGS}))?;"
    rf"|\s*{NAME}={NAME};"
)


def unescaped(match):
    return "\n" if match[1] == "n" else match[1]


def read(text):
    """Return the labels of the nodes and of the edges of a graph, by a strict reading."""
    begin = re.match(r"digraph \w+ \{", text)
    at, nodes, edges = begin.end(), {}, {}
    while not re.match(r"\s*\}\s*\Z", text[at:]):
        statement = STATEMENT.match(text, at)
        assert statement, text[at : at + 80]
        at = statement.end()
        settings = dict(re.findall(rf"({NAME})=({NAME})", statement["settings"] or ""))
        label = re.sub(r"\\(.)", unescaped, settings.get("label", "").strip('"'))
        if statement["tail"]:
            edges[int(statement["tail"]), int(statement["head"])] = label
        elif statement["node"] and statement["node"].isdigit():
            nodes[int(statement["node"])] = label
    return nodes, edges


@pytest.mark.parametrize("name", CASES)
def test_the_graph_has_the_nodes_and_their_children(name):
    fit, _ = case(name)
    nodes, edges = read(fit.to_dot())
    table = fit.nodes
    assert list(nodes) == table.index.tolist()
    splits = table[~table["leaf"]]
    yes = {(node, int(left)): "yes" for node, left in splits["left"].items()}
    no = {(node, int(right)): "no" for node, right in splits["right"].items()}
    assert edges == yes | no
    for node in table.index[table["leaf"]]:
        assert nodes[node].endswith(f"n = {table['count'][node]}")


def test_words_are_those_of_the_drawing():
    fit = odrf.odt("y ~ a + b + f", wide_table(), max_leaves=3, seed=1)
    drawn = {text.get_text() for text in fit.plot().texts}
    nodes, _ = read(fit.to_dot())
    for label in nodes.values():
        assert set(label.split("\n")) <= drawn


def test_odd_characters_are_escaped():
    odd = 'a "b" \\ c\nd'
    data = wide_table()[["y", "a"]].rename(columns={"a": odd})
    nodes, _ = read(odrf.odt("y ~ .", data, max_leaves=2, seed=1).to_dot())
    assert nodes[0].startswith('a "b" \\ c')


def test_names_and_classes_that_are_not_the_same_are_not_drawn_the_same():
    odd = ["a b", "a\nb", "a\rb", "a\0b", "a&amp;b", "a&b"]
    data = wide_table()[["a", "b"]].rename(columns={"b": "b\n&lt;"})
    data["c"] = np.array(odd)[np.digitize(data["a"], [-1, -0.5, 0, 0.5, 1])]
    fit = odrf.odt("c ~ .", data, alpha=None, min_leaf=1, seed=1)
    text = fit.to_dot()
    drawn = {label.split("\n")[0] for label in read(text)[0].values()}
    shown = {"a b", r"a\nb", r"a\rb", r"a\x00b", "a&amp;amp;b", "a&b"}
    assert shown <= drawn
    assert "\0" not in text and "\r" not in text


def test_digits_and_terms_are_chosen_and_checked():
    fit, _ = case("numbers")
    assert len(fit.to_dot(max_terms=None)) > len(fit.to_dot(max_terms=1))
    assert len(fit.to_dot(digits=6)) > len(fit.to_dot(digits=2))
    for options in ({"digits": 0}, {"max_terms": 0}):
        with pytest.raises(InputError, match="use a whole number"):
            fit.to_dot(**options)


# ------------------------------------------------------------------------------------------------
# Fits of random tables, exported to every target.
# ------------------------------------------------------------------------------------------------

REFUSED = (
    "holds dates",
    "holds durations",
    "counts as its rank",
    "cannot be written in another language",
    "empty text among its levels",
    "neither text nor numbers",
)


def random_fit(seed):
    """Return a fit of a usual table, and rows to predict; None where it is refused."""
    rng = np.random.default_rng([seed, 5])
    data = random_columns(rng, extreme=False)
    names = [quoted(name) for name in data.columns]
    right = [".", f". + {names[0]}:{names[-1]}", f"{names[0]} * {names[-1]}"]
    new = random_new_rows(rng, data)
    score = rng.normal(size=len(data)) + sum(
        (data[name] > data[name].median()).astype(float)
        for name in data.select_dtypes("float").columns
    )
    data["response"] = score if rng.random() < 0.5 else np.where(score > 0, "high", "low")
    missing = str(rng.choice(["split", "split", "median"]))
    formula = f"response ~ {right[rng.integers(3)]}"
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", UserWarning)
            fit = odrf.odt(formula, data, alpha=None, min_leaf=1, missing=missing, seed=1, n_jobs=1)
            fit.predict(new)
    except InputError:
        return None
    return fit, new


@settings(max_examples=25)
@given(st.integers(0, 10_000))
def test_every_row_is_predicted_as_by_predict_or_the_export_says_why_not(seed):
    found = random_fit(seed)
    if found is None:
        return
    fit, new = found
    expected = predicted(fit, new)
    targets = {
        "Python": lambda: in_python(fit.to_python(), new),
        "DuckDB": lambda: in_duckdb(fit.to_sql("duckdb"), new),
        "SQLite": lambda: in_sqlite(fit.to_sql("sqlite"), new),
        "ONNX": lambda: in_onnx(fit, new)[0],
    }
    if COMPILER is not None:
        targets["C"] = lambda: in_c(fit, new)
    for target, run in targets.items():
        try:
            assert run() == expected, target
        except InputError as refusal:
            assert any(words in str(refusal) for words in REFUSED), refusal


def test_most_random_fits_are_exported():
    exported = 0
    for seed in range(30):
        found = random_fit(seed)
        if found is None:
            continue
        try:
            found[0].to_python()
            exported += 1
        except InputError:
            pass
    assert exported >= 10


# ------------------------------------------------------------------------------------------------
# Splits that send all known values to one side, in other languages.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("low_when_empty", [True, False])
@pytest.mark.parametrize("column", ["a", "f"])
def test_empty_cells_against_all_others(column, low_when_empty):
    data = with_holes(wide_table(), ["a", "b", "f"], 0.2)
    empty = data[column].isna()
    data["y"] = np.where(empty == low_when_empty, 0.0, 9.0) + data["y"] / 1000
    fit = odrf.odt("y ~ a + b + f", data, max_leaves=2, seed=1)
    expected = predicted(fit, data)
    assert len(set(zip(expected, empty, strict=True))) == 2
    assert in_python(fit.to_python(), data) == expected
    assert in_sqlite(fit.to_sql("sqlite"), data) == expected
    known = data[~empty]
    assert in_sqlite(fit.to_sql("sqlite", complete=True), known) == predicted(fit, known)


# ------------------------------------------------------------------------------------------------
# Arithmetic of formulas, in other languages.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "term",
    [
        "I(-a + 2)",
        "I(+a - quarter * half)",
        "I(abs(a) ** 0.5)",
        "I(abs(a) ** 1.5)",
        "I(a ** 2 / 3)",
        "np.exp(a / 3)",
        "I(Q('two words') * 2)",
        "I(I(a) * 3)",
    ],
)
def test_arithmetic_is_written(term):
    half, quarter = 0.5, np.float64(0.25)
    data = wide_table().assign(**{"two words": lambda rows: rows["b"] / 100})
    fit = odrf.odt(f"y ~ {term}", data, max_leaves=6, seed=1)
    assert half == 2 * quarter and fit.n_leaves == 6
    expected = predicted(fit, data)
    assert in_python(fit.to_python(), data) == expected
    assert in_sqlite(fit.to_sql("sqlite"), data) == expected


@pytest.mark.parametrize(
    ("term", "part"),
    [
        ("I(abs(a) ** -1)", "abs(a) ** (-1)"),
        ("I(2.0 ** a)", "2.0 ** a"),
        ("I(a * True)", "True"),
        ("I(a > 0)", "a > 0"),
        ("I(a + 1 / far)", "far"),
        ("np.arctan(a)", "np.arctan(a)"),
        ("np.clip(a, 0, 1)", "np.clip(a, 0, 1)"),
        ("np.add.reduce([a, b])", "np.add.reduce([a, b])"),
    ],
)
def test_what_is_no_arithmetic_is_named(term, part):
    far = np.inf
    fit = odrf.odt(f"y ~ {term}", wide_table(), max_leaves=2, seed=1)
    assert far > 0
    with pytest.raises(InputError) as refusal:
        fit.to_python()
    assert f"because of {part!r}: exports know arithmetic" in str(refusal.value)


def test_functions_that_sql_does_not_have_are_named():
    data = wide_table()
    fit = odrf.odt("y ~ np.log1p(abs(a))", data, max_leaves=6, seed=1)
    assert in_python(fit.to_python(), data) == predicted(fit, data)
    with pytest.raises(InputError, match=r"to_sql\(\) does not know the function 'log1p'"):
        fit.to_sql("sqlite")


def test_functions_that_onnx_does_not_have_are_named():
    fit = odrf.odt("y ~ np.log1p(abs(a))", wide_table(), max_leaves=6, seed=1)
    pytest.importorskip("onnx")
    with pytest.raises(InputError, match=r"to_onnx\(\) does not know the function 'log1p'"):
        fit.to_onnx()


# ------------------------------------------------------------------------------------------------
# Tests of mean prediction.
# ------------------------------------------------------------------------------------------------


COLUMNS = ["mean", "mean_se", "mean_ci_lower", "mean_ci_upper", "obs_ci_lower", "obs_ci_upper"]


@pytest.fixture(scope="module")
def forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=60, seed=1)


@pytest.mark.filterwarnings("ignore:60 trees are few")
@pytest.mark.parametrize("of_training", [True, False])
def test_it_has_the_numbers_of_predict(forest, table, of_training):
    new = None if of_training else table[::3]
    frame = forest.get_prediction(new).summary_frame(level=0.8)
    assert list(frame) == COLUMNS
    means = forest.predict(new, interval="confidence", level=0.8)
    responses = forest.predict(new, interval="prediction", level=0.8)
    assert frame.index.equals(means.index)
    assert (frame["mean"] == means["estimate"]).all()
    assert (frame["mean_se"] == means["std_error"]).all()
    for end, own in (("lower", "conf_low"), ("upper", "conf_high")):
        np.testing.assert_allclose(frame[f"mean_ci_{end}"], means[own], rtol=1e-12)
        np.testing.assert_allclose(frame[f"obs_ci_{end}"], responses[own], rtol=1e-12)


@pytest.mark.filterwarnings("ignore:60 trees are few")
def test_intervals_are_one_by_one_what_the_frame_has(forest, table):
    prediction = forest.get_prediction(table[:7])
    frame = prediction.summary_frame()
    assert (prediction.conf_int() == frame[["mean_ci_lower", "mean_ci_upper"]]).all(axis=None)
    assert (prediction.conf_int(obs=True) == frame[["obs_ci_lower", "obs_ci_upper"]]).all(axis=None)
    assert (prediction.var_pred_mean == frame["mean_se"] ** 2).all()
    assert "mean_se" in repr(prediction)


def test_columns_are_those_of_statsmodels(forest, table):
    linear = smf.ols("y ~ a + b", table).fit()
    assert list(linear.get_prediction(table).summary_frame()) == COLUMNS


def test_only_forests_of_numbers_have_it(table, class_forest, number_tree):
    with pytest.raises(InputError, match="needs a regression"):
        class_forest.get_prediction(table)
    with pytest.raises(AttributeError, match="it is of forests"):
        number_tree.get_prediction(table)
    every = odrf.odrf("y ~ a + b + f", table, n_trees=3, resample="none", seed=1)
    with pytest.raises(InputError, match=r"out-of-bag|out of bag"):
        every.get_prediction(table)


@pytest.mark.filterwarnings("ignore:60 trees are few")
@pytest.mark.parametrize("level", [0, 1, -0.1, "x", None])
def test_the_level_is_a_share(forest, table, level):
    with pytest.raises(InputError, match="level="):
        forest.get_prediction(table[:3]).summary_frame(level=level)


@pytest.mark.filterwarnings("ignore:60 trees are few")
def test_alpha_of_statsmodels_is_answered_by_the_level(forest, table):
    prediction = forest.get_prediction(table[:3])
    for call in (prediction.summary_frame, prediction.conf_int):
        with pytest.raises(
            InputError, match=r"no argument 'alpha': use level=, which is 1 - alpha"
        ):
            call(alpha=0.1)
    with pytest.raises(InputError, match=r"use level=, which is 1 - alpha"):
        forest.predict(table[:3], interval="prediction", alpha=0.1)
    with pytest.raises(InputError, match="did you mean 'level'"):
        forest.predict(table[:3], interval="prediction", conf_level=0.9)
    with pytest.raises(
        TypeError, match=r"takes none by position, .*summary_frame\(…, name=value\)"
    ):
        prediction.summary_frame(0.1)
