"""The roofs are measured, and a kernel's limit is the longest of its times."""

from __future__ import annotations

import sys
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.speed import roofline
from benchmarks.speed.roofline_kernels import Work, comparators


def known() -> pd.DataFrame:
    lines = [
        ("read", 2**14, 0.01), ("read", 2**30, 0.05), ("gather", 2**14, 0.2),
        ("gather", 2**30, 20.2), ("lanes", 0, 0.03), ("singly", 0, 0.1),
    ]  # fmt: skip
    return pd.DataFrame(lines, columns=["name", "held", "ns"])


@pytest.mark.parametrize(
    ("work", "limit", "of"),
    [
        (Work(print, 2.0**22, 4, 100, 1), 1.0, "all bytes"),
        (Work(print, 2.0**22, 100, 110, 1), 3.0, "each array once"),
        (Work(print, 2.0**14, 4, 10, 20), 2.0, "operations"),
        (Work(print, 2.0**14, 4, 10, 20, lanes=True), 0.6, "operations"),
        (Work(print, 2.0**14, 4, 10, 1, 3, 2.0**22), 30.6, "gathers"),
    ],
)
def test_limit_is_the_longest_time(work: Work, limit: float, of: str) -> None:
    found, what = roofline.limit_of(work, known())
    assert found == pytest.approx(limit)
    assert what == of


@pytest.mark.parametrize(("m", "comparisons"), [(2, 1), (4, 5), (8, 19), (16, 63)])
def test_comparisons_of_merge_exchange(m: int, comparisons: int) -> None:
    """Knuth, The Art of Computer Programming, vol. 3, section 5.3.4."""
    assert comparators(m) == comparisons


def test_kernels_are_measured_and_drawn(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    few = {name: (kernel, sizes[:1]) for name, (kernel, sizes) in roofline.KERNELS.items()}
    monkeypatch.setattr(roofline, "KERNELS", few)
    monkeypatch.setattr(roofline, "READ", (2**14, 2**16))
    out, picture = tmp_path / "out.csv", tmp_path / "out.png"
    monkeypatch.setattr(
        sys, "argv", ["roofline.py", "--out", str(out), "--plot", str(picture), "--turns", "2"]
    )
    roofline.main()
    lines = pd.read_csv(out)
    assert lines["rows"].count() == len(few)
    assert (lines["ns"] > 0).all()
    assert picture.stat().st_size > 0
    assert "| projection | 16 |" in capsys.readouterr().out
