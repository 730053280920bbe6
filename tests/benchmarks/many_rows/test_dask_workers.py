"""The benchmark of Dask's workers runs, and the simulation reads what it has measured."""

from __future__ import annotations

import sys

import pandas as pd
import pytest

pytest.importorskip("distributed")

from benchmarks.many_rows import dask_workers, thousand_workers


@pytest.mark.weekly
def test_workers_are_measured_and_a_thousand_simulated(tmp_path, monkeypatch, capsys):
    fits, tasks, out = (tmp_path / name for name in ("fits.csv", "tasks.csv", "out.csv"))
    arguments = ["dask_workers.py", "--out", str(fits), "--tasks", str(tasks), "--trees", "4"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "30000", "--partitions", "3"])
    monkeypatch.setattr(dask_workers, "IDLE", (5, 5))
    assert dask_workers.main() == 0
    lines = pd.read_csv(fits)
    assert len(lines) == len(dask_workers.RUNS)
    assert lines["same"].all()
    simulation = ["thousand_workers.py", "--measured", str(tasks), "--fits", str(fits)]
    monkeypatch.setattr(sys, "argv", [*simulation, "--out", str(out)])
    assert thousand_workers.main() == 0
    found = pd.read_csv(out)
    assert len(found) == len(thousand_workers.CASES)
    assert (found["hours_even"] > 0).all()
    assert "what does not fit" in capsys.readouterr().out
