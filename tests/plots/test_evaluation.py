"""Critical-difference diagrams."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

from odrf.plots.evaluation import groups_alike, plot_ranks

RANKS = pd.Series([2.4, 1.0, 4.0, 1.5], list("cadb"))


def test_bars_join_ranks_within_the_difference():
    assert groups_alike(RANKS, 1.0) == [(1.0, 1.5), (1.5, 2.4)]
    assert groups_alike(RANKS, 1.5) == [(1.0, 2.4)]
    assert groups_alike(RANKS, 0.1) == []
    assert groups_alike(RANKS, 9.0) == [(1.0, 4.0)]


def test_the_diagram_shows_ranks_bars_and_the_difference():
    ax = plot_ranks(RANKS, 1.0, base="b")
    words = [text.get_text() for text in ax.texts]
    for label in ("a  1.00", "b  1.50", "2.40  c", "4.00  d", "critical difference 1.00"):
        assert any(label in text for text in words)
    (highlighted,) = [text for text in ax.texts if text.get_fontweight() == "bold"]
    assert "b" in highlighted.get_text()
    bars = [tuple(line.get_xdata()) for line in ax.lines if line.get_linewidth() > 4]
    assert bars == [(1.0, 1.5), (1.5, 2.4)]


def test_labels_do_not_meet():
    ax = plot_ranks(pd.Series(np.linspace(1, 9, 9), list("abcdefghi")), 2.0)
    rows = [(text.get_ha(), text.get_position()[1]) for text in ax.texts if "  " in text.get_text()]
    assert len(set(rows)) == 9
    assert min(row for _, row in rows) > ax.get_ylim()[0]


@pytest.mark.parametrize("difference", [0.3, 3.0])
def test_two_methods_and_a_difference_beyond_the_scale(difference):
    ax = plot_ranks(pd.Series([1.2, 1.8], ["a", "b"]), difference)
    assert ax.get_xlim()[1] >= 1 + difference


def test_given_axes():
    given = plt.subplots()[1]
    assert plot_ranks(RANKS, 1.0, ax=given) is given
    assert len(plt.get_fignums()) == 1
