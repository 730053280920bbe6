from __future__ import annotations

import math

import numpy as np
import pytest

from odrf.statistics.jackknife import weighted_mean


def test_a_mean_counts_rows_by_their_weights():
    assert weighted_mean(np.array([1.0, 4.0]), np.array([2.0, 1.0])) == pytest.approx(2.0)
    assert weighted_mean(np.array([True, False]), np.array([1.0, 3.0])) == pytest.approx(0.25)


@pytest.mark.parametrize("m", [0, 3])
def test_without_weight_there_is_no_mean(m):
    assert math.isnan(weighted_mean(np.ones(m), np.zeros(m)))
