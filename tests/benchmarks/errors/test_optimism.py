"""The benchmark of optimism runs, resumes, and compares every forest with that as grown."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.errors import optimism

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_out_of_bag_errors_beside_those_on_new_rows(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(optimism, "ROWS", (60,))
    monkeypatch.setattr(optimism, "NEW_ROWS", 200)
    out = tmp_path / "optimism.csv"

    def run(*options: str) -> pd.DataFrame:
        always = ["optimism.py", "--out", str(out), "--trees", "20"]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert optimism.main() == 0
        return pd.read_csv(out)

    lines = run("--repeats", "2")
    printed = capsys.readouterr().out
    assert printed.count("\n| ") == 2 * 2 * 6 + 1
    assert printed.count("| 0.000 ± 0.000 |") >= 2 * 2
    assert len(lines) == 2 * 2 * 6 * 2
    assert (lines[["oob", "new"]] > 0).all(axis=None)
    assert run("--repeats", "9").equals(lines)
