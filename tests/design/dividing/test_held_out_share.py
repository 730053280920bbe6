"""A share of the rows held out once."""

from __future__ import annotations

import numpy as np
import pytest

from odrf.design.folds import RowsToDivide, held_out_share
from odrf.design.structure import RowStructure

N = 200
RNG = np.random.default_rng(1)
Y = RNG.normal(size=N)


def held(rows, share=0.25, seed=3):
    return held_out_share(rows, share, np.random.default_rng(seed))


def test_rows_are_drawn_at_random():
    rows = RowsToDivide(Y, 1)
    assert held(rows).sum() == 50
    assert (held(rows) == held(rows)).all() and (held(rows) != held(rows, seed=4)).any()


def test_groups_are_held_out_whole():
    groups = RNG.integers(0, 20, N)
    out = held(RowsToDivide(Y, 1, structure=RowStructure(groups=groups)))
    assert not set(groups[out]) & set(groups[~out])
    assert len(set(groups[out])) == 5


def test_the_last_rows_are_held_out():
    order = RNG.permutation(N) // 2
    out = held(RowsToDivide(Y, 1, structure=RowStructure(order=order)))
    assert out.sum() == 50
    assert order[~out].max() < order[out].min()


@pytest.mark.parametrize("groups", [None, np.arange(N)])
def test_strata_and_classes_keep_their_shares(groups):
    strata, classes = np.arange(N) % 4 // 3, np.arange(N) // 4 % 2
    structure = RowStructure(groups=groups, strata=strata)
    out = held(RowsToDivide(classes.astype(float), 2, structure=structure))
    cells = 2 * strata + classes
    assert np.abs(np.bincount(cells[out]) - np.bincount(cells) / 4).max() <= 1


def test_rows_without_weight_are_not_held_out():
    weights = (np.arange(N) % 3 > 0).astype(float)
    for structure in (
        None,
        RowStructure(groups=np.arange(N) // 5),
        RowStructure(order=np.arange(N)),
    ):
        out = held(RowsToDivide(Y, 1, weights, structure))
        assert out.any() and not out[weights == 0].any()


def test_the_same_share_of_events_is_held_out():
    events = np.arange(N) % 5 == 0
    out = held(RowsToDivide(Y, 1, events=events))
    assert out[events].sum() == 10
    assert out.sum() == 50
