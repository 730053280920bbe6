"""Prediction intervals where trees draw whole groups: residuals are those of new groups."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.errors import InputError
from odrf.statistics.conformal import upper_bounds


def bound_by_definition(values, weights, groups, level):
    """The least value with a large enough share; a group has the mean weight of its rows."""
    known = [i for i, weight in enumerate(weights) if weight > 0]
    of_group = {g: [i for i in known if groups[i] == g] for g in {groups[i] for i in known}}
    share = {i: Fraction(float(weights[i])) for i in known}
    G = len(of_group)
    wanted = level * sum(share.values()) * Fraction(G + 1, max(G, 1))
    reached = [
        v for v in sorted(values[known]) if sum(share[i] for i in known if values[i] <= v) >= wanted
    ]
    return min(reached, default=np.inf)


@settings(deadline=None)
@given(st.integers(1, 30), st.sampled_from(["0.5", "0.8", "0.9"]), st.integers(0, 2**32))
def test_bounds_are_those_of_the_definition(m, level, seed):
    rng = np.random.default_rng(seed)
    values, groups = rng.normal(size=(3, m)), rng.integers(0, 8, m)
    weights = rng.integers(0, 3, (3, m)).astype(float)
    weights[:, 0] = 1.0
    found = upper_bounds(values, weights, float(level), groups)
    expected = [
        bound_by_definition(v, w, groups, Fraction(level))
        for v, w in zip(values, weights, strict=True)
    ]
    assert found.tolist() == expected


def recordings(n_groups, seed, rows=6):
    """Rows of subjects; no predictor shows their own level, but three tell them apart."""
    rng = np.random.default_rng(seed)
    id_ = np.repeat(np.arange(n_groups), rng.integers(2, 2 * rows - 1, n_groups))
    own, *marks = rng.normal(size=(4, n_groups))
    x = rng.normal(size=len(id_))
    y = x + 2 * own[id_] + 0.3 * rng.normal(size=len(id_))
    marked = {f"mark{k}": mark[id_] for k, mark in enumerate(marks)}
    return pd.DataFrame({"y": y, "x": x, **marked, "id": id_})


@pytest.fixture(scope="module")
def forests():
    data = recordings(60, 1)
    with_groups = odrf.odrf("y ~ .", data, groups="id", n_trees=60, blend=False, seed=1)
    return data, with_groups, odrf.odrf("y ~ . - id", data, n_trees=60, blend=False, seed=1)


def test_intervals_cover_new_groups_and_rows_drawn_alone_do_not(forests):
    new = recordings(300, 2)
    data, with_groups, alone = forests

    def coverage(fit):
        found = fit.predict(new, interval="prediction", level=0.9)
        inside = (found["conf_low"] <= new["y"]) & (new["y"] <= found["conf_high"])
        return inside.groupby(new["id"]).mean().mean()

    assert 0.84 < coverage(with_groups) < 0.96
    assert coverage(alone) < 0.7
    # out of bag, each subject is new to the trees that predict it
    own = with_groups.predict(interval="prediction", level=0.9)
    inside = (own["conf_low"] <= data["y"]) & (data["y"] <= own["conf_high"])
    assert 0.84 < inside.groupby(data["id"]).mean().mean() < 0.97
    assert with_groups.oob_error > 2 * alone.oob_error


def test_intervals_of_training_rows_use_no_residual_of_their_group(forests):
    data, fit, _ = forests
    changed = data.assign(y=data["y"].where(data["id"] != 7, data["y"] + 1e6))
    other = odrf.odrf("y ~ .", changed, groups="id", n_trees=60, blend=False, seed=1)
    one, two = (each.predict(interval="prediction", level=0.8) for each in (fit, other))
    rows = data["id"] == 7
    np.testing.assert_allclose(one[rows], two[rows])
    assert not np.allclose(one[~rows], two[~rows])


def test_the_number_of_groups_limits_the_level():
    few = odrf.odrf("y ~ .", recordings(12, 1), groups="id", n_trees=20, seed=1)
    with pytest.raises(InputError, match=r"level=0.95 needs 19 groups .* and there are 12"):
        few.predict(interval="prediction")
