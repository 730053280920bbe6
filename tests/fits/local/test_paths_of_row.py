"""Which splits decide on one row."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf


@pytest.mark.filterwarnings("ignore:.*no training row has:UserWarning")
def test_a_row_with_an_empty_cell_has_the_rules_of_the_tree():
    rng = np.random.default_rng(0)
    data = pd.DataFrame({"x": rng.normal(size=120), "f": rng.choice(["u", "v"], 120)})
    data["y"] = data["x"] + 2 * (data["f"] == "u") + rng.normal(size=120) / 5
    tree = odrf.odt("y ~ x + f", data, alpha=None, max_depth=2, seed=1)
    root = tree.explain(data.iloc[[0]]).rules[0].split(" <= ")[0].split(" > ")[0]
    for cells in ({"x": np.nan}, {"f": None}, {"f": "new"}):
        rules = tree.explain(data.iloc[[0]].assign(**cells)).rules
        assert len(rules) == 2
        assert rules[0].startswith(root)
