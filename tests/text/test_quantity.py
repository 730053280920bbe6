"""One thing is not spoken of as several."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf.text.layouts import percentage, quantity

SEVERAL = re.compile(
    r"(?<![\d.,])1 (candidates|classes|columns|leaves|levels|models|predictors|rounds|rows|sizes"
    r"|steps|subtrees|trees|values)\b"
)


@pytest.fixture(scope="module")
def shown(table):
    forest = odrf.odrf("y ~ a", table, n_trees=1, seed=1)
    root = odrf.odt("c ~ a", table, max_leaves=1, seed=1)
    boosted = odrf.odbt("y ~ a", table, n_trees=1, seed=1)
    return {
        "forest": forest,
        "root": root,
        "boosted": boosted,
        "guided": odrf.graf("c ~ a", table, n_trees=1, seed=1),
        "path": root.pruning_path(cv=3),
        "forest path": forest.pruning_path(),
        "growth path": root.growth_path(cv=3),
        "depths": root.growth_path(cv=3, along="depth"),
        "elimination": forest.select_variables(),
        "shadows": forest.select_variables("boruta", rounds=1),
        "sensitivity": odrf.graf("c ~ a", table, n_trees=1, seed=1).sensitivity(),
        "update": forest.update(table[:1]),
    }


def words_of(one):
    """All that a result or report says of itself, as text and as a drawing."""
    yield repr(one)
    yield str(one.summary())
    if "sensitivity" not in type(one).__name__.lower():
        for panel in np.ravel(one.plot()):
            legend = panel.get_legend()
            yield from (text.get_text() for text in (legend.get_texts() if legend else ()))
            yield panel.get_title()
        plt.close("all")


def test_one_thing_is_one(shown):
    for name, one in shown.items():
        for words in words_of(one):
            assert not SEVERAL.search(words), (name, words)


def test_the_noun_follows_the_number():
    assert [quantity(k, "row") for k in (0, 1, 2, 11)] == ["0 rows", "1 row", "2 rows", "11 rows"]
    assert quantity("1.0", "leaf", "leaves") == "1.0 leaves"


def test_a_level_is_not_rounded_to_whole_per_cents():
    shown = [percentage(level) for level in (0.5, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9999)]
    assert shown == ["50%", "90%", "95%", "97.5%", "99%", "99.5%", "99.99%"]
