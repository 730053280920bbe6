"""What judges the pilot trees of a blend: errors of the response, or of curves of its causes."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from odrf.design.survival_times import SurvivalTimes
from odrf.fits.blending import judge_of_pilots, pilot_evidence


@pytest.mark.parametrize("cause", [None, "b"])
def test_curves_are_judged_for_the_cause_that_splits_are_about(cause):
    times = SurvivalTimes(np.arange(1.0, 5.0), np.array([1, 2, 0, 1]), None, ("a", "b"))
    weights = np.array([1.0, 2.0, 1.0, 0.5])
    judge = judge_of_pilots(
        SimpleNamespace(times=times, weights=weights), SimpleNamespace(cause=cause)
    )
    assert judge.times is times and judge.case_weights is weights and judge.cause == cause


def test_other_responses_are_judged_by_their_errors():
    assert judge_of_pilots(SimpleNamespace(times=None), SimpleNamespace(cause=None)) is (
        pilot_evidence
    )
