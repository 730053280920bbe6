"""Boxes side by side: never too close, parents above the middle."""

from __future__ import annotations

from itertools import pairwise

import pytest
from hypothesis import given
from hypothesis import strategies as st

from odrf.plots.tree import centres

GAP = 3.0


@st.composite
def drawn_trees(draw):
    """Children, level and width of every box of a random tree, numbered breadth-first."""
    children, level, boxes = {}, {0: 0}, [0]
    for box in boxes:
        if len(boxes) < 40 and draw(st.booleans()):
            children[box] = (len(boxes), len(boxes) + 1)
            for child in children[box]:
                level[child] = level[box] + 1
                boxes.append(child)
    width = {box: draw(st.floats(1, 100)) for box in boxes}
    return children, level, width


@given(drawn_trees())
def test_no_two_boxes_of_a_level_come_too_close(case):
    children, level, width = case
    x = centres(children, width, GAP)
    for at in set(level.values()):
        row = sorted((box for box in level if level[box] == at), key=x.__getitem__)
        for one, other in pairwise(row):
            assert x[other] - width[other] / 2 - x[one] - width[one] / 2 >= GAP - 1e-9
        assert row == sorted(row)


@given(drawn_trees())
def test_parents_stand_above_the_middle_of_their_children(case):
    children, _, width = case
    x = centres(children, width, GAP)
    assert min(x[box] - width[box] / 2 for box in width) == pytest.approx(0, abs=1e-9)
    for box, (left, right) in children.items():
        assert x[box] == pytest.approx((x[left] + x[right]) / 2)


def test_equal_boxes_of_a_full_tree_are_packed():
    children = {0: (1, 2), 1: (3, 4), 2: (5, 6)}
    x = centres(children, dict.fromkeys(range(7), 10.0), 2.0)
    assert [x[box] for box in (3, 4, 5, 6)] == [5, 17, 29, 41]
    assert [x[box] for box in (1, 2, 0)] == [11, 35, 23]
