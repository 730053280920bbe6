"""The benchmark of boosted trees' times runs, resumes, and reports."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from benchmarks.methods.methods import Method
from benchmarks.speed import boosting_time


def waits(train, task, setting):
    sum(range(len(train)))


def test_times_are_measured_in_turns(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=90), "y": rng.choice(list("uvw"), 90)})
    data.to_csv(tmp_path / "made.csv.gz", index=False)
    index = pd.DataFrame({"name": ["made"], "task": ["classification"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    out = tmp_path / "out.csv"
    methods = {name: Method("none", waits) for name in ("odbt", "lightgbm")}
    monkeypatch.setattr(boosting_time, "METHODS", methods)
    arguments = ["boosting_time.py", "--data", str(tmp_path), "--out", str(out), "--repeats", "2"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert boosting_time.main() == 0
    lines = pd.read_csv(out)
    assert lines["method"].tolist() == ["odbt", "lightgbm", "lightgbm", "odbt"]
    assert (lines[["rows", "predictors", "outputs"]] == [60, 1, 3]).all(axis=None)
    before = out.read_text()
    assert boosting_time.main() == 0
    assert out.read_text() == before
    capsys.readouterr()


def test_the_report_has_ratios_of_medians():
    lines = pd.DataFrame(
        [
            ("a", 100, 4, 1, turn, method, seconds)
            for method, times in {"odbt": (4.0, 2.0, 9.0), "lightgbm": (1.0, 2.0, 5.0)}.items()
            for turn, seconds in enumerate(times)
        ],
        columns=boosting_time.COLUMNS,
    )
    printed = boosting_time.report(lines)
    assert "| a | 100 | 4 | 1 | 4.000 | 2.000 | 2.0 |" in printed
    assert "above 3 on 0 of 1 tables" in printed
