"""The benchmark of times on factors runs, resumes, and reports."""

from __future__ import annotations

import sys

import numpy as np
import pandas as pd
import pytest

from benchmarks.columns import factors_time


@pytest.mark.skipif(sys.platform != "linux", reason="memory is read from /proc")
def test_times_on_factors_are_measured(tmp_path, monkeypatch, capsys):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=200), "b": rng.choice(list("uvw"), 200)})
    data["y"] = data["a"] + (data["b"] == "u") + 0.3 * rng.normal(size=200)
    data.to_csv(tmp_path / "servo.csv.gz", index=False)
    index = pd.DataFrame({"name": ["servo"], "task": ["regression"]})
    index.to_csv(tmp_path / "index.csv", index=False)
    out = tmp_path / "out.csv"
    arguments = ["factors_time.py", "--data", str(tmp_path), "--out", str(out), "--trees", "5"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "400"])
    assert factors_time.main() == 0
    lines = pd.read_csv(out)
    assert lines["part"].tolist() == ["5,000 levels", "servo", "servo"]
    assert (lines["fit"] > 0).all()
    assert lines["error"].between(0, 10).all()
    printed = capsys.readouterr().out
    assert "400 rows" in printed
    assert "servo" in printed
    before = out.read_text()
    assert factors_time.main() == 0
    assert out.read_text() == before
