"""The benchmark of threads runs, and its ratios are those of turns."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.speed import cores


def test_ratios_are_medians_over_turns() -> None:
    lines = [
        {"method": "odrf", "trees": 9, "n": 50, "classes": 2, "threads": threads,
         "repetition": turn, "seconds": seconds, "processor_seconds": 1.0}
        for turn, both in enumerate([(4.0, 2.0), (9.0, 3.0), (2.0, 2.0)])
        for threads, seconds in zip((1, 2), both, strict=True)
    ]  # fmt: skip
    assert "| odrf | 9 | 50 | 2 | 4.0 | 2.0 | 2.0 |" in cores.report(pd.DataFrame(lines))


@pytest.mark.weekly
def test_fits_are_timed_in_turns(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(cores, "CASES", [("odt", 1, 2000, 1), ("odrf", 100, 500, 2)])
    out = tmp_path / "cores.csv"
    monkeypatch.setattr(sys, "argv", ["cores.py", "--out", str(out), "--repetitions", "1"])
    cores.main()
    found = pd.read_csv(out)
    assert found["threads"].tolist() == [1, 2, 1, 2]
    assert (found["seconds"] > 0).all()
