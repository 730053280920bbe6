"""The benchmark of honest forests runs, resumes, and knows a calibrated probability."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import honesty


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on two small tables and return what its csv then holds."""
    few = {name: honesty.METHODS[name] for name in ("plain", "honest", "honest, s = n^0.7")}
    monkeypatch.setattr(honesty, "METHODS", few)
    rng = np.random.default_rng(1)
    names = ["german_credit", "low_birth_weight"]
    kinds = ["classification", "regression"]
    pd.DataFrame({"name": names, "task": kinds}).to_csv(tmp_path / "index.csv", index=False)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    late = data["a"] + rng.normal(size=90) > 0
    data.assign(y=np.where(late, "late", "paid")).to_csv(
        tmp_path / f"{names[0]}.csv.gz", index=False
    )
    data.assign(LOW=late.astype(int), y=data["a"]).to_csv(
        tmp_path / f"{names[1]}.csv.gz", index=False
    )

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 20 --rows 50"
        monkeypatch.setattr(sys, "argv", ["honesty.py", *always.split(), *options])
        assert honesty.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(
    run: Callable[..., pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run("--repeats", "2", "--plot", str(tmp_path / "plot.png"))
    methods = len(honesty.METHODS) + len(honesty.TREES)
    assert len(lines) == 2 * 2 * methods
    assert capsys.readouterr().out.count("\n| ") == 2 * (methods + 2)
    assert (tmp_path / "plot.png").stat().st_size > 10_000
    assert (lines["n"] == 50).all() and lines["error"].between(0.1, 0.6).all()
    rows = lines[[f"rows_{i}" for i in range(honesty.BINS)]].sum(axis=1)
    assert (rows == 30).all()
    assert run("--repeats", "2").equals(lines)


def test_slope_and_error_of_probabilities_that_are_right_or_too_extreme() -> None:
    rng = np.random.default_rng(0)
    right = rng.uniform(0.05, 0.95, 20_000)
    came = rng.random(20_000) < right
    odds = np.log(right / (1 - right))
    extreme = 1 / (1 + np.exp(-2 * odds))
    slopes = [honesty.calibration(said, came)["slope"] for said in (right, extreme)]
    assert slopes == pytest.approx([1.0, 0.5], abs=0.05)
    errors = [
        honesty.calibration_error(pd.DataFrame([honesty.calibration(said, came)]))
        for said in (right, extreme)
    ]
    assert errors[0] < 0.02 < 0.08 < errors[1]
