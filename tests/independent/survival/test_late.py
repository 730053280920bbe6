"""Rows that enter late: scores and Gray's test against R's package survival, from ``late.R``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odrf.statistics.survival.discrimination import dynamic_areas, unos_c
from odrf.statistics.survival.scores import brier_scores
from reference.survival import Rows, grays_test

HERE = Path(__file__).parent
ROWS = pd.read_csv(HERE.parent / "survival_rows.csv")
R = dict(list(pd.read_csv(HERE / "late.csv").groupby("what")))
EVENT, SCORE = ROWS["event"].to_numpy(), ROWS["score"].to_numpy()
# as in the script
DISTINCT = ROWS["time"].to_numpy() + 1e-4 * np.arange(1, len(ROWS) + 1)
EARLY = np.floor(10 * ROWS["start"].to_numpy()) / 10
AT = np.array([0.55, 1.05, 1.55, 2.05])
RISK = ROWS[[f"risk{m}" for m in range(len(AT))]].to_numpy()


def test_concordances_are_those_of_ranks_of_concordance():
    for t, theirs in zip(R["concordance"]["at"], R["concordance"]["value"], strict=True):
        ours = unos_c(DISTINCT, EVENT, SCORE, float(t), start=EARLY).estimate
        assert ours == pytest.approx(theirs, rel=1e-10)


def test_brier_scores_and_areas_are_those_by_jumps_of_survfit():
    ours = brier_scores(DISTINCT, EVENT, RISK, AT, start=EARLY).score
    np.testing.assert_allclose(ours, R["brier"]["value"], rtol=1e-10)
    ours = dynamic_areas(DISTINCT, EVENT, RISK, AT, start=EARLY).area
    np.testing.assert_allclose(ours, R["area"]["value"], rtol=1e-10)


def test_grays_score_is_that_by_risk_sets_of_finegray():
    group = ROWS["group"].tolist()
    rows = Rows(DISTINCT.tolist(), EVENT.tolist(), [1.0] * len(group), EARLY.tolist())
    ours, _ = grays_test(rows, group, 1, sorted(set(group)))
    np.testing.assert_allclose(ours, R["gray score"]["value"], rtol=1e-8)
