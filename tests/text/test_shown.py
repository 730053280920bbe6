"""What prompts, notebooks and papers show of every result and report, with names of any kind."""

from __future__ import annotations

import re
import shutil
import subprocess
from functools import cache
from html.parser import HTMLParser

import pytest

from shown import MANY, SIZES, reports_of, results_of, studies_of

pytestmark = pytest.mark.filterwarnings("error")

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


@every
def test_cards_are_a_dozen_lines(group, p):
    for name, shown in group(p).items():
        lines = repr(shown).split("\n")
        assert len(lines) <= LINES, name
        assert max(map(len, lines)) <= WIDTH, name
        assert lines[0].strip(), name


@every
def test_summaries_are_at_most_100_characters_wide(group, p):
    for name, summary in summaries_of(group, p).items():
        assert max(map(len, str(summary).split("\n"))) <= WIDTH, name


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


@every
def test_latex_follows_the_rules(group, p):
    for name, summary in summaries_of(group, p).items():
        assert latex_faults(summary.as_latex()) == [], name


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
