"""Elo ratings of methods."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

from benchmarks.accuracy.elo import PRIOR, elo_ratings


@given(won=st.integers(0, 30), lost=st.integers(1, 30))
def test_two_methods_differ_by_the_logarithm_of_their_odds(won, lost):
    losses = pd.DataFrame({"a": [0.0] * won + [1.0] * lost, "b": [0.5] * (won + lost)})
    ratings = elo_ratings(losses, "b", 1000)["elo"]
    odds = (won + PRIOR) / (lost + PRIOR)
    assert ratings["b"] == 1000
    assert ratings["a"] == pytest.approx(1000 + 400 * np.log10(odds), abs=1e-4)


def test_equal_losses_are_half_a_win_for_both():
    losses = pd.DataFrame({"a": [1.0, 1.0], "b": [1.0, 1.0]})
    np.testing.assert_allclose(elo_ratings(losses, "a", 1500)["elo"], 1500)


def test_the_best_is_first_and_the_interval_holds_its_rating():
    draw = np.random.default_rng(0)
    skill = {"weak": 1.0, "middle": 0.6, "strong": 0.0}
    losses = pd.DataFrame({name: worse + draw.normal(size=60) for name, worse in skill.items()})
    ratings = elo_ratings(losses, "middle", 1000)
    assert list(ratings.index) == ["strong", "middle", "weak"]
    assert (ratings["conf_low"] <= ratings["elo"]).all()
    assert (ratings["elo"] <= ratings["conf_high"]).all()
    assert ratings.loc["middle", "conf_low"] == ratings.loc["middle", "conf_high"] == 1000
