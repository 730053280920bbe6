"""The benchmark of one tree of all rows in chunks runs, resumes, and removes its files."""

from __future__ import annotations

import sys

import pandas as pd

from benchmarks.many_rows import all_rows


def test_error_time_and_memory_are_measured(tmp_path, monkeypatch, capsys):
    out, folder = tmp_path / "out.csv", tmp_path / "rows"
    arguments = ["all_rows.py", "--out", str(out), "--folder", str(folder), "--threads", "1"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "5000", "6000", "--held", "5000"])
    assert all_rows.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * len(all_rows.METHODS) - 1
    assert not folder.exists()
    few = lines.query("rows == 5000").set_index("method")
    assert few["error"][all_rows.FILES] == few["error"][all_rows.FRAME]
    assert few["error"][all_rows.DIVIDED] < 1.3 * few["error"][all_rows.FRAME]
    assert few["n_levels"][all_rows.DIVIDED] > 0 < few["levels"][all_rows.DIVIDED]
    assert "6000, in chunks, 1" in capsys.readouterr().out
    before = out.read_text()
    assert all_rows.main() == 0
    assert out.read_text() == before
