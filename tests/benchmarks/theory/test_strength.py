"""The benchmark of strength runs, resumes, and finds strong trees where they are to be."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.shared import simulated
from benchmarks.theory import strength
from odrf import simulate

pytestmark = pytest.mark.usefixtures("few_pilots")


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[..., pd.DataFrame]:
    """Run the script and return what its csv then holds."""

    def run_it(*options: str) -> pd.DataFrame:
        always = ["strength.py", "--out", str(tmp_path / "out.csv")]
        monkeypatch.setattr(sys, "argv", [*always, *options])
        assert strength.main() == 0
        return pd.read_csv(tmp_path / "out.csv")

    return run_it


def test_every_forest_is_judged_once(
    run: Callable[..., pd.DataFrame],
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    small = {name: setting._replace(n=60) for name, setting in strength.SETTINGS.items()}
    monkeypatch.setattr(strength, "SETTINGS", small)
    monkeypatch.setattr(simulated, "TEST_ROWS", 200)
    lines = run("--trees", "6", "--repeats", "1")
    assert len(lines) == 4 * len(strength.METHODS)
    assert not lines.duplicated(["setting", "repeat", "method"]).any()
    assert lines["strength"].between(-1, 1).all()
    out = capsys.readouterr().out
    assert out.count("\n| ") == 4 * (1 + 1 + len(strength.METHODS))
    report = ("--report", str(tmp_path / "out.csv"), "--plot", str(tmp_path / "out.png"))
    assert run("--trees", "6", "--repeats", "1", *report).equals(lines)
    assert capsys.readouterr().out == out
    assert (tmp_path / "out.png").stat().st_size > 10_000


def test_sparse_projections_make_stronger_trees_of_parity(
    run: Callable[..., pd.DataFrame], monkeypatch: pytest.MonkeyPatch
) -> None:
    parity = strength.Setting("Parity", simulate.sparse_parity(p=6), 500)
    settings = {"parity": parity, "trunk": strength.SETTINGS["trunk_100"]}
    monkeypatch.setattr(strength, "SETTINGS", settings)
    monkeypatch.setattr(strength, "METHODS", ["RF", "SPORF, tuned"])
    lines = run("--trees", "40", "--repeats", "2")
    mean = lines.groupby(["setting", "method"])[strength.FIGURES].mean()
    rf, sporf = mean.loc["parity", "RF"], mean.loc["parity", "SPORF, tuned"]
    assert sporf["strength"] > rf["strength"] + 0.1
    assert sporf["test_error"] < rf["test_error"]
    assert mean.loc[("trunk", "SPORF, tuned"), "strength"] > mean.loc[("trunk", "RF"), "strength"]
