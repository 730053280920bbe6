"""The benchmark of limits of the size of boosted trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import boosted_sizes


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 2)), columns=list("ab"))
    score = data["a"] + data["b"] + rng.normal(size=90)
    sides = {
        "score": score,
        "sides": np.where(score > 0, "high", "low"),
        "thirds": np.select([score < -0.7, score > 0.7], ["low", "high"], "mid"),
    }
    for name, y in sides.items():
        data.assign(y=y).to_csv(tmp_path / f"{name}.csv.gz", index=False)
    index = {"name": list(sides), "task": ["regression", "classification", "classification"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def test_a_run_and_its_report(folder, capsys, monkeypatch):
    monkeypatch.setattr(boosted_sizes, "LIMITS", {"default": {}, "depth 1": {"max_depth": 1}})
    out = folder / "out.csv"
    words = ["boosted_sizes.py", "--data", str(folder), "--repeats", "1", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert boosted_sizes.main() == 0
    lines = pd.read_csv(out)
    limits = lines.groupby("table")["limit"].unique()
    assert limits["score"].tolist() == ["default", "depth 1"]
    assert len(limits["sides"]) == len(limits["thirds"]) == 4
    assert lines.groupby("table")["classes"].first().tolist() == [1, 2, 3]
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", ["boosted_sizes.py", "--report", str(out)])
    assert boosted_sizes.main() == 0
    assert capsys.readouterr().out == told
    for title in ("numbers, rpe", "two classes, log_loss", "more classes, error_percent"):
        assert f"{title}, 1 tables:" in told


def test_seconds_are_compared_with_the_default_s():
    lines = pd.DataFrame(
        {
            "table": ["a", "a", "b", "b"],
            "place": [1, 1, 2, 2],
            "partition": 0,
            "limit": ["default", "depth 3"] * 2,
            "classes": 1,
            "seconds": [2.0, 1.0, 8.0, 1.0],
            "rpe": [0.1, 0.2, 0.2, 0.2],
            "error_percent": np.nan,
            "log_loss": np.nan,
        }
    )
    (line,) = [row for row in boosted_sizes.report(lines).splitlines() if "depth 3" in row]
    assert line.split("|")[-2].strip() == "0.25"  # of 1/2 and 1/8
    assert line.split("|")[2].strip() == "+95.2"  # 0.205 / 0.105
