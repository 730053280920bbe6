"""The benchmark of a stream of rows, on few rows."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from benchmarks.many_rows import stream


@pytest.mark.weekly
def test_a_stream_is_followed(tmp_path, monkeypatch, capsys):
    out = tmp_path / "stream.csv"
    sizes = {"ROWS": 1000, "KEPT": 200, "BLOCK": 200, "JUDGED": 50, "BATCHES": (50,), "AFRESH": 400}
    for name, size in sizes.items():
        monkeypatch.setattr(stream, name, size)
    # a process of its own would have the sizes of the benchmark
    monkeypatch.setattr(stream, "lines_of", lambda b, trees, seed: stream.followed(b, trees, seed))
    monkeypatch.setattr(sys, "argv", ["stream.py", "--out", str(out), "--trees", "3"])
    assert stream.main() == 0
    lines = pd.read_csv(out)
    assert lines["rows"].tolist() == [400, 600, 800, 1000]
    assert lines["afresh"].notna().tolist() == [True, False, True, False]
    assert (lines["error"] > 0).all()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["stream.py", "--report", str(out)])
    assert stream.main() == 0
    assert "| 1,000 |" in capsys.readouterr().out
