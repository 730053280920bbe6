"""Errors that forests state against their errors on new rows."""

from __future__ import annotations

import numpy as np
import pytest

from benchmarks.errors import error_estimates
from odrf import odrf

SAMPLES, ROWS, NEW, TREES = 50, 120, 400, 30


@pytest.mark.weekly
@pytest.mark.parametrize("kind", error_estimates.KINDS)
@pytest.mark.parametrize("rows", error_estimates.ROWS)
def test_out_of_bag_errors_are_those_on_new_rows(kind, rows):
    """Each is a few per cent too high, because fewer trees predict a row that some drew.

    The quotient of their means has a standard error of 3 to 5 %.  So errors that are a quarter too
    low or a third too high are found with a probability of 97 %.  Errors that did not know of the
    groups would be about half as large for numbers.
    """
    stated, new = [], []
    for sample in range(SAMPLES):
        rng = np.random.default_rng([1, sample])
        data, others = (error_estimates.draw(kind, rows, n, rng) for n in (ROWS, NEW))
        forest = odrf(
            "y ~ a + b + c", data, n_trees=TREES, projection="axis", seed=sample, n_jobs=1,
            **error_estimates.arguments(rows),
        )  # fmt: skip
        stated.append(forest.oob_error)
        new.append(error_estimates.error(forest, others))
    low, high = (0.9, 1.2) if rows == "groups" else (0.88, 1.18)
    assert low < np.mean(stated) / np.mean(new) < high
