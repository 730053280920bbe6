"""Which predictors a backward step keeps, and what hits against shadows decide."""

from __future__ import annotations

from math import comb

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.statistics.importance_tests import (
    CONFIRMED,
    REJECTED,
    decisions,
    fewest_rounds,
    most_important,
)


@pytest.mark.parametrize(
    ("drop", "kept"),
    [(0.01, [0, 1, 2, 4]), (0.4, [0, 2, 4]), (0.5, [0, 2, 4]), (0.99, [2])],
)
def test_the_least_important_go(drop, kept):
    assert most_important(np.array([3.0, 1.0, 7.0, -2.0, 3.0]), drop).tolist() == kept


@given(st.lists(st.floats(-5, 5), min_size=2, max_size=40), st.floats(0.01, 0.99))
def test_a_step_drops_some_and_keeps_some(importance, drop):
    importance = np.array(importance)
    kept = most_important(importance, drop)
    assert 1 <= len(kept) < len(importance)
    gone = np.delete(importance, kept)
    assert importance[kept].min() >= gone.max()


def tail(hits, rounds):
    """The probability of at least so many heads."""
    return sum(comb(rounds, k) for k in range(hits, rounds + 1)) / 2**rounds


@pytest.mark.parametrize("rounds", [1, 8, 20, 50])
@pytest.mark.parametrize("P", [1, 5, 300])
def test_decisions_are_binomial_tests(P, rounds):
    for hits in range(rounds + 1):
        decided = decisions(np.full(P, hits), np.full(P, rounds))
        level = 0.01 / P
        if tail(hits, rounds) < level:
            assert set(decided) == {"confirmed"}
        elif tail(rounds - hits, rounds) < level:
            assert set(decided) == {"rejected"}
        else:
            assert set(decided) == {"tentative"}


@pytest.mark.parametrize("P", [1, 3, 10, 41, 1000])
def test_fewer_rounds_decide_nothing(P):
    fewest = fewest_rounds(P)
    for rounds, some in ((fewest, True), (fewest - 1, False)):
        assert (decisions(np.full(P, rounds), np.full(P, rounds))[0] == CONFIRMED) == some
        assert (decisions(np.zeros(P, dtype=int), np.full(P, rounds))[0] == REJECTED) == some
