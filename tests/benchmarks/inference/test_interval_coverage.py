"""The benchmark of intervals runs, and finds the coverage and the sizes that are known."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.inference import interval_coverage as coverage

pytestmark = pytest.mark.usefixtures("few_pilots")


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    asked = ["--problems", "check", "comparisons", "--quick", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", ["interval_coverage.py", *asked])
    assert coverage.main() == 0
    lines = pd.read_csv(out)
    assert lines["measured"].between(0, 1).all()
    assert lines["what"].str.startswith(("interval: ", "test: ")).all()


@pytest.mark.parametrize(("width", "covered"), [(1.96, 0.95), (1.0, 0.683)])
def test_intervals_of_a_known_width(width: float, covered: float) -> None:
    estimate = np.random.default_rng(1).normal(3, 1, (500, 4))
    samples = [{"x": (e, e - width, e + width)} for e in estimate]
    ((what, R, _, measured, error, *_),) = coverage.coverage_lines(samples)
    assert (what, R) == ("interval: x", 500)
    assert abs(measured - covered) < 4 * error
    assert error < 0.02


def test_bands_must_hold_at_all_points() -> None:
    name = "x" + coverage.TOGETHER
    estimate = np.random.default_rng(1).normal(3, 1, (500, 4))
    samples = [{name: (e, e - 1.96, e + 1.96)} for e in estimate]
    ((*_, measured, error, _, _),) = coverage.coverage_lines(samples)
    assert abs(measured - 0.95**4) < 4 * error


def test_sizes_and_distances_of_p_values() -> None:
    rng = np.random.default_rng(1)
    samples = [{"right": [rng.random()], "wrong": [rng.random() ** 2]} for _ in range(500)]
    right, wrong = coverage.size_lines(samples)
    assert abs(right[3] - 0.05) < 4 * right[4] and right[6] > 0.001
    assert abs(wrong[3] - 0.05**0.5) < 4 * wrong[4] and wrong[6] < 1e-6
    assert wrong[5] == pytest.approx(0.25, abs=0.06)
