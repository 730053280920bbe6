"""The benchmark of standard errors runs, and its quotients are right where the truth is known."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.errors import standard_errors


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    out = tmp_path / "out.csv"
    monkeypatch.setattr(standard_errors, "KINDS", ("regression",))
    monkeypatch.setattr(sys, "argv", ["standard_errors.py", "--quick", "--out", str(out)])
    assert standard_errors.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 3 * (3 + 1)
    assert (lines[["stated", "new", "std_error", "by_stated"]] > 0).all(axis=None)


@pytest.mark.parametrize("right", [1.0, 0.6])
def test_quotients_of_known_errors(right: float) -> None:
    """Means of 50 losses beside means of 500 others, with a standard error that is right or not."""
    rng = np.random.default_rng(1)
    stated, new = rng.normal(size=2000) / 50**0.5, rng.normal(size=2000) / 500**0.5
    samples = [(s, right / 50**0.5, e, 1 / 500) for s, e in zip(stated, new, strict=True)]
    line = standard_errors.line_of("one", samples, 1)
    by_difference, error, by_stated, error_of_stated = line[5:]
    assert abs(by_difference - right) < 4 * error
    assert abs(by_stated - right) < 4 * error_of_stated
    assert max(error, error_of_stated) < 0.03
