"""The summary object."""

from __future__ import annotations

from html.parser import HTMLParser

import numpy as np
import pandas as pd
import pytest

from odrf.text.summary import Summary


@pytest.fixture
def summary():
    table = pd.DataFrame(
        {"n_rows": [350, 9], "error": [0.0196, np.nan]}, index=["a_1 & <b>", "100%"]
    )
    facts = {"Response": "y_1", "Rows": "359", "Trees": "5"}
    return Summary("Title", "odrf('y ~ a^2', data)", facts, {"Table & co": table}, ("A note.",))


def test_tables_are_data_frames(summary):
    facts, table = summary.tables
    assert list(facts["value"]) == ["y_1", "359", "5"]
    assert table.loc["100%", "n_rows"] == 9
    table.loc["100%", "n_rows"] = 0
    assert summary.tables[1].loc["100%", "n_rows"] == 9


def test_text(summary):
    lines = str(summary).split("\n")
    assert lines[0].strip() == "Title"
    assert "Call     odrf('y ~ a^2', data)" in lines
    assert max(map(len, lines)) == 80
    assert not any(line.endswith(" ") for line in lines)
    body = [line.split() for line in lines]
    assert ["Response", "y_1", "Trees", "5"] in body
    assert ["a_1", "&", "<b>", "350", "0.01960"] in body
    assert ["100%", "9"] in body
    assert lines[-1] == "A note."


def test_a_long_call_is_cut_in_its_middle():
    options = ", ".join(f"option_{i}={i}" for i in range(80))
    lines = Summary("Title", f"odrf({options})", {}).as_text().split("\n")
    call = lines[2 : lines.index("-" * 80)]
    assert len(call) == 7
    assert call[0].startswith("Call     odrf(option_0=0")
    assert call[3].strip() == "…"
    assert call[-1].endswith("option_79=79)")


def test_it_shows_itself_as_latex_where_that_is_asked_for(summary):
    assert summary._repr_latex_() == summary.as_latex()


def test_columns_are_aligned(summary):
    text = summary.as_text()
    header, first, second = (
        next(line for line in text.split("\n") if word in line)
        for word in ("n_rows", "350", "100%")
    )
    ends = header.index("n_rows") + len("n_rows")
    assert first[:ends].endswith("350")
    assert second[:ends].endswith("9")


def test_facts_too_wide_for_two_columns_stand_below_each_other():
    wide = Summary("Title", "call", {"One": "x" * 60, "Two": "y" * 60})
    lines = wide.as_text().split("\n")
    assert "One  " + "x" * 60 in lines
    assert "Two  " + "y" * 60 in lines


@pytest.mark.parametrize("length", [90, 100, 300])
def test_long_labels_are_shortened(length):
    text = str(Summary("Title", "call()", {"m" * length: "word " * 30, "n" * length: "1"}))
    assert max(map(len, text.split("\n"))) <= 100
    assert text.count("word") == 30


def test_long_calls_are_wrapped():
    call = "odrf('y ~ " + " + ".join(f"x{i}" for i in range(60)) + "', data)"
    summary = Summary("Title", call, {"Rows": "3"})
    assert max(map(len, summary.as_text().split("\n"))) == 80


def test_html_is_escaped_and_well_formed(summary):
    class Reader(HTMLParser):
        def __init__(self):
            super().__init__()
            self.open, self.text = [], []

        def handle_starttag(self, tag, attrs):
            if tag != "br":
                self.open.append(tag)

        def handle_endtag(self, tag):
            assert self.open.pop() == tag

        def handle_data(self, data):
            self.text.append(data)

    reader = Reader()
    reader.feed(summary._repr_html_())
    assert reader.open == []
    assert "a_1 & <b>" in reader.text
    assert "Table & co" in reader.text


def test_latex_is_escaped(summary):
    latex = summary.as_latex()
    assert r"a\_1 \& \textless{}b\textgreater{}" in latex
    assert r"100\%" in latex
    assert r"y \textasciitilde{} a\textasciicircum{}2" in latex
    assert latex.count(r"\begin{tabular}") == latex.count(r"\end{tabular}") == 2
    assert latex.endswith(r"\end{table}")


def test_nothing_prints_itself(summary, capsys):
    summary.as_text(), summary.as_html(), summary.as_latex(), repr(summary)
    assert capsys.readouterr().out == ""


def test_numbers_that_are_text_stand_to_the_right_and_words_to_the_left():
    table = pd.DataFrame({"value": ["368", "0.7"], "by": ["rows", "a leaf"]}, index=["a", "b"])
    lines = Summary("Title", "call", {"Rows": "3"}, {"Table": table}).as_text().split("\n")
    rows = [line for line in lines if "rows" in line or "a leaf" in line]
    assert rows == ["a     368   rows", "b     0.7   a leaf"]


def test_facts_of_unequal_length_stand_in_one_column_if_two_are_too_wide():
    facts = {"Time": "0.3 s", "Trees": "6", "File": "20 kB", "Known from": "a trial " * 7}
    assert max(map(len, str(Summary("Title", "call()", facts, {}, ())).split("\n"))) <= 100
