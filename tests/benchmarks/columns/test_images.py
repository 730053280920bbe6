"""The benchmark of images runs, goes on, reports and draws."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import pandas as pd
import pytest

from benchmarks.columns import images, images_report

SMALL = "--problems circle,digits --largest 100 --trees 2 --data nowhere"


@pytest.fixture
def run(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[str], pd.DataFrame]:
    """Run the script with options and return what its csv then holds."""
    monkeypatch.setattr(images, "TEST_ROWS", 200)
    out = tmp_path / "images.csv"

    def run_it(options: str) -> pd.DataFrame:
        monkeypatch.setattr(sys, "argv", ["images.py", "--out", str(out), *options.split()])
        assert images.main() == 0
        return pd.read_csv(out)

    return run_it


def test_a_run_goes_on_with_what_is_there_and_is_reported_and_drawn(
    run: Callable[[str], pd.DataFrame], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    lines = run(f"{SMALL} --repeats 1")
    of = lines.groupby("problem")
    assert of["n"].unique().map(list).to_dict() == {"circle": [50, 100], "digits": [100]}
    assert of["method"].nunique().to_dict() == {"circle": 5, "digits": 3}
    assert lines["error"].between(0, 1).all()
    assert (lines.loc[lines["method"] == "MF", "candidates"].unique() == [50, 8]).all()
    capsys.readouterr()
    more = run(f"{SMALL} --repeats 2")
    assert more.head(len(lines)).equals(lines)
    assert len(more) == 2 * len(lines)
    said = capsys.readouterr().out
    run(f"--report {tmp_path / 'images.csv'} --plot {tmp_path / 'curves.png'}")
    assert capsys.readouterr().out == said
    run(f"--importance {tmp_path / 'pixels.png'} --data nowhere --trees 2")
    assert (tmp_path / "curves.png").exists() and (tmp_path / "pixels.png").exists()


def test_medians_are_compared() -> None:
    lines = pd.DataFrame(
        {
            "problem": "rings",
            "n": [10, 10, 20, 20, 10, 10, 20, 20, 10, 10, 20, 20],
            "method": ["MF"] * 4 + ["RF"] * 4 + ["SPORF"] * 4,
            "error": [0.1, 0.3, 0.2, 0.2, 0.2, 0.2, 0.3, 0.3, 0.1, 0.1, 0.4, 0.4],
            "fit_s": [2.0, 4.0, 9.0, 9.0, 1.0, 1.0, 1.0, 1.0, 2.0, 2.0, 3.0, 3.0],
        }
    )
    (row,) = images_report.against(lines).itertuples()
    assert list(row)[1:] == ["1, 1, 0", "1, 0, 1", "3.00"]
