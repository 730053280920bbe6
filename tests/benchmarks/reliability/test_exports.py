"""The benchmark of exports runs every target on a table, and finds no row that differs."""

from __future__ import annotations

from pathlib import Path

import pytest

from benchmarks.reliability import exports
from benchmarks.reliability.export_targets import COMPILER
from exported import wide_table


@pytest.mark.skipif(COMPILER is None, reason="no compiler of C")
def test_no_row_differs_in_any_target(tmp_path: Path) -> None:
    data = wide_table()[["a", "b", "f", "c"]].rename(columns={"c": "y"})
    data.to_csv(tmp_path / "small.csv.gz", index=False)
    (tmp_path / "index.csv").write_text("name,task\nsmall,classification\n")
    out = tmp_path / "exports.csv"
    asked = ["--data", str(tmp_path), "--out", str(out), "--tables", "small", "--trees", "3"]
    lines = exports.main(asked)
    assert set(lines["target"]) == {"C", "ONNX", "Python", "DuckDB", "SQLite"}
    assert lines["fit"].value_counts().to_dict() == {"odt": 5, "odrf": 2}
    assert (lines["rows"] == len(data)).all()
    assert (lines["different"] == 0).all()
    assert out.read_text().count("\n") == len(lines) + 1
