"""The benchmark of predictions runs, and its report says what the microseconds say."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.speed import prediction


def test_ratios_and_targets_are_those_of_the_lines() -> None:
    lines = pd.DataFrame(
        [("batches", 200, 10, 2, 100, 100, method, "1", us) for method, us in
         (("odrf", 4.0), ("ydf_oblique", 8.0), ("ydf_axis", 6.0))],
        columns=prediction.COLUMNS,
    )  # fmt: skip
    text = prediction.report(lines)
    assert "ydf_oblique takes at least 2 times as long as odrf in 1 of 1 cases" in text
    assert "ydf_axis takes at least 2 times as long as odrf in 0 of 1 cases" in text
    assert "| 200, 10, 2 | 4.00 | 8.00 | 6.00 | 2.0 | 1.5 |" in text


def test_predictions_are_timed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    tasks = [("batches", 200, 10, 2), ("single", 200, 10, 1)]
    monkeypatch.setattr(prediction, "tasks", lambda largest: tasks)
    monkeypatch.setattr(prediction, "BATCH_TREES", 5)
    monkeypatch.setattr(prediction, "ROW_TREES", 5)
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["prediction.py", "--out", str(out), "--turns", "2"])
    prediction.main()
    lines = pd.read_csv(out)
    assert set(lines["size"]) == {10_000, 1_000, 100, 1}
    assert (lines["microseconds"] > 0).all()
    assert "Single rows" in capsys.readouterr().out
