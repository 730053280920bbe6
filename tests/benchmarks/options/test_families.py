"""The benchmark of families, on small tables of its own."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from benchmarks.options import families
from benchmarks.shared import simulated
from odrf import load_data

pytestmark = pytest.mark.usefixtures("few_pilots")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script with few rows and trees, and return what its csv then holds."""
    data = tmp_path / "tables"
    data.mkdir()
    wine = load_data("wine").rename(columns={"cultivar": "y"})
    wine[[*wine.columns.drop("y"), "y"]].to_csv(data / "sonar.csv.gz", index=False)
    index = pd.DataFrame(
        {"name": ["sonar"], "task": ["classification"], "n": [len(wine)], "p": [13]}
    )
    index.to_csv(data / "index.csv", index=False)
    monkeypatch.setattr(simulated, "TEST_ROWS", 200)
    monkeypatch.setattr(families, "NOISE", (0, 5))
    small = {name: (problem, 60) for name, (problem, _) in families.MISTUNED.items()}
    monkeypatch.setattr(families, "MISTUNED", small)

    def run_it(*options: str) -> pd.DataFrame:
        always = f"--data {data} --out {tmp_path / 'out.csv'} --trees 5 --repeats 1"
        monkeypatch.setattr(sys, "argv", ["families.py", *always.split(), *options])
        assert families.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_kappa(run: Callable[..., pd.DataFrame], capsys: pytest.CaptureFixture[str]) -> None:
    lines = run("--parts", "kappa")
    every = [*families.TUNED, *families.OTHERS, *families.SAME]
    assert lines.groupby("method")["repeat"].nunique().to_dict() == dict.fromkeys(every, 5)
    assert lines["value"].between(0.5, 1).all()
    assert "SPORF against the others on 1 tables" in capsys.readouterr().out


def test_noise_and_tuning(run: Callable[..., pd.DataFrame]) -> None:
    lines = run("--parts", "noise,tuning")
    noise, tuning = (lines[lines["part"] == part] for part in ("noise", "tuning"))
    assert len(noise) == 2 * families.NOISY_FOLDS * len(families.NOISY_METHODS)
    assert len(tuning) == 2 * 4 * 2
    assert tuning["value"].between(0, 1).all()
    assert run("--parts", "noise,tuning").equals(lines)


def test_speed(
    run: Callable[..., pd.DataFrame],
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    two = {name: families.FAMILIES[name] for name in ("sparse", "axis")}
    monkeypatch.setattr(families, "FAMILIES", two)
    monkeypatch.setattr(families, "TIMED_ROWS", 60)
    lines = run("--parts", "speed")
    assert (lines["value"] > 0).all()
    assert "| sparse |" in capsys.readouterr().out


def test_noise_is_added_beside_what_there_is() -> None:
    wine = load_data("wine").rename(columns={"cultivar": "y"})
    rows = families.Partition(wine[:100], wine[100:])
    found = families.noisy(rows, 3, 1)
    assert found.train.shape == (100, 17)
    kept = found.test.drop(columns=["noise0", "noise1", "noise2"])
    pd.testing.assert_frame_equal(kept[wine.columns], rows.test)
    assert np.isfinite(found.train.filter(like="noise")).all().all()
