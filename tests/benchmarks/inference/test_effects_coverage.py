"""The benchmark of effects runs, resumes, knows the truth, and recognises intervals that cover."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.inference import effects_coverage
from benchmarks.inference.effects_coverage import EFFECTS, PREDICTORS


def test_a_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    forests = ["inference", "little bags"]
    options = ["--quick", "--truths", "linear", "--forests", *forests]
    options += ["--out", str(tmp_path / "out.csv")]
    monkeypatch.setattr(sys, "argv", ["effects_coverage.py", *options])
    assert effects_coverage.main() == 0
    first = capsys.readouterr().out
    lines = pd.read_csv(tmp_path / "out.csv")
    assert len(lines) == 3 * len(forests) and list(lines["forest"].unique()) == forests
    assert first.count("\n| ") == 3 + 2 + 1
    assert effects_coverage.main() == 0
    assert capsys.readouterr().out == first


def test_the_true_effects_of_a_plane() -> None:
    for truth in ("linear", "correlated"):
        found = effects_coverage.true_effects(truth)
        np.testing.assert_allclose(
            found, [1, 0.5, -0.5, 0, 2, 1, -1, 0, 1, 0.5, -0.5, 0], atol=1e-9
        )


@pytest.mark.parametrize(("factor", "covered"), [(1.0, 95.0), (0.5, 67.3)])
def test_normal_estimates_are_covered_as_often_as_intervals_are_wide(
    factor: float, covered: float
) -> None:
    rng = np.random.default_rng(1)
    names = [f"slope {name}" for name in PREDICTORS]
    samples = pd.DataFrame(rng.normal(3.0, 2.0, (5000, 4)), columns=names)
    samples[[f"error of {name}" for name in names]] = factor * 2.0
    found = effects_coverage.judged(samples, "slope", dict.fromkeys(EFFECTS, 3.0))
    for words in ("expectation covered, %", "truth covered, %"):
        assert float(found[words].split(" ")[0]) == pytest.approx(covered, abs=1.0)
    assert float(found["standard error / empirical"].split(" ")[0]) == pytest.approx(
        factor, rel=0.03
    )
