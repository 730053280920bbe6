"""Oblique forests beside the forest of this package."""

from __future__ import annotations

import numpy as np
import pandas as pd

from benchmarks.accuracy.neighbours import beside


def test_only_random_partitions_count():
    lines = [
        ("one", "Z", 0, "odrf", 0.5, np.nan, 1.0),
        ("one", "Z", 0, "treeple", 0.6, np.nan, 4.0),
        ("two", "Z", 0, "odrf", np.nan, 9.0, 1.0),
        ("two", "Z", 0, "treeple", np.nan, 8.0, 1.0),
        ("two", "T", 0, "odrf", np.nan, 1.0, 100.0),
        ("two", "T", 0, "treeple", np.nan, 9.0, 1.0),
    ]
    columns = ["table", "protocol", "partition", "method", "rpe", "error_percent", "fit_s"]
    results = pd.DataFrame(lines, columns=columns).assign(status="ok")
    errors, times = beside(results, "treeple")
    assert errors == "odrf is better on 1 of 2 tables, worse on 1"
    assert times == "2.0 ×"
