"""Intervals over groups of rows: copies of rows tell nothing, and coverage is kept."""

import numpy as np
import pytest

from odrf.statistics.calibration import effective_rows, reliability_table, variance_of_groups
from odrf.statistics.discrimination import area_under_roc, bootstrapped_precision

COPIES = 7


@pytest.fixture(scope="module")
def rows():
    rng = np.random.default_rng(0)
    p = np.round(rng.random(80), 2)
    return p, (rng.random(80) < p).astype(float)


def copied(rows):
    p, event = (np.repeat(each, COPIES) for each in rows)
    return p, event, np.ones(len(p)), np.repeat(np.arange(80), COPIES)


def test_copies_of_rows_do_not_shrink_intervals_of_areas_and_precisions(rows):
    p, event, w, groups = copied(rows)
    alone = area_under_roc(*rows, np.ones(80), 0.95)
    found = area_under_roc(p, event, w, 0.95, groups)
    assert found.estimate == pytest.approx(alone.estimate)
    assert found.std_error == pytest.approx(alone.std_error, rel=0.03)
    assert found.conf_low == pytest.approx(alone.conf_low, abs=0.01)
    one = bootstrapped_precision(*rows, np.ones(80), 0.95, 1)
    many = bootstrapped_precision(p, event, w, 0.95, 1, groups=groups)
    assert many.std_error == pytest.approx(one.std_error, rel=0.2)


def test_copies_of_rows_do_not_shrink_intervals_of_rates(rows):
    p, event, w, groups = copied(rows)
    assert effective_rows(event, w, None, 0.95) == pytest.approx(80 * COPIES)
    assert effective_rows(event, w, groups, 0.95) == pytest.approx(80, rel=0.05)
    assert effective_rows(np.ones(len(w)), w, groups, 0.95) == 80
    assert effective_rows(event, w, np.zeros(len(w), dtype=int), 0.95) == 1
    alone = reliability_table(*rows, np.ones(80), 4, 0.95)
    found = reliability_table(p, event, w, 4, 0.95, groups)
    np.testing.assert_allclose(found["conf_low"], alone["conf_low"], atol=0.04)
    np.testing.assert_allclose(found["conf_high"], alone["conf_high"], atol=0.04)


def test_variance_of_groups_is_that_of_their_sums():
    rng = np.random.default_rng(1)
    groups, parts = rng.integers(0, 9, 50), rng.normal(size=50)
    sums = [parts[groups == g].sum() for g in np.unique(groups)]
    expected = sum(each**2 for each in sums) * len(sums) / (len(sums) - 1)
    assert variance_of_groups(parts, groups) == pytest.approx(expected)
    assert np.isnan(variance_of_groups(parts, np.zeros(50, dtype=int)))


def test_intervals_of_areas_cover_where_rows_of_a_group_are_alike():
    rng = np.random.default_rng(2)

    def drawn(G):
        groups = np.repeat(np.arange(G), 12)
        event = np.repeat(rng.random(G) < 0.5, 12).astype(float)
        return event + np.repeat(rng.normal(size=G), 12) + rng.normal(size=12 * G), event, groups

    p, event, _ = drawn(20_000)
    truth = area_under_roc(p, event, np.ones(len(p)), 0.95).estimate
    held = {"groups": 0, "rows": 0}
    for _ in range(200):
        p, event, groups = drawn(40)
        for name, given in (("groups", groups), ("rows", None)):
            found = area_under_roc(p, event, np.ones(len(p)), 0.95, given)
            held[name] += found.conf_low <= truth <= found.conf_high
    assert held["groups"] >= 180
    assert held["rows"] < 140
