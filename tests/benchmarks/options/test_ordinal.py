"""The benchmark of ordered classes runs, resumes, and scores by its definitions."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import ordinal


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on the simulated table and a small one and return what its csv holds."""
    few = {name: ordinal.KINDS[name] for name in ("tree", "forest")}
    monkeypatch.setattr(ordinal, "KINDS", few)
    rng = np.random.default_rng(1)
    pd.DataFrame({"name": ["strike"], "task": ["regression"]}).to_csv(
        tmp_path / "index.csv", index=False
    )
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=["a", "b"])
    data.assign(y=data["a"] + rng.normal(size=90)).to_csv(tmp_path / "strike.csv.gz", index=False)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 12 --rows 60"
        monkeypatch.setattr(sys, "argv", ["ordinal.py", *always.split(), *options])
        assert ordinal.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--repeats", "2")
    assert len(lines) == 2 * 2 * 2 * 2
    assert capsys.readouterr().out.count("\n| ") == 2 * (2 + 2)
    assert (lines["n"] == 60).all()
    assert lines["rank_error"].between(0.3, 2).all() and lines["rps"].between(0.05, 0.4).all()
    assert (lines["rank_error"] >= lines["error"]).all()
    own = lines[lines["classes"] == "ordinal"]
    assert (own["rank_error"] == own["median_rank_error"]).all()
    assert run("--repeats", "2").equals(lines)


def test_scores_by_hand() -> None:
    shares = np.array([[0.5, 0.25, 0.25], [0.0, 0.2, 0.8]])
    found = ordinal.scores(np.array([2, 2]), shares, np.array([0, 1]))
    assert found["error"] == 1.0
    assert found["rank_error"] == 1.5
    assert found["median_rank_error"] == 0.5
    # (.5 - 1)² and (.75 - 1)²; (0 - 0)² and (.2 - 1)²
    assert found["rps"] == pytest.approx((0.25 + 0.0625 + 0 + 0.64) / 4)


def test_numbers_are_cut_into_classes_alike_in_size() -> None:
    found = ordinal.cut(np.arange(100.0))
    assert found.value_counts().tolist() == [20] * 5
    assert found.ordered
    assert len(ordinal.cut(np.repeat([1.0, 2.0], 50)).categories) == 2
