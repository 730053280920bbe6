"""The speed benchmark runs, and its report says what the seconds say."""

from __future__ import annotations

import sys
from importlib import import_module
from itertools import product
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.speed.speed_report import comparison, exponents, report


@pytest.fixture
def timings() -> pd.DataFrame:
    """Two methods, whose times follow power laws; the machine is slower in each repetition."""
    laws = {"rf": (1e-3, 1.0, 0.5), "peer": (3e-3, 1.5, 0.25)}
    return pd.DataFrame(
        {
            "table": "simulated",
            "classes": 2,
            "n": n,
            "p": p,
            "test_rows": 100,
            "trees": trees,
            "threads": 1,
            "method": method,
            "repetition": repetition,
            "fit_s": factor * n**in_n * p**in_p * trees * (1 + repetition),
            "predict_s": 0.5 * (1 + repetition),
            "row_us": 10.0,
            "error": 0.25,
            "peak_mb": float("nan"),
        }
        for repetition, n, p, trees in product(range(3), (1000, 10_000), (10, 40), (5, 20))
        for method, (factor, in_n, in_p) in laws.items()
    )


def test_exponents_are_those_of_the_power_laws(timings: pd.DataFrame) -> None:
    slopes = exponents(timings)["fit_s"]
    assert slopes.loc["rf"].to_dict() == pytest.approx({"n": 1.0, "p": 0.5, "trees": 1.0})
    assert slopes.loc["peer"].to_dict() == pytest.approx({"n": 1.5, "p": 0.25, "trees": 1.0})


def test_ratios_are_taken_within_repetitions(timings: pd.DataFrame) -> None:
    runs = timings.query("n == 1000 and p == 10 and trees == 5")
    table = comparison(runs[~((runs["method"] == "peer") & (runs["repetition"] == 2))], "rf")
    assert table.loc["rf", "fit_ratio"] == 1
    assert table.loc["peer", "fit_ratio"] == pytest.approx(3 * 1000**0.5 / 10**0.25)
    assert table.loc["peer", "predict_ratio"] == pytest.approx(1)


def test_report_heads_each_problem(timings: pd.DataFrame) -> None:
    text = report(timings, "rf")
    assert "simulated: n = 10,000, p = 40, K = 2; 20 trees, threads: 1; 100 test rows" in text
    assert text.count("simulated: ") == 8


def test_a_small_run_writes_every_repetition(
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
    few_pilots: None,
) -> None:
    pytest.importorskip("sklearn")
    speed = import_module("benchmarks.speed.speed")
    out = tmp_path / "timings.csv"
    sizes = "--rows 200 --columns 6 --classes 2,1 --trees 2 --test-rows 100 --single-rows 2"
    asked = ["speed.py", *sizes.split(), "--methods", "odrf,rf", "--out", str(out)]
    monkeypatch.setattr(sys, "argv", asked)
    speed.main()
    written = pd.read_csv(out)
    assert written.groupby(["classes", "method"]).size().tolist() == [3, 3, 3, 3]
    assert written["error"].between(0, 1).all()
    assert "n = 200, p = 6, regression" in capsys.readouterr().out
