"""The benchmark of rows in chunks runs, resumes, and removes its files."""

from __future__ import annotations

import sys

import pandas as pd

from benchmarks.many_rows import streamed


def test_error_time_and_memory_are_measured(tmp_path, monkeypatch, capsys):
    out, folder = tmp_path / "out.csv", tmp_path / "rows"
    arguments = ["streamed.py", "--out", str(out), "--folder", str(folder), "--trees", "5"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "3000", "4000", "--held", "3000"])
    assert streamed.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == len(streamed.METHODS) + 1
    assert not folder.exists()
    errors = lines.query("rows == 3000").set_index("method")["error"]
    assert errors["in chunks"] < 1.2 * errors["in memory"]
    assert (lines["seconds"] > 0).all()
    assert "4000, in chunks" in capsys.readouterr().out
    before = out.read_text()
    assert streamed.main() == 0
    assert out.read_text() == before
