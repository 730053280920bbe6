"""The benchmark of updates runs, resumes, and knows an update that is as good as a fit."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.many_rows import dask_workers, streamed, thousand_workers, updating


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script on two small tables and return what its csv then holds."""
    monkeypatch.setattr(updating, "METHODS", (updating.TREE, updating.FOREST))
    rng = np.random.default_rng(1)
    kinds = {"concrete": "regression", "magic": "classification"}
    pd.DataFrame({"name": list(kinds), "task": list(kinds.values())}).to_csv(
        tmp_path / "index.csv", index=False
    )
    data = pd.DataFrame(rng.normal(size=(120, 2)), columns=["a", "b"])
    score = data["a"] + rng.normal(size=120) / 4
    for name, y in (("concrete", score), ("magic", np.where(score > 0, "up", "down"))):
        data.assign(y=y).to_csv(tmp_path / f"{name}.csv.gz", index=False)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {tmp_path} --out {tmp_path / 'out.csv'} --trees 20 --rows 70"
        monkeypatch.setattr(sys, "argv", ["updating.py", *always.split(), *options])
        assert updating.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_a_run(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--repeats", "2")
    assert len(lines) == 2 * (4 * 2 + 2) and (lines["n"] == 70).all()
    assert lines.notna().all(axis=None)
    assert capsys.readouterr().out.count("as good on") == 2
    assert run("--repeats", "2").equals(lines)


def test_as_good_is_within_one_standard_error() -> None:
    row = dict.fromkeys(updating.COLUMNS, 1.0) | {"method": "tree", "se": 0.5}
    rows = [row | {"table": "near", "updated": 1.4 + k / 10, "partition": k} for k in range(2)]
    rows += [row | {"table": "far", "updated": 1.5 + k / 10, "partition": k} for k in range(2)]
    found = updating.summarised(pd.DataFrame(rows)).droplevel("method")
    assert found["as_good"].to_dict() == {"near": True, "far": False}
    assert found["difference"].tolist() == pytest.approx([0.45, 0.55])


# ------------------------------------------------------------------------------------------------
# The benchmark of Dask's workers runs, and the simulation reads what it has measured.
# ------------------------------------------------------------------------------------------------

pytest.importorskip("distributed")


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


# ------------------------------------------------------------------------------------------------
# The benchmark of rows in chunks runs, resumes, and removes its files.
# ------------------------------------------------------------------------------------------------


def test_error_time_and_memory_are_measured_of_streamed(tmp_path, monkeypatch, capsys):
    out, folder = tmp_path / "out.csv", tmp_path / "rows"
    arguments = ["streamed.py", "--out", str(out), "--folder", str(folder), "--trees", "5"]
    monkeypatch.setattr(sys, "argv", [*arguments, "--rows", "3000", "4000", "--held", "3000"])
    assert streamed.main() == 0
    lines = pd.read_csv(out)
    assert len(lines) == len(streamed.METHODS) + 1
    assert not folder.exists()
    errors = lines.query("rows == 3000").set_index("method")["error"]
    assert errors["in chunks"] < 1.2 * errors["in memory"]
    assert (lines["seconds"] > 0).all()
    assert "4000, in chunks" in capsys.readouterr().out
    before = out.read_text()
    assert streamed.main() == 0
    assert out.read_text() == before
