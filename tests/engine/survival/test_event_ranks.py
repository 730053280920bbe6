"""Sums over risk sets against sums row by row and time by time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.engine.survival.event_ranks import EventRanks, sums_over_rows, sums_over_times
from reference import survival_losses as twin


@given(seed=st.integers(0, 2**32 - 1), n_times=st.integers(1, 20), late=st.booleans())
def test_sums_are_those_of_each_row_and_time(seed, n_times, late):
    rng = np.random.default_rng(seed)
    last = rng.integers(0, n_times + 1, 25)
    first = rng.integers(0, last + 1) if late else np.zeros(25, dtype=np.int64)
    event = (last > first) & (rng.random(25) < 0.5)
    entry = first if late else np.empty(0)
    code, no_cause = (2 * last + event).astype(np.int32), np.empty(0, dtype=np.int32)
    ranks = EventRanks(code, entry.astype(np.int32), n_times, no_cause, 1)
    values, of_times, own = rng.random(25), rng.random(n_times), rng.random(n_times)
    expected = twin.over_rows(first, last, values, n_times)
    assert sums_over_rows(ranks, values) == pytest.approx(expected, rel=1e-12)
    expected = twin.over_times(first, last, event, of_times, own)
    assert sums_over_times(ranks, of_times, own) == pytest.approx(expected, rel=1e-12)
