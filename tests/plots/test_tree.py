"""The drawn tree: its text, and that nothing overlaps."""

from __future__ import annotations

from itertools import pairwise

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from hypothesis import given
from hypothesis import strategies as st
from matplotlib.patches import FancyBboxPatch

import odrf
from odrf import InputError
from odrf.plots.tree import centres


@pytest.fixture(scope="module")
def hitters():
    data = odrf.load_data("hitters")
    options = {"missing": "drop", "n_singles": 0, "subset_size": 3, "alpha": None}
    return odrf.odt("salary ~ .", data, seed=1, **options)


@pytest.fixture(scope="module")
def penguins():
    data = odrf.load_data("penguins")
    return odrf.odt("species ~ .", data, alpha=None, missing="drop", projection="axis", seed=1)


def texts(ax):
    return [text.get_text() for text in ax.texts]


def boxes(ax):
    return [patch for patch in ax.patches if isinstance(patch, FancyBboxPatch)]


def extents(ax):
    """Text boxes and drawn boxes in pixels."""
    renderer = ax.figure.canvas.get_renderer()
    ax.figure.draw_without_rendering()
    return (
        [text.get_window_extent(renderer) for text in ax.texts],
        [box.get_window_extent(renderer) for box in boxes(ax)],
    )


def overlap(a, b):
    return a.x0 < b.x1 and b.x0 < a.x1 and a.y0 < b.y1 and b.y0 < a.y1


def check_drawing(ax):
    """Boxes are apart, words are in a box or clear of all, all is on the figure."""
    words, drawn = extents(ax)
    for i, box in enumerate(drawn):
        assert not any(overlap(box, other) for other in drawn[:i])
    for i, word in enumerate(words):
        held = [box for box in drawn if overlap(word, box)]
        assert len(held) <= 1
        for box in held:
            assert box.x0 <= word.x0 <= word.x1 <= box.x1
        figure = ax.figure.bbox
        assert figure.x0 <= word.x0 <= word.x1 <= figure.x1
        assert figure.y0 <= word.y0 <= word.y1 <= figure.y1
        clear = [other for other in words[:i] if word.x0 < other.x1 and other.x0 < word.x1]
        for other in clear:
            # lines of one box may touch, by what hangs below a line
            assert min(word.y1, other.y1) - max(word.y0, other.y0) < 0.4 * word.height


@pytest.mark.parametrize("leaves", [1, 2, 5, 12, 20])
def test_nothing_overlaps(hitters, leaves):
    ax = hitters.prune(leaves=leaves).plot()
    check_drawing(ax)
    assert len(boxes(ax)) == 2 * leaves - 1


def test_given_axes_are_used_and_the_text_shrinks_to_fit(hitters):
    _, (left, right) = plt.subplots(1, 2, figsize=(9, 4))
    tree = hitters.prune(leaves=12)
    assert tree.plot(ax=right) is right
    assert not left.texts
    check_drawing(right)
    size = max(text.get_fontsize() for text in right.texts)
    assert size < max(text.get_fontsize() for text in tree.plot().texts)


def test_large_trees_are_cut_and_say_so(hitters):
    leaves = hitters.n_leaves
    ax = hitters.plot()
    check_drawing(ax)
    title = texts(ax)[-1]
    deepest = hitters.nodes["depth"].max()
    assert title.startswith(f"salary: {leaves} leaves, first ")
    assert title.endswith(f" of {deepest} levels drawn")
    hidden = [int(text.split()[1]) for text in texts(ax) if text.endswith(" leaves")]
    ends = [box for box in boxes(ax) if box.get_facecolor() != (1.0, 1.0, 1.0, 1.0)]
    assert len(ends) <= 32
    assert len(ends) - len(hidden) + sum(hidden) == leaves


def test_max_depth(hitters):
    ax = hitters.plot(max_depth=1)
    assert len(boxes(ax)) == 3
    counts = hitters.nodes["count"]
    assert f"n = {counts[1]}" in texts(ax)
    assert f"n = {counts[2]}" in texts(ax)


def test_words_of_a_tree_of_classes(penguins):
    words = texts(penguins.plot())
    nodes = penguins.nodes
    for _, leaf in nodes[nodes["leaf"]].iterrows():
        assert leaf["prediction"] in words
        assert f"n = {leaf['count']}" in words
        assert f"{leaf[['P(Adelie)', 'P(Chinstrap)', 'P(Gentoo)']].max():.2f}" in words
    assert words.count("yes") == words.count("no") == (~nodes["leaf"]).sum()
    for rule in penguins.rules().split("\n")[4:]:
        if "<=" in rule:
            assert f"{rule.split()[1]} ≤ " in " ".join(words)


def test_options_of_the_words(hitters):
    few = texts(hitters.plot(max_depth=1, max_terms=1, digits=2))
    many = texts(hitters.plot(max_depth=1, max_terms=100, digits=5))
    assert any("more" in line for line in few)
    assert not any("more" in line for line in many)
    terms = hitters.splits["node"].value_counts()[0]
    assert sum("*" in line for line in many) <= terms <= sum(line.count("*") for line in many)


def test_names_are_no_formulas():
    data = pd.DataFrame({"cost $": np.arange(20.0), "y$": np.arange(20.0) ** 2})
    ax = odrf.odt("`y$` ~ .", data, max_leaves=2, seed=1).plot()
    ax.figure.draw_without_rendering()
    assert any(text.startswith("cost $") for text in texts(ax))


def test_importance_of_a_tree(hitters):
    ax = hitters.plot("importance")
    labels = [label.get_text() for label in ax.get_yticklabels()]
    assert labels == list(hitters.importance().index[:15])


@pytest.mark.parametrize(
    "options, message",
    [
        ({"kind": "error"}, "kind='error' is not known: use one of 'tree', 'importance'"),
        ({"max_depth": 0}, "max_depth=0: use a whole number of at least 1"),
        ({"digits": 0}, "digits=0"),
        ({"max_terms": 0}, "max_terms=0"),
    ],
)
def test_bad_options(hitters, options, message):
    with pytest.raises(InputError, match=message):
        hitters.plot(**options)


# ------------------------------------------------------------------------------------------------
# Boxes side by side: never too close, parents above the middle.
# ------------------------------------------------------------------------------------------------

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
