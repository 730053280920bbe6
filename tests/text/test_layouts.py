"""One thing is not spoken of as several."""

from __future__ import annotations

import re

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.text.layouts import percentage, quantity, text_columns
from odrf.text.summary import Summary

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


# ------------------------------------------------------------------------------------------------
# The cells of a table.
# ------------------------------------------------------------------------------------------------


def cells(*values):
    (column,) = text_columns(pd.DataFrame({"a": values}))
    return column.cells


def test_zero_has_no_sign():
    assert cells(1.5, -0.0, -1.5) == ["1.500", "0.000", "-1.500"]
    assert cells(-0.0) == ["0"]


def test_decimals_are_those_of_the_largest_entry():
    assert cells(123.456, 1.0, np.nan) == ["123.5", "1.0", ""]
    assert cells(123.456, 1e-9) == ["123", "1e-09"]
    assert cells(np.inf, 2.0) == ["inf", "2.000"]


def test_no_entry_but_zero_is_shown_as_zero():
    assert cells(134.4, 0.0621, 0.0) == ["134", "0.0621", "0"]
    assert cells(0.2376, 0.00041) == ["0.2376", "0.0004"]
    assert cells(12345.6, 0.25) == ["12346", "0.25"]


def test_a_p_value_that_is_too_small_for_floats_is_a_bound_in_every_output():
    table = pd.DataFrame({"p_value": [0.0, 0.25, np.nan], "p_adjusted": [0.0, 1e-310, 1e-200]})
    small, adjusted = text_columns(table)
    assert small.cells == ["< 1e-300", "0.2500", ""] and small.is_numeric
    assert adjusted.cells == ["< 1e-300", "< 1e-300", "1e-200"]
    summary = Summary("Tests", "", {}, {"": table})
    assert "< 1e-300" in summary.as_text() and "&lt; 1e-300" in summary.as_html()
    assert "1e-300" in summary.as_latex()
    assert table["p_value"][0] == 0
