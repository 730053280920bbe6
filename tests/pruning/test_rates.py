"""Named rates, against their formulas in plain numbers."""

from __future__ import annotations

import pytest

from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES


@pytest.mark.parametrize(
    ("rates", "name", "at_1000", "at_1"),
    [
        (ALPHA_RATES, "log6/n", 6.907755279**6 / 1000, 0.6931471806**6),
        (ALPHA_RATES, "1/sqrt(n)", 1 / 31.6227766, 1.0),
        (LEAF_RATES, "sqrt", 31.6227766, 1.0),
        (LEAF_RATES, "n/log5", 1000 / 6.907755279**5, 1 / 0.6931471806**5),
    ],
)
def test_a_rate_is_its_formula(rates, name, at_1000, at_1):
    assert rates[name](1000.0) == pytest.approx(at_1000)
    assert rates[name](1) == pytest.approx(at_1)
