"""The summary object."""

from __future__ import annotations

import inspect
import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser
from importlib import import_module
from pkgutil import walk_packages

import numpy as np
import pandas as pd
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

import odrf
from odrf.text.names import shortened, shortened_names
from odrf.text.summary import Card, Summary, card_as_html, card_as_text
from shown import MANY, SIZES, reports_of, results_of, studies_of


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


# ------------------------------------------------------------------------------------------------
# What prompts, notebooks and papers show of every result and report, with names of any kind.
# ------------------------------------------------------------------------------------------------

WIDTH, LINES = 100, 12
CASES = [(group, p) for group in (results_of, reports_of) for p in SIZES] + [(studies_of, MANY)]
every = pytest.mark.parametrize(
    "group, p", CASES, ids=lambda value: getattr(value, "__name__", value)
)
VOID = {"br"}


@cache
def summaries_of(group, p):
    return {name: shown.summary() for name, shown in group(p).items()}


class Reader(HTMLParser):
    """Reads a page: its open elements, and each cell's text and style."""

    def __init__(self):
        super().__init__()
        self.open, self.cells = [], []

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if tag == "td":
            self.cells.append([dict(attrs)["style"], ""])

    def handle_endtag(self, tag):
        assert self.open.pop() == tag

    def handle_data(self, data):
        if self.open[-1:] == ["td"]:
            self.cells[-1][1] += data


@pytest.mark.filterwarnings("error")
@every
def test_cards_are_a_dozen_lines(group, p):
    for name, shown in group(p).items():
        lines = repr(shown).split("\n")
        assert len(lines) <= LINES, name
        assert max(map(len, lines)) <= WIDTH, name
        assert lines[0].strip(), name


@pytest.mark.filterwarnings("error")
@every
def test_summaries_are_at_most_100_characters_wide(group, p):
    for name, summary in summaries_of(group, p).items():
        assert max(map(len, str(summary).split("\n"))) <= WIDTH, name


@pytest.mark.filterwarnings("error")
@every
def test_pages_are_well_formed_and_numbers_stand_to_the_right(group, p):
    for name, shown in group(p).items():
        for page in (shown._repr_html_(), summaries_of(group, p)[name]._repr_html_()):
            reader = Reader()
            reader.feed(page)
            assert reader.open == [], name
            assert "<style>" in page, name
            assert page.count("<table>") == page.count("</table>"), name
        table = [cell for cell in reader.cells if "right" in cell[0]]
        assert all(re.fullmatch(r"|nan|-?inf|-?[\d.]+(e[+-]\d+)?", text) for _, text in table)


def latex_faults(latex):
    """Return what pdflatex would not read in a table, by rules."""
    faults = [f"not ASCII: {letter!r}" for letter in set(latex) if not letter.isascii()]
    plain = re.sub(r"\\[a-zA-Z]+(\{\})?|\\\\|\\[^a-zA-Z]", "", latex)
    faults += [f"not escaped: {letter}" for letter in "%#_^~" if letter in _text_of(plain)]
    if re.search(r"(\\\\|rule)\s*(\[|\*)", latex):
        faults.append("the end of a row takes what follows for its argument")
    if plain.count("{") != plain.count("}") or plain.count("$") % 2:
        faults.append("braces or mathematics without an end")
    for spec, body in re.findall(
        r"\\begin\{tabular\}\{(.*?)\}\n(.*?)\\end\{tabular\}", latex, re.S
    ):
        columns = len(re.sub(r"p\{[^}]*\}?", "p", spec))
        rows = [row for row in body.split("\n") if row.endswith(r"\\")]
        faults += [row for row in rows if len(re.findall(r"(?<!\\)&", row)) != columns - 1]
    return faults


def _text_of(latex):
    """Return LaTeX without mathematics, where powers are allowed."""
    return re.sub(r"\$[^$]*\$", "", latex)


@pytest.mark.filterwarnings("error")
@every
def test_latex_follows_the_rules(group, p):
    for name, summary in summaries_of(group, p).items():
        assert latex_faults(summary.as_latex()) == [], name


@pytest.mark.filterwarnings("error")
@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="pdflatex is not installed")
def test_latex_compiles(tmp_path):
    groups = (results_of, 3), (reports_of, 3), (studies_of, MANY)
    shown = [summary for group in groups for summary in summaries_of(*group).values()]
    pages = "\n\\clearpage\n".join(summary.as_latex() for summary in shown)
    (tmp_path / "all.tex").write_text(
        "\\documentclass{article}\n\\usepackage{booktabs}\n\\begin{document}\n"
        f"{pages}\n\\end{{document}}\n",
        encoding="utf-8",
    )
    command = ["pdflatex", "-halt-on-error", "-interaction=nonstopmode", "all.tex"]
    run = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, errors="replace")
    assert run.returncode == 0, run.stdout[-2000:]


# ------------------------------------------------------------------------------------------------
# Cards, and that all results and reports have one.
# ------------------------------------------------------------------------------------------------

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
    assert {one for one in classes if one.__repr__ is not card_as_text} == set()
    assert {one for one in classes if one._repr_html_ is not card_as_html} == set()


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


# ------------------------------------------------------------------------------------------------
# Long names: short enough, and still told apart.
# ------------------------------------------------------------------------------------------------


@given(st.text(max_size=40), st.integers(3, 30))
def test_a_shortened_name_keeps_both_ends(name, most):
    short = shortened(name, most)
    assert len(short) <= most
    if len(name) <= most:
        assert short == name
    else:
        begin, end = short.split("…", 1) if "…" not in name else (short[:1], short[-1:])
        assert name.startswith(begin) and name.endswith(end)


def test_names_that_differ_in_the_middle_stay_different():
    names = [f"answer_of_the_household_to_question_{k}_of_the_poll_of_2020" for k in range(170)]
    short = shortened_names(names, 20)
    assert len(set(short)) == 170
    assert max(map(len, short)) <= 20


def test_names_that_differ_at_an_end_are_cut_in_the_middle():
    names = [f"{k}_answer_of_the_household_to_question" for k in range(20)]
    assert shortened_names(names, 20)[7] == shortened(names[7], 20)


def test_equal_names_stay_equal():
    names = ["the_same_name_for_two_things"] * 2
    assert shortened_names(names, 12) == [shortened(names[0], 12)] * 2


def test_names_that_differ_in_two_places_are_numbered():
    names = [f"{'a' * 20}{x}{'b' * 20}{y}{'c' * 20}" for x in "pq" for y in "rs"]
    short = shortened_names(names, 15)
    assert len(set(short)) == 4
    assert max(map(len, short)) <= 15


def test_numbers_are_not_cut():
    names = [f"spectrum_channel_{k}_absorbance" for k in (112, 119, 169)]
    short = shortened_names(names, 20)
    assert [text.split("…")[1][:4] for text in short] == ["112_", "119_", "169_"]
