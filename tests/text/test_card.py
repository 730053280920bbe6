"""Cards, and that all results and reports have one."""

from __future__ import annotations

import inspect
from importlib import import_module
from pkgutil import walk_packages

import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import odrf
from odrf.text.summary import Card, Carded

words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs", "Zl", "Zp")))


def test_everything_with_a_summary_has_a_card():
    modules = [import_module(info.name) for info in walk_packages(odrf.__path__, "odrf.")
               if "__main__" not in info.name]  # fmt: skip
    classes = {
        thing
        for module in modules
        for _, thing in inspect.getmembers(module, inspect.isclass)
        if hasattr(thing, "summary") and thing.__module__.startswith("odrf.")
    }
    assert len(classes) > 15
    assert {one for one in classes if not issubclass(one, Carded)} == set()
    assert {one for one in classes if one.__repr__ is not Carded.__repr__} == set()


@example("", {"0" * 96: ""}, None, [])
@example("", {"0" * 300: "many words " * 50, "0" * 301: "x"}, None, [])
@given(
    st.text(max_size=300),
    st.dictionaries(words, words, max_size=30),
    st.one_of(st.none(), st.integers(0, 200)),
    st.lists(st.integers(0, 199), max_size=6),
)
def test_a_card_is_never_larger_than_its_page(title, facts, rows, kept):
    if rows is None:
        card = Card(" ".join(title.split()), facts)
    else:
        table = pd.DataFrame({"a name of many letters" * 3: range(rows), "word": "much ado " * 30})
        card = Card(" ".join(title.split()), facts, table, tuple(k for k in kept if k < rows))
    lines = card.as_text().split("\n")
    assert len(lines) <= 12
    assert max(map(len, lines)) <= 100


def test_rows_to_keep_are_shown_with_the_ends():
    table = pd.DataFrame({"leaves": range(864)})
    text = Card("Path", {"Rule": "weakest link"}, table, (300, 301)).as_text()
    numbers = [line.split()[0] for line in text.split("\n")[3:-1]]
    assert {"0", "300", "301", "863"} <= set(numbers)
    assert text.endswith("… 856 more rows: see table")
    assert len(numbers) == 8


@pytest.mark.parametrize("rows", [0, 1, 8])
def test_short_tables_are_shown_in_full(rows):
    text = Card("Title", {"Rows": "3"}, pd.DataFrame({"a": range(rows)}), (0,)).as_text()
    assert "more" not in text
    assert len(text.split("\n")) == 3 + rows
