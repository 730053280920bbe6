from __future__ import annotations

import sqlite3

import duckdb
import numpy as np
import pandas as pd
import pytest

import odrf
from benchmarks.reliability.export_targets import in_duckdb, in_sqlite, predicted
from exported import CASES, LINES, case, case_of_lines, wide_table
from odrf import InputError
from odrf.exports.sql import DIALECTS
from odrf.exports.trees import _of_ordinal, _ordinal

TYPES = ("response", "leaf", "prob")


RUN = {"duckdb": in_duckdb, "postgres": in_duckdb, "sqlite": in_sqlite}
"""How each dialect is run: the text for PostgreSQL runs in DuckDB, too."""

OLD = int(duckdb.__version__.split(".")[0]) < 2
"""Before 2.0, DuckDB rounded decimals twice, as PostgreSQL does not."""


@pytest.fixture(scope="module", params=[name for name in CASES if "surrogate" not in name])
def fitted(request):
    return case(request.param)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
@pytest.mark.parametrize("type", TYPES)
def test_every_row_is_predicted_as_by_predict(fitted, dialect, type):
    fit, new = fitted
    if type == "prob" and fit.kind == "regression":
        pytest.skip("no classes")
    found, expected = RUN[dialect](fit.to_sql(dialect, type), new), predicted(fit, new, type)
    if dialect == "postgres" and OLD and type != "leaf" and not isinstance(expected[0], str):
        np.testing.assert_allclose(
            np.array(found, float), np.array(expected, float), rtol=3e-16, atol=0
        )
    else:
        assert found == expected


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
def test_complete_rows_have_a_shorter_text(fitted, dialect):
    fit, _ = fitted
    data = wide_table()
    short = fit.to_sql(dialect, "leaf", complete=True)
    assert len(short) < len(fit.to_sql(dialect, "leaf"))
    assert RUN[dialect](short, data) == predicted(fit, data, "leaf")


def test_labels_of_numbers_and_truths_are_no_text():
    data = wide_table()
    for name in ("k", "t"):
        fit = odrf.odt(f"{name} ~ a + b", data, kind="classification", seed=1)
        for dialect in ("duckdb", "sqlite"):
            assert RUN[dialect](fit.to_sql(dialect), data) == predicted(fit, data, "response")


def test_odd_names_of_columns_are_quoted():
    data = wide_table()[["y", "a"]].rename(columns={"a": 'x "of" it\'s; --'})
    fit = odrf.odt("y ~ .", data, seed=1)
    for dialect in ("duckdb", "sqlite"):
        assert RUN[dialect](fit.to_sql(dialect), data) == predicted(fit, data, "response")


@pytest.mark.parametrize("dialect", ["duckdb", "sqlite"])
@pytest.mark.parametrize("complete", [False, True])
@pytest.mark.parametrize("end", ["\n", "\r\n", "\n       "])
def test_line_breaks_in_names_levels_and_classes_stay_as_they_are(dialect, complete, end):
    data = wide_table()[["a", "b", "f", "c"]].rename(columns={"a": f"a{end}(cm)"})
    data["f"] = data["f"] + f"{end}z"
    data["c"] = data["c"] + f"{end}z"
    fit = odrf.odt("c ~ .", data, alpha=None, seed=1)
    text = fit.to_sql(dialect, complete=complete)
    assert any(line.startswith("        ") for line in text.split("\n"))
    assert RUN[dialect](text, data) == predicted(fit, data)


@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
@pytest.mark.parametrize(
    ("name", "problem"), [("", "has no characters"), ("a\0b", "has the character NUL")]
)
def test_names_that_sql_cannot_hold_are_refused(dialect, name, problem):
    data = wide_table()[["a", "y"]].rename(columns={"a": name})
    fit = odrf.odt("y ~ .", data, seed=1)
    with pytest.raises(InputError, match=f"name of column .* {problem}, which .* rename this"):
        fit.to_sql(dialect)
    named = odrf.odt("c ~ a", wide_table().replace({"c": {"low": name}}), seed=1)
    with pytest.raises(InputError, match=r"(name of|classes of) .* before fitting"):
        named.to_sql(dialect, "prob")


@pytest.mark.parametrize(
    ("dialect", "names", "same"),
    [
        ("sqlite", ("a", "A"), True),
        ("duckdb", ("Y", "a"), True),
        ("duckdb", ("é", "É"), False),
        ("sqlite", ("é", "e\u0301"), False),
        ("postgres", ("a", "A"), False),
        ("postgres", ("é" * 31 + "a", "é" * 31 + "b"), False),
        ("postgres", ("é" * 32 + "a", "é" * 32 + "b"), True),
    ],
)
def test_names_that_a_dialect_takes_for_the_same_are_refused(dialect, names, same):
    data = wide_table()[["a", "b", "y"]].rename(columns=dict(zip("ab", names, strict=True)))
    fit = odrf.odt("y ~ .", data, max_leaves=8, seed=1)
    if same:
        with pytest.raises(InputError, match=r"names of column .* are the same in .* rename one"):
            fit.to_sql(dialect)
    elif dialect == "postgres":
        assert '"' + names[1] + '"' in fit.to_sql(dialect)
    else:
        assert RUN[dialect](fit.to_sql(dialect), data) == predicted(fit, data)


@pytest.mark.parametrize("dialect", RUN)
def test_cells_far_from_those_of_training_are_predicted(dialect):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=150), "b": rng.normal(size=150)})
    fit = odrf.odt("y ~ a + b", data.assign(y=data["a"] - data["b"] > 0), alpha=None, seed=1)
    assert (fit.splits.groupby("node")["predictor"].nunique() > 1).any()
    far = np.array([1e299, -1e299, 1e35, -1e35, 1.0, np.nan])
    new = pd.DataFrame({"a": np.repeat(far, 6), "b": np.tile(far, 6)})
    for type in TYPES:
        assert RUN[dialect](fit.to_sql(dialect, type), new) == predicted(fit, new, type)


def test_sqlite_reads_the_digits_of_every_number():
    rng = np.random.default_rng(1)
    values = [*rng.normal(size=20_000), *np.exp(rng.uniform(-700, 700, 20_000)), 0.0, -0.0]
    values += [0.4095382363454593, 5e-324, -1e-310, 4.6155513265244785e-299, 1.7976931348623157e308]
    with sqlite3.connect(":memory:") as there:
        for value in map(float, values):
            text = DIALECTS["sqlite"].number(value)
            assert there.execute(f"SELECT {text}").fetchone()[0] == value, text


@pytest.mark.parametrize(
    ("levels", "dialects"),
    [
        ([2**63 - 2, 2**63 - 1, 5], ("duckdb", "sqlite")),
        ([2**63, 2**63 + 1, 5], ("duckdb",)),
        ([2**53, 2**53 + 1, 0.5], ()),
    ],
)
def test_whole_numbers_are_levels_where_a_dialect_tells_them_apart(levels, dialects):
    code = np.arange(60) % 3
    data = pd.DataFrame({"f": pd.Categorical.from_codes(code, pd.Index(levels, dtype=object))})
    fit = odrf.odt("y ~ f", data.assign(y=code * 1.0), alpha=None, seed=1)
    for dialect in ("duckdb", "sqlite"):
        if dialect in dialects:
            assert RUN[dialect](fit.to_sql(dialect), data) == predicted(fit, data)
        else:
            with pytest.raises(InputError, match=r"levels of 'f' include \d+, a whole number that"):
                fit.to_sql(dialect)


def test_classes_that_are_no_whole_numbers_are_floats_in_postgres():
    data = wide_table().assign(n=lambda rows: rows["c"].map({"low": 0.1, "mid": 0.3, "top": 2.5}))
    fit = odrf.odt("n ~ a", data, kind="classification", seed=1)
    assert fit.to_sql("postgres").endswith("AS DOUBLE PRECISION)")
    assert in_duckdb(fit.to_sql("postgres"), data) == predicted(fit, data)


def test_a_tree_without_splits_is_a_number():
    fit = odrf.odt("y ~ a", wide_table(), max_leaves=1, seed=1)
    assert float(fit.to_sql("duckdb")) == fit.predict(wide_table())[0]


def test_splits_between_leaves_of_one_class_are_not_written():
    fit, _ = case("classes")
    assert fit.to_sql("duckdb").count(" THEN\n") < fit.to_sql("duckdb", "leaf").count(" THEN\n")


def test_deep_trees_are_shallow_in_sql():
    data = pd.DataFrame({"a": np.arange(80.0), "y": 1.7 ** np.arange(80)})
    fit = odrf.odt("y ~ a", data, alpha=None, min_leaf=1, seed=1)
    assert fit.nodes["depth"].max() > 12
    text = fit.to_sql("sqlite")
    indents = [len(line) - len(line.lstrip()) for line in text.split("\n")]
    assert max(indents) <= 4 * np.log2(fit.n_leaves)
    assert in_sqlite(text, data) == predicted(fit, data)


def test_whole_numbers_are_compared_with_halves():
    fit = odrf.odt("y ~ k", wide_table(), max_leaves=2, seed=1)
    assert '"k" <= 1.5' in fit.to_sql("sqlite") or '"k" <= 0.5' in fit.to_sql("sqlite")


@pytest.mark.parametrize("value", [0.0, 1.0, -1.0, 5e-324, -5e-324, 1.7e308, -1.7e308])
def test_floats_are_numbered_in_their_order(value):
    assert _of_ordinal(_ordinal(value)) == value
    assert _of_ordinal(_ordinal(value) + 1) == np.nextafter(value, np.inf)


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        ("y ~ bs(a, df=4)", "'bs\\(a, df=4\\)' has several columns"),
        ("y ~ own(a)", "'own\\(a\\)' cannot be written in another language"),
        ("y ~ day", "column 'day' holds dates"),
        ("y ~ I(day)", "'I\\(day\\)' counts as a date"),
        ("y ~ id", "'id' counts as its rank"),
    ],
)
def test_terms_that_no_other_language_has_are_named(formula, message):
    def own(x):
        return x + 1

    data = wide_table().sort_values("y")
    data["day"] = pd.date_range("2020-01-01", periods=len(data))
    data["id"] = 10.0**15 + np.arange(len(data)) ** 2 * (np.arange(len(data)) > 5)
    data.loc[data.index[0], "id"] = -1e20
    fit = odrf.odt(formula, data, seed=1)
    assert own(1) == 2
    for export in (lambda: fit.to_sql("duckdb"), fit.to_python):
        with pytest.raises(InputError, match=message):
            export()


def test_what_no_split_uses_need_not_be_known():
    data = wide_table().assign(day=pd.date_range("2020-01-01", periods=len(wide_table())))
    data["day"] = data["day"].sample(frac=1, random_state=1).to_numpy()
    fit = odrf.odt("y ~ a + day + bs(k, df=4)", data, max_leaves=2, projection="axis", seed=1)
    assert set(fit.splits["predictor"]) == {"a"}
    assert in_duckdb(fit.to_sql("duckdb"), data) == predicted(fit, data)
    assert 'row["day"]' not in fit.to_python().replace("'", '"')
    assert "double day" not in fit.to_c()


def test_arguments_are_checked():
    fit = odrf.odt("y ~ a", wide_table(), seed=1)
    with pytest.raises(InputError, match="dialect"):
        fit.to_sql("oracle")
    with pytest.raises(InputError, match="type"):
        fit.to_sql("duckdb", "trees")
    with pytest.raises(InputError, match="needs classes"):
        fit.to_sql("duckdb", "prob")
    with pytest.raises(InputError, match="surrogates"):
        case("holes, surrogate")[0].to_sql("duckdb")


@pytest.mark.parametrize(
    ("name", "given"),
    [("to_sql", ["duckdb"]), ("to_python", []), ("to_c", []), ("to_onnx", [])],
)
def test_classes_of_other_types_are_refused(name, given):
    data = pd.DataFrame({"a": range(20), "y": pd.cut(range(20), 2)})
    with pytest.raises(InputError, match="the classes of 'y' are of type Interval"):
        getattr(odrf.odt("y ~ a", data, seed=1), name)(*given)


@pytest.mark.filterwarnings("ignore:.*levels that no training row has")
@pytest.mark.parametrize("dialect", ["duckdb", "postgres", "sqlite"])
@pytest.mark.parametrize("name", LINES)
def test_lines_of_leaves_are_those_of_predict(name, dialect):
    fit, new = case_of_lines(name)
    assert RUN[dialect](fit.to_sql(dialect, "leaf"), new) == predicted(fit, new, "leaf")
    found, expected = RUN[dialect](fit.to_sql(dialect), new), predicted(fit, new)
    if dialect == "duckdb":
        assert found == expected
    else:  # SQLite has no floats of 32 bits, and this DuckDB may round decimals twice
        near = 1e-6 if dialect == "sqlite" else 1e-14
        np.testing.assert_allclose(
            np.array(found, float), np.array(expected, float), rtol=near, atol=near
        )


def test_lines_of_complete_rows_have_a_shorter_text():
    fit, data = case_of_lines("numbers")[0], wide_table()
    short = fit.to_sql("duckdb", complete=True)
    assert len(short) < len(fit.to_sql("duckdb"))
    assert in_duckdb(short, data) == predicted(fit, data)
