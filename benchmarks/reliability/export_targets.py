"""Runs exported fits where they were exported to, on every row of a data frame.

Each function returns what it finds for the rows as plain values, None for a missing one; a list of
probabilities for each row where these are asked for.
"""

from __future__ import annotations

import ctypes
import json
import math
import re
import shutil
import sqlite3
import subprocess
import tempfile
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

__all__ = [
    "COMPILER",
    "as_plain",
    "compiled",
    "in_c",
    "in_duckdb",
    "in_onnx",
    "in_postgres",
    "in_python",
    "in_sqlite",
    "predicted",
]

COMPILER = shutil.which("cc") or shutil.which("gcc") or shutil.which("clang")
# Products and sums may be fused by these, if the text lets them.
FLAGS = ("-std=gnu99", "-O3", "-march=native", "-ffp-contract=fast", "-Wall", "-Wextra", "-Werror")
# A member of the struct of a row, and the name of its column in JSON where that is another one.
MEMBER = re.compile(r"^    (double |const char \*)(\w+);(?: /\* (.*) \*/)?$", re.M)
TABLE, ORDER = "observations", "number_of_row"
QUERY = f"SELECT {{}} FROM {TABLE} ORDER BY {ORDER}"


def as_plain(values: pd.Series | pd.DataFrame) -> list[Any]:
    """Return values as plain ones."""
    if isinstance(values, pd.DataFrame):
        return [[None if pd.isna(value) else value for value in row] for row in values.to_numpy()]
    return [None if pd.isna(value) else value for value in values.tolist()]


def predicted(fit: Any, new: pd.DataFrame, type: str = "response") -> list[Any]:
    """Return what `predict` gives."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", UserWarning)  # unseen levels are meant
        return as_plain(fit.predict(new, type=type))


def _with_order(new: pd.DataFrame) -> pd.DataFrame:
    factors = new.select_dtypes("category").columns
    return new.astype(dict.fromkeys(factors, object)).assign(**{ORDER: np.arange(len(new))})


def _rows(found: list[tuple[Any, ...]]) -> list[Any]:
    return [list(row) if len(row) > 1 else row[0] for row in found]


def in_sqlite(text: str, new: pd.DataFrame) -> list[Any]:
    """Run an expression in SQLite."""
    with sqlite3.connect(":memory:") as there:
        _with_order(new).to_sql(TABLE, there, index=False)
        return _rows(there.execute(QUERY.format(text)).fetchall())


def in_duckdb(text: str, new: pd.DataFrame) -> list[Any]:
    """Run an expression in DuckDB."""
    import duckdb  # noqa: PLC0415

    with duckdb.connect() as there:
        there.register("frame", _with_order(new))
        there.execute(f"CREATE TABLE {TABLE} AS SELECT * FROM frame")
        return _rows(there.execute(QUERY.format(text)).fetchall())


def in_postgres(text: str, new: pd.DataFrame, server: str) -> list[Any]:
    """Run an expression of one column in PostgreSQL, by psql; `server` says where it is."""
    rows = _with_order(new)
    kinds = {"i": "bigint", "f": "double precision", "b": "boolean"}
    columns = ", ".join(
        f'"{name}" {kinds.get(rows[name].dtype.kind, "text")}' for name in rows.columns
    )
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "rows.csv"
        rows.to_csv(path, index=False)
        script = (
            "SET jit = off;\n"  # to compile a tree takes longer than to run it
            f"CREATE TEMPORARY TABLE {TABLE} ({columns});\n"
            f"\\copy {TABLE} FROM '{path}' (FORMAT csv, HEADER)\n"
            f"CREATE TEMPORARY TABLE answers AS {QUERY.format(text)};\n"
            f"\\copy answers TO '{path}' (FORMAT csv)\n"
        )
        command = ["psql", "-qXv", "ON_ERROR_STOP=1", server]
        subprocess.run(command, input=script, text=True, check=True)
        return as_plain(pd.read_csv(path, header=None, skip_blank_lines=False)[0])


def in_python(text: str, new: pd.DataFrame, name: str = "predict") -> list[Any]:
    """Run a function of one row in Python."""
    there: dict[str, Any] = {}
    exec(text, there)
    found = [there[name](row) for row in new.to_dict("records")]
    if found and isinstance(found[0], dict):
        return as_plain(pd.DataFrame([list(row.values()) for row in found]))
    return [None if value != value else value for value in found]


@contextmanager
def compiled(text: str) -> Iterator[tuple[ctypes.CDLL, Any]]:
    """Yield the library of a text in C, and the type of its rows."""
    with tempfile.TemporaryDirectory() as folder:
        source, library = Path(folder) / "tree.c", Path(folder) / "tree.so"
        source.write_text(text, encoding="ascii")
        command = [str(COMPILER), *FLAGS, "-shared", "-fPIC", str(source), "-o", str(library)]
        subprocess.run([*command, "-lm"], check=True)
        kinds = {"double ": ctypes.c_double, "const char *": ctypes.c_char_p}
        members = [(name, kinds[kind]) for kind, name, _ in MEMBER.findall(text)]
        yield ctypes.CDLL(str(library)), type("Row", (ctypes.Structure,), {"_fields_": members})


def in_c(fit: Any, new: pd.DataFrame, type: str = "response", name: str = "predict") -> list[Any]:
    """Compile the text in C of a fit, and run its function."""
    K = 0 if fit.classes is None else len(fit.classes)
    text = fit.to_c(type, name=name)
    column_of = {re.sub(r"\W", "_", column): column for column in new.columns}
    for _, member, note in MEMBER.findall(text):
        column = json.loads(note) if note else member
        column_of[member] = column if column in new.columns else column_of[member]
    found: list[Any] = []
    with compiled(text) as (library, row):
        function = getattr(library, name)
        function.restype = ctypes.c_int if K else ctypes.c_double
        cells = [
            _cells(new[column_of[member]], kind is ctypes.c_char_p) for member, kind in row._fields_
        ]
        for values in zip(*cells, strict=True):
            given = ctypes.byref(row(*values))
            if type == "prob":
                shares = (ctypes.c_double * K)()
                function.restype = None
                function(given, shares)
                found.append([None if math.isnan(share) else share for share in shares])
                continue
            answer = function(given)
            if K:
                found.append(None if answer < 0 else fit.classes[answer])
            else:
                found.append(None if math.isnan(answer) else answer)
    return found


def _cells(column: pd.Series, is_text: bool) -> list[Any]:
    if is_text:
        return [None if pd.isna(cell) else str(cell).encode("utf-8") for cell in column]
    return [math.nan if pd.isna(cell) else float(cell) for cell in column]


def in_onnx(fit: Any, new: pd.DataFrame) -> tuple[list[Any], list[Any] | None]:
    """Run the model of a fit in onnxruntime; return predictions, and probabilities or None."""
    import onnxruntime  # noqa: PLC0415

    model, cells = fit.to_onnx(), {}
    for given in model.graph.input:
        column = new[given.name]
        if given.type.tensor_type.elem_type == 8:  # text
            cells[given.name] = column.astype(object).where(column.notna(), "").to_numpy()[:, None]
        else:
            cells[given.name] = column.to_numpy(np.float64, na_value=np.nan)[:, None]
    session = onnxruntime.InferenceSession(model.SerializeToString())
    names = [output.name for output in session.get_outputs()]
    found = dict(zip(names, session.run(names, cells), strict=True))
    if "prediction" in found:
        return as_plain(pd.Series(found["prediction"][:, 0])), None
    labels = [None if label == "" or label != label else label for label in found["label"].tolist()]
    return labels, as_plain(pd.DataFrame(found["probabilities"]))
