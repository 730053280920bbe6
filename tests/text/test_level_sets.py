"""Sets of levels in words: where each level goes can be read from either side."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st

import odrf
from odrf.text.splits import MOST_LEVELS, two_sets

LETTERS = [f"s{k}" for k in range(20)]


def contains(words, level, named):
    """Whether a set in words holds a level; one that is not `named` is among the others."""
    listed = re.search(r"{(.*)}", words)[1].split(", ")
    inside = level in listed or ("others" in listed and level not in named)
    return inside != words.startswith("not in")


def mask(flags):
    return np.array(flags, dtype=bool)


@given(st.data())
def test_both_sides_tell_where_each_level_goes(data):
    L = data.draw(st.integers(2, len(LETTERS)))
    flags = st.lists(st.booleans(), min_size=L, max_size=L)
    has, others_left = mask(data.draw(flags)), data.draw(st.booleans())
    left = np.where(has, mask(data.draw(flags)), others_left)
    words = two_sets(LETTERS[:L], has, left, others_left)
    named = set(np.array(LETTERS[:L])[has])
    if (left == others_left).all():
        return
    for level, goes in zip(LETTERS, left, strict=False):
        assert contains(words[0], level, named) == goes
        assert contains(words[1], level, named) == (not goes)
    assert "others" not in words[1 if others_left else 0]


@pytest.mark.parametrize(
    "has, left, others_left, most, expected",
    [
        ([1, 1, 1], [1, 0, 0], False, None, ("in {s0}", "in {s1, s2}")),
        ([1, 1, 0], [1, 0, 0], False, None, ("in {s0}", "in {s1, others}")),
        ([1, 1, 0], [1, 0, 1], True, None, ("in {s0, others}", "in {s1}")),
        ([1, 0, 0], [1, 0, 0], False, None, ("in {s0}", "not in {s0}")),
        ([1, 0], [1, 0], False, None, ("in {s0}", "in {s1}")),
        ([1, 1, 1, 1, 1], [1, 1, 1, 1, 0], False, 2, ("in {s0, s1, +2 more}", "in {s4}")),
        ([1, 1, 1, 1, 1], [0, 1, 1, 1, 1], True, 2, ("not in {s0}", "in {s0}")),
        ([1, 1, 1, 1, 1, 0], [0, 0, 0, 1, 1, 0], False, 1,
         ("in {s3, +1 more}", "in {s0, +2 more, others}")),
    ],
)  # fmt: skip
def test_sets(has, left, others_left, most, expected):
    assert two_sets(LETTERS[: len(has)], mask(has), mask(left), others_left, most) == expected


def test_a_long_side_is_what_is_not_on_the_other():
    has, left = np.ones(20, dtype=bool), np.arange(20) < 20 - MOST_LEVELS
    assert two_sets(LETTERS, has, left, False)[1].startswith("in {s8")
    words = two_sets(LETTERS, has, np.arange(20) < 3, False)
    assert words == ("in {s0, s1, s2}", "not in {s0, s1, s2}")


def test_a_fitted_tree_says_where_absent_levels_go():
    rng = np.random.default_rng(5)
    region = np.repeat(["n", "s"], [150, 90])
    states = ["CA", "NV", "OR", "TX"]
    state = np.where(region == "n", rng.choice(states[:3], 240), rng.choice(states, 240))
    y = 9.0 * (region == "s") + 2 * (state == "CA") + rng.normal(size=240) / 10
    data = pd.DataFrame({"y": y, "region": region, "state": state})
    tree = odrf.odt("y ~ .", data, projection="axis", max_leaves=4, seed=1)
    rules = tree.rules()
    assert "state in {NV, OR, others}" in rules and "state in {NV, OR, TX}" in rules
    assert rules.count("state in {CA}") == 2
    new = pd.DataFrame({"region": ["n"], "state": ["TX"]})
    assert tree.predict(new)[0] == pytest.approx(tree.predict(new.assign(state="NV"))[0])
    lines = [text.get_text() for text in tree.plot().texts]
    assert any("state" in line for line in lines)
