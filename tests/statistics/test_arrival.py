"""Errors of rows in the order in which they came."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from odrf.statistics.arrival import arrival_sums, arrival_table, fewer_blocks


@settings(max_examples=60, deadline=None)
@given(st.integers(1, 40), st.integers(0, 2**32 - 1))
def test_means_and_standard_errors_are_those_of_the_definition(m, seed):
    rng = np.random.default_rng(seed)
    losses, weights = rng.random(m), rng.integers(0, 3, m).astype(float)
    losses[rng.random(m) < 0.2] = np.nan
    ends = np.unique([*rng.integers(1, m + 1, 4), m])
    table = arrival_table(arrival_sums(losses, weights, ends))
    assert table["rows"].sum() == m
    for begin, end, line in zip([0, *ends[:-1]], ends, table.itertuples(), strict=True):
        for rows, name in ((slice(begin, end), "error"), (slice(0, begin), "before")):
            used = ~np.isnan(losses[rows]) & (weights[rows] > 0)
            found = getattr(line, name)
            if not used.any():
                assert np.isnan(found)
                continue
            loss, w = losses[rows][used], weights[rows][used]
            assert found == pytest.approx(np.average(loss, weights=w))
            if name == "error" and len(loss) > 1 and (w == w[0]).all():
                assert line.std_error == pytest.approx(loss.std(ddof=1) / len(loss) ** 0.5)


def test_z_is_normal_where_nothing_has_changed():
    rng = np.random.default_rng(1)
    ends = np.array([300, 400])
    z = [
        arrival_table(arrival_sums(rng.exponential(size=400), np.ones(400), ends))["z"].iloc[1]
        for _ in range(400)
    ]
    assert abs(np.mean(z)) < 0.25 and 0.85 < np.std(z) < 1.2


def test_few_rows():
    table = arrival_table(arrival_sums(np.array([1.0, 3.0, 2.0]), np.ones(3), np.array([1, 3])))
    assert table["error"].tolist() == [1.0, 2.5]
    assert np.isnan(table["std_error"].iloc[0]) and table["std_error"].iloc[1] == 0.5
    assert table["z"].isna().all()


@given(st.lists(st.integers(1, 9), min_size=1, max_size=12), st.integers(1, 20))
def test_joined_blocks_have_the_same_sums(sizes, least):
    ends = np.cumsum(sizes)
    losses = np.random.default_rng(ends[-1]).random(ends[-1])
    sums = arrival_sums(losses, np.ones(len(losses)), ends)
    fewer = fewer_blocks(sums, least)
    np.testing.assert_allclose(fewer.sum(axis=0), sums.sum(axis=0))
    assert (fewer[:-1, 0] >= least).all()
    assert set(np.cumsum(fewer[:, 0])) <= set(ends)
