"""The benchmark of bands of survival curves runs, resumes, and knows what covers."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.survival import survival_coverage


@pytest.mark.weekly
def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    options = ["--quick", "--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["survival_coverage.py", *options])
    assert survival_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 4 * 3 * (5 + 1)
    assert lines["covered"].between(0, 1).all() and (lines["ratio"].dropna() > 0).all()
    assert survival_coverage.main() == 0
    assert capsys.readouterr().out == first


@pytest.mark.parametrize("name", survival_coverage.PROBLEMS)
def test_times_are_those_by_which_shares_have_had_the_event(name: str) -> None:
    problem = survival_coverage.PROBLEMS[name]()
    times = survival_coverage.times_of(problem)
    survival = problem.survival(problem.sample(4000, seed=3), times)
    np.testing.assert_allclose(
        1 - np.asarray(survival).mean(axis=0), survival_coverage.HAVE_HAD, atol=0.02
    )


def test_what_is_inside() -> None:
    ends = np.array([0.1, 0.2]), np.array([0.3, 0.4])
    assert survival_coverage.inside(np.array([0.2, 0.5]), ends).tolist() == [True, False]
