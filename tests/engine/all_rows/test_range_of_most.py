"""The range of nearly all values of a sample."""

from __future__ import annotations

import numpy as np
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from odrf.engine.all_rows.range_of_most import INNER_BINS, range_of_most
from odrf.engine.directions.missing import FILL
from reference.all_rows import range_of_most as expected_range


def found_range(values):
    known = values[np.abs(values) < FILL]
    scratch = np.empty(INNER_BINS, dtype=np.int64)
    return range_of_most(values, known.min(), known.max(), scratch)


@settings(deadline=None, max_examples=200)
@given(
    st.integers(0, 2**32 - 1), st.integers(1, 99), st.integers(0, 9), st.integers(0, 60),
    st.integers(0, 5),
)  # fmt: skip
def test_it_is_that_of_the_reference(seed, n_near, n_far, n_tied, n_empty):
    rng = np.random.default_rng(seed)
    near, tied = rng.normal(size=n_near), np.zeros(n_tied)
    far = rng.choice([-1, 1], n_far) * 10 ** rng.uniform(0, 9, n_far)
    values = np.concatenate([near, far, tied, np.full(n_empty, FILL)]).astype(np.float32)
    values = rng.permutation(values)
    assume(np.ptp(values[values < FILL]) > 0)
    assert found_range(values) == expected_range(values)


def test_values_far_from_all_others_are_left_out():
    values = np.random.default_rng(1).normal(size=500).astype(np.float32)
    for far in (1e4, -1e9):
        assert found_range(np.append(values, np.float32(far))) == (values.min(), values.max())
    assert found_range(values) == (values.min(), values.max())


def test_a_range_too_narrow_for_bins_stays_as_it_is():
    values = np.append(np.linspace(0, 5e-38, 19), 1.0).astype(np.float32)
    assert found_range(values) == (0.0, np.float32(5e-38))
