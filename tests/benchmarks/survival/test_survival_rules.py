"""The benchmarks of directions and of splits about causes, on few rows and trees."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.survival import survival_causes, survival_directions
from benchmarks.survival.survival_tables import SurvivalTable
from odrf import simulate


def test_directions_are_compared_on_the_same_rows() -> None:
    data = simulate.proportional_hazards(p=4, relevant=2).sample(120, seed=1)
    table = SurvivalTable("simulated", data.astype({"event": int}))
    lines = survival_directions.compared(table, 0, n_trees=20)
    assert len(lines) == 6
    found = pd.DataFrame(
        [[name, 0, *line] for name in ("simulated", "again") for line in lines],
        columns=survival_directions.COLUMNS,
    )
    assert found["uno"].between(0.5, 1).all() and found["brier"].between(0, 0.25).all()
    assert found.groupby("forest")["uno"].nunique().min() > 1
    text = survival_directions.report(found)
    assert "blend, cox" in text and "+0.00000" in text


def test_rules_of_causes_are_compared(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(survival_causes.SIZES, "few", 120)
    lines = survival_causes.compared("few", 0, n_trees=10)
    found = pd.DataFrame([["few", 0, *line] for line in lines], columns=survival_causes.COLUMNS)
    assert found["rule"].value_counts().to_dict() == dict.fromkeys(survival_causes.RULES, 2)
    assert found["brier"].between(0, 0.25).all()
    first = found[found["rule"] == "all causes"]["fit_s"]
    assert np.ptp(first) == 0
    assert "few, 1, gray" in survival_causes.report(found)
