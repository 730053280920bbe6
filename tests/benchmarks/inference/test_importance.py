"""The benchmark of errors of importances runs, resumes, and finds them right for noise."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.inference import importance

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_noise_is_within_its_errors(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(importance, "ROWS", (80,))
    out = tmp_path / "importance.csv"

    def run(*options: str) -> pd.DataFrame:
        always = ["importance.py", "--out", str(out), "--trees", "40"]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert importance.main() == 0
        return pd.read_csv(out)

    lines = run("--repeats", "2")
    assert len(lines) == 2 * 2 * 2 * 8
    assert capsys.readouterr().out.count("\n| ") == 2 * 2 + 1
    noise = lines[~lines["predictor"].isin(["x0", "x1"])]
    assert 0.5 < (noise["importance"] / noise["std_error"]).std() < 1.4
    assert (lines["std_error"] > lines["monte_carlo_error"]).all()
    assert run("--repeats", "9").equals(lines)
