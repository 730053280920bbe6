"""Which hypotheses are linearly independent."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.statistics.effects import function_of_estimates, independent


@pytest.mark.filterwarnings("error")
def test_a_hypothesis_that_no_estimate_changes_is_not_tested():
    estimate = np.array([1.0, -2.0])
    texts = ["b1 - b1 = 0", "b2 = b1", "1 = 1"]
    gradient = np.array([function_of_estimates(text, estimate)[1] for text in texts])
    deviations = np.random.default_rng(1).normal(size=(20, 2))
    assert independent(gradient, deviations).tolist() == [1]
