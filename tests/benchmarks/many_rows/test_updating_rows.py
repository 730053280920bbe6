"""The benchmark of updates with few rows, on small problems."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from benchmarks.many_rows import updating_rows
from odrf.engine.growth import tree_update


@pytest.mark.weekly
def test_updates_are_timed(tmp_path, monkeypatch, capsys):
    out, few = tmp_path / "updating_rows.csv", tree_update.FEW
    monkeypatch.setattr(updating_rows, "SIZES", (100, 200))
    monkeypatch.setattr(updating_rows, "MOST_FOR_ALL", 100)
    monkeypatch.setattr(updating_rows, "BATCHES", (1, 5))
    always = ["updating_rows.py", "--out", str(out), "--repeats", "1", "--trees", "2"]
    monkeypatch.setattr(sys, "argv", always)
    assert updating_rows.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == (2 + 1) * 3 * 2
    assert (lines["seconds"] > 0).all() and few == tree_update.FEW
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["updating_rows.py", "--report", str(out)])
    assert updating_rows.main() == 0
    assert "| 5, 200 |" in capsys.readouterr().out
