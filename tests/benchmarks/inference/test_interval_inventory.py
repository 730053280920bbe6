"""The inventory of intervals reads the committed results, and lists those that are printed."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from benchmarks.inference.interval_inventory import inventory

RESULTS = Path(__file__).parents[3] / "benchmarks" / "inference" / "results"


def test_the_inventory_lists_what_has_intervals() -> None:
    table = inventory(RESULTS)
    assert not table["interval"].duplicated().any()
    listed = " ".join(table["interval"])
    for method in (
        "predict", "get_prediction", "predictions", "comparisons", "slopes", "hypotheses",
        "partial", "ale", "importance", "calibration", "discrimination", "predictive_check",
        "learning_curve",
    ):  # fmt: skip
        assert f"{method}(" in listed
    assert table["covered"].between(table["lowest"], table["highest"]).all()
    assert table["highest"].max() <= 1


def test_the_committed_table_is_that_of_the_committed_results() -> None:
    written = pd.read_csv(RESULTS / "interval_inventory.csv")
    pd.testing.assert_frame_equal(written, inventory(RESULTS), rtol=1e-3, check_dtype=False)
