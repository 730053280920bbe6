"""The benchmark of bias and variance runs, resumes, and reports what adds up."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.theory import bias_variance


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on small samples and return what its csv then holds."""
    monkeypatch.setattr(bias_variance, "METHODS", dict(list(bias_variance.METHODS.items())[:2]))

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--out {tmp_path / 'out.csv'} --trees 5 --test-rows 100 --sizes 60,120"
        monkeypatch.setattr(sys, "argv", ["bias_variance.py", *always.split(), *options])
        assert bias_variance.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_terms_add_up(
    run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    lines = run("--repeats", "4")
    assert lines["n"].tolist() == [60, 60, 120, 120]
    assert lines["method"].tolist() == ["RF", "SPORF"] * 2
    np.testing.assert_allclose(lines["error"], lines["bias"] + lines["variance_effect"])
    np.testing.assert_allclose(lines["error"], lines["kw_bias2"] + lines["kw_variance"])
    first = capsys.readouterr().out
    assert first.count("\n| ") == 4 * 4
    assert run("--repeats", "9").equals(lines)
    assert capsys.readouterr().out == first
    run("--report", str(tmp_path / "out.csv"))
    assert capsys.readouterr().out == first
