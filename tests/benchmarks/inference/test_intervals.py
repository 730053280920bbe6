"""The benchmark of intervals runs, resumes, and finds about the coverage that is promised."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.inference import intervals


@pytest.fixture
def run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, few_pilots: None
) -> Callable[..., pd.DataFrame]:
    """Run the script on small problems and return what its csv then holds."""
    monkeypatch.setattr(intervals, "MEAN_ROWS", 40)
    monkeypatch.setattr(intervals, "MEAN_TREES", 100)
    monkeypatch.setattr(intervals, "MEAN_POINTS", 30)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --rows 150 --trees 40"
        monkeypatch.setattr(sys, "argv", ["intervals.py", *always.split(), *options])
        assert intervals.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_coverage(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--repeats", "2")
    out, err = capsys.readouterr()
    assert "holds none of abalone, concrete" in err
    assert out.count("\n| ") == 3 * 2 + 3 * 3 + 3 * 4 + 1
    covered = lines.groupby(["problem", "method"])["covered"].mean()
    assert covered[:, "conformal"].between(0.91, 0.99).all()
    assert covered[:, "quantile"].between(0.84, 0.99).all()
    assert covered[:, "stack"].between(0.91, 0.99).all()
    width = lines.groupby(["problem", "method"])["width"].mean()
    assert width[:, "stack, narrow"].lt(width[:, "stack, wide"]).all()
    assert covered[:, "stack, narrow"].between(0.85, 1.0).all()
    for trees in ("100 trees", "as advised"):
        assert covered[:, f"jackknife, {trees}"].between(0.75, 1.0).all()
        # the interval does not allow for the forest's bias
        assert covered[:, f"jackknife, {trees}, truth"].lt(covered[:, f"jackknife, {trees}"]).all()
    assert (lines["missing"] == 0).all()
    again = run("--repeats", "9")
    assert again.equals(lines)
