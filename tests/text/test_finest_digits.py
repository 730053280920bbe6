"""Numbers, dates and rules in words where the usual digits do not do."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from odrf.design.encoding import Moments
from odrf.design.ranks import OwnRanks
from odrf.options.sizes import Rule
from odrf.text.layouts import in_latex
from odrf.text.splits import _rounded, moment, rank_label
from odrf.text.summary import rule_in_words


def test_a_cut_between_neighbouring_floats_has_all_digits():
    ranks = OwnRanks(np.array([0.3, 0.1 + 0.2]), base=None)
    assert rank_label(ranks, 0.5, increasing=True) == "0.3"
    assert rank_label(ranks, 0.5, increasing=False) == "0.30000000000000004"


@pytest.mark.parametrize(
    ("step", "words"),
    [
        (86400.0, "2024-03-01"),
        (60.0, "2024-02-29 13:46"),
        (1.0, "2024-02-29 13:45:40"),
        (0.01, "2024-02-29 13:45:40.250000"),
    ],
)
def test_a_date_is_as_fine_as_its_steps(step, words):
    dates = Moments(pd.Timestamp("2024-01-01").as_unit("us"))
    seconds = (pd.Timestamp("2024-02-29 13:45:40.25") - dates.origin).total_seconds()
    assert moment(dates, seconds, step) == words


def test_numbers_of_a_tiny_or_huge_range_have_significant_digits():
    assert _rounded(1998.53, 30.0, 2) == "1998.5"
    assert _rounded(1.23456e-20, 1e-19, 4) == "1.235e-20"
    assert _rounded(-1.23456e25, 1e26, 4) == "-1.235e+25"


def test_rules_that_found_nothing_are_named_at_most():
    assert rule_in_words(Rule("none"), 100) == ""
    assert rule_in_words(Rule("rate", "sqrt"), 100) == "sqrt(n)"


def test_control_characters_are_spaces_in_latex():
    assert in_latex("a\x07b\tc") == "a b c"


def test_greek_capitals_that_look_latin_are_latin_in_latex():
    assert in_latex("\N{GREEK CAPITAL LETTER ALPHA}\N{GREEK CAPITAL LETTER RHO}") == "AP"
