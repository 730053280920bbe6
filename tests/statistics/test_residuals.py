"""The regions that divide rows by their fitted values."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.statistics.residuals import coverage_table, regions_of


@pytest.mark.parametrize("fitted", [1e12 + np.arange(30) / 10, 1e15 + np.arange(30.0)])
def test_regions_of_large_numbers_that_differ_little_have_labels_of_their_own(fitted):
    regions = regions_of(fitted)
    assert np.bincount(regions.codes).tolist() == [3] * 10
    assert len(coverage_table(regions, np.ones(30, dtype=bool), 0.95)) == 10
