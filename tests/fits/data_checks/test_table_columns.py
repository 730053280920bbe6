"""Which columns of a table could name groups of rows."""

from __future__ import annotations

import numpy as np
import pandas as pd

from odrf.fits.data_warnings import candidate_groups


def test_groups_are_named_by_labels_and_whole_numbers():
    codes = np.arange(60) // 5
    first = np.arange(60) == 0
    table = pd.DataFrame(
        {
            "whole": codes * 1.0,
            "single": codes.astype(np.float32),
            "integer": codes,
            "nullable": pd.array(codes, dtype="Float64"),
            "label": [f"subject {code}" for code in codes],
            "fraction": codes + np.where(first, 0.5, 0.0),
            "nullable fraction": pd.array(codes + np.where(first, 0.5, 0.0), dtype="Float64"),
            "with a hole": np.where(first, np.nan, codes),
            "infinite": np.where(first, -np.inf, codes),
            "few": codes % 2 * 1.0,
            "truth": codes % 2 == 0,
            "complex": codes + 1j,
        }
    )
    names = list(table.columns)
    found = list(candidate_groups(table, names, np.arange(60)))
    assert [each.name for each in found] == names[:5]
    for each in found:
        assert each.codes.tolist() == codes.tolist()
        assert each.numbered == (each.name != "label")
    others = list(candidate_groups(table, names[5:], np.arange(60)))
    assert others == []
    # the other rows of these columns are whole numbers
    rest = [each.name for each in candidate_groups(table, names[5:9], np.arange(1, 60))]
    assert rest == names[5:9]
