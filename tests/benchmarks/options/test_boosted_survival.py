"""The benchmark of early stopping of boosted trees for times to an event."""

from __future__ import annotations

import pandas as pd
import pytest

from benchmarks.options import boosted_survival
from odrf.simulate import proportional_hazards


def test_a_run_and_its_report(tmp_path, capsys, monkeypatch):
    data = proportional_hazards(p=2, relevant=1).sample(90, seed=1)
    data = data.assign(status=data.pop("event").astype(int), fold=data.index % 3)
    data["group"] = data.index.map(lambda row: "ab"[row % 2])
    data.to_csv(tmp_path / "lives.csv.gz", index=False)
    pd.DataFrame({"name": ["lives"]}).to_csv(tmp_path / "index.csv", index=False)
    ways = {name: how | {"n_trees": 2} for name, how in boosted_survival.WAYS.items()}
    monkeypatch.setattr(boosted_survival, "WAYS", ways)
    out = tmp_path / "out.csv"
    words = ["boosted_survival.py", "--data", str(tmp_path), "--repeats", "2", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    assert boosted_survival.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == 2 * (len(ways) + 1)
    by_curve = lines[lines["way"] == boosted_survival.KAPLAN_MEIER]["brier"].mean()
    told = capsys.readouterr().out
    assert f"| {boosted_survival.KAPLAN_MEIER} | {by_curve:.4f} | 0 |" in told
    monkeypatch.setattr("sys.argv", ["boosted_survival.py", "--report", str(out)])
    assert boosted_survival.main() == 0
    assert capsys.readouterr().out == told


def test_means_count_tables_that_are_worse_than_the_curve():
    ways = ["one run", boosted_survival.KAPLAN_MEIER]
    lines = pd.DataFrame(
        {"table": ["a", "a", "b", "b"], "fold": 0, "way": ways * 2, "harrell": 0.6, "seconds": 1.0}
    ).assign(brier=[0.2, 0.1, 0.2, 0.3])
    found = boosted_survival.report(lines)
    assert "| one run | 0.2000 | 1 | 0.6000 | 1.00 |" in found
    assert "Means of 2 tables" in found


@pytest.fixture(autouse=True)
def read_anew():
    yield
    boosted_survival.rows_of.cache_clear()
