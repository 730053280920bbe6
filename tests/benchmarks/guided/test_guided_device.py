"""The benchmark of the ways in which planes are evaluated, on small problems."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

from benchmarks.guided import guided_device


@pytest.mark.weekly
def test_the_ways_are_timed_and_agree(tmp_path, monkeypatch, capsys):
    out = tmp_path / "guided_device.csv"
    monkeypatch.setattr(guided_device, "SIZES", (100, 200, 300))
    monkeypatch.setattr(guided_device, "PREDICTORS_AND_TRIALS", ((3, 3),))
    always = ["guided_device.py", "--out", str(out), "--repeats", "1", "--trees", "2"]
    monkeypatch.setattr(sys, "argv", [*always, "--rows", "200"])
    assert guided_device.main() == 0
    lines = pd.read_csv(out)
    assert lines["rows"].unique().tolist() == [100, 200]
    assert lines["way"].unique().tolist()[:2] == ["plain", "batched"]
    assert (lines["agreement"] == 1).all()
    assert lines.groupby(["rows", "threads"])["kappa"].nunique().eq(1).all()
    capsys.readouterr()
    monkeypatch.setattr(sys, "argv", ["guided_device.py", "--report", str(out)])
    assert guided_device.main() == 0
    assert "at least 100.00 % of the rows have the class" in capsys.readouterr().out
