"""Groups of tables."""

from __future__ import annotations

import pandas as pd

from benchmarks.accuracy.table_groups import groups_of_tables


def test_every_table_is_in_one_group_of_each_sort(tmp_path):
    index = pd.DataFrame(
        {
            "name": ["small", "large", "mixed"],
            "task": ["regression", "classification", "classification"],
            "n": [300, 20_000, 1500],
            "p": [4, 100, 20],
            "n_categorical": [4, 0, 3],
        }
    )
    index.to_csv(tmp_path / "index.csv", index=False)
    groups = groups_of_tables(tmp_path, pd.Series({"small": 0.05, "mixed": 5.0, "large": 4.9}))
    members = list(groups.values())
    by_rows, by_predictors, by_factors, by_noise = (
        members[:3], members[3:6], members[6:9], members[9:],
    )  # fmt: skip
    assert by_rows == [["small"], ["mixed"], ["large"]]
    assert by_predictors == [["small"], ["mixed"], ["large"]]
    assert by_factors == [["large"], ["mixed"], ["small"]]
    assert by_noise == [["small", "large"], ["mixed"]]
