"""The benchmark of groups runs, resumes, and finds what groups= promises."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.inference import groups


def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(groups, "GROUPS", 30)
    monkeypatch.setattr(groups, "ROWS", 8)
    monkeypatch.setattr(groups, "NEW_GROUPS", 100)
    monkeypatch.setattr(groups, "SHARES", (0.6,))
    options = ["--repeats", "3", "--trees", "40", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["groups.py", *options])
    assert groups.main() == 0
    first = capsys.readouterr().out
    assert first.count("\n| ") == 2 + 1
    lines = pd.read_csv(tmp_path / "out.csv").groupby("method").mean(numeric_only=True)
    assert lines.loc["groups", "covered"] > 0.84 > 0.8 > lines.loc["rows", "covered"]
    assert lines.loc["rows", "oob"] > lines.loc["rows", "new"] + 0.2
    assert abs(lines.loc["groups", "oob"] - lines.loc["groups", "new"]) < 0.2
    assert groups.main() == 0
    assert capsys.readouterr().out == first
