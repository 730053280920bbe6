"""The benchmark of kept rows runs, resumes, and reports what is lost."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.guided import sensitivity
from odrf import simulate


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on two small tables and return what its csv then holds."""
    monkeypatch.setattr(sensitivity, "TUNING_TREES", 2)
    monkeypatch.setattr(sensitivity, "MODEL_TREES", 3)
    names = ["board", "slices"]
    index = pd.DataFrame({"name": names, "task": "classification"})
    index.to_csv(tmp_path / "index.csv", index=False)
    for name, problem in zip(names, (simulate.checkerboard(), simulate.pie()), strict=True):
        problem.sample(150, seed=1).to_csv(tmp_path / f"{name}.csv.gz", index=False)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 4 --rows 120"
        always += " --tables board,slices"
        monkeypatch.setattr(sys, "argv", ["sensitivity.py", *always.split(), *options])
        assert sensitivity.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(
    run: Callable[..., pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run("--repeats", "2")
    assert len(lines) == 2 * 2 * 6 * 2
    assert not lines.duplicated(["table", "repeat", "rows", "model"]).any()
    assert (lines["n_train"] == 84).all() and lines["error"].between(0, 1).all()
    out = capsys.readouterr().out
    assert out.count("\n| ") == 2 * (2 + 2)
    assert run("--repeats", "2", "--report", str(tmp_path / "out.csv")).equals(lines)
    assert capsys.readouterr().out == out
    assert run("--repeats", "2").equals(lines)


def test_losses_are_against_all_rows() -> None:
    keys = ["table", "repeat", "rows", "model", "error"]
    errors = [("all rows", 0.1), ("uniform", 0.2), ("top, regions of 2", 0.15)]
    lines = [("t", repeat, rows, "odrf", error) for repeat in range(2) for rows, error in errors]
    text = sensitivity.report(pd.DataFrame(lines, columns=keys))
    assert text.splitlines()[-1] == "| t | 10.0 | 10.0 ± 0.0 | **5.0 ± 0.0** |"


def test_rows_of_one_class_predict_it() -> None:
    data = pd.DataFrame({"x": range(4), "y": list("aaab")})
    assert sensitivity.errors(data[:2], data, "all", 1) == {"odrf": 0.25, "graf": 0.25}
