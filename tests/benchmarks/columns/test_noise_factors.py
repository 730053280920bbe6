"""The benchmark of factors of noise runs, resumes, and finds that they cost little."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd

from benchmarks.columns import noise_factors


def test_a_factor_of_noise_costs_little(tmp_path, monkeypatch, capsys, few_pilots):
    rng = np.random.default_rng(1)
    X = rng.normal(size=(200, 3))
    data = pd.DataFrame(X, columns=list("abc")).assign(y=X[:, 0] + 0.3 * rng.normal(size=200))
    data.to_csv(tmp_path / "auto_mpg.csv.gz", index=False)
    index = pd.DataFrame({"name": ["auto_mpg"], "task": ["regression"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    monkeypatch.setattr(noise_factors, "LEVELS", (0, 40))
    out = tmp_path / "out.csv"
    arguments = ["noise_factors.py", "--data", str(tmp_path), "--out", str(out), "--trees", "20"]
    monkeypatch.setattr(sys, "argv", arguments)
    assert noise_factors.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * 3
    ratio = lines["error_with"].mean() / lines["error"].mean()
    assert ratio < 1.15
    assert lines.query("levels == 40")["share"].mean() < 0.02
    printed = capsys.readouterr().out
    assert "auto_mpg, 400, 40 levels" in printed
    before = out.read_text()
    assert noise_factors.main() == 0
    assert out.read_text() == before
