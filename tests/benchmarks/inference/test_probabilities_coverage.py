"""The benchmark of intervals of probabilities runs, and its scores have the areas asked for."""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import roc_auc_score

from benchmarks.inference import probabilities_coverage


def test_a_run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, few in {"AREAS": (0.7,), "SIZES": (40,), "RATES": (0.5,), "MANY": 1000}.items():
        monkeypatch.setattr(probabilities_coverage, name, few)
    out = tmp_path / "out.csv"
    monkeypatch.setattr(sys, "argv", ["probabilities_coverage.py", "--quick", "--out", str(out)])
    probabilities_coverage.main()
    lines = pd.read_csv(out)
    assert lines["what"].tolist() == ["area 0.7", "precision 0.7", "bins", "band"]
    assert lines["coverage"].between(0, 1).all() and (lines["width"] > 0).all()


@pytest.mark.parametrize("area", [0.5, 0.7, 0.98])
def test_scores_have_the_area_that_is_asked(area: float) -> None:
    p, event = probabilities_coverage.scored(np.random.default_rng(1), 40_000, 0.3, area)
    assert event.mean() == pytest.approx(0.3)
    assert roc_auc_score(event, p) == pytest.approx(area, abs=0.01)
