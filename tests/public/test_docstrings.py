"""What docstrings of several functions share is filled in wherever `help` shows it."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
from pathlib import Path

import pytest

import odrf
from odrf.public.docstrings import ENTRIES, PLACE, documented, filled
from signatures import CLASSES, PREDICTS, callables

CALLABLES = callables()
SOURCES = [
    path.read_text(encoding="utf-8")
    for path in Path(odrf.__file__).parent.rglob("*.py")
    if path.name != "docstrings.py"
]


def entries_of(function):
    """The entries of the section Parameters, by the names at their heads."""
    text = inspect.getdoc(function) or ""
    if "Parameters\n----------\n" not in text:
        return {}
    section = text.split("Parameters\n----------\n")[1]
    section = re.split(r"\n\n\w[\w ]*\n-+\n", section)[0]
    return dict(entry.partition("\n")[::2] for entry in re.split(r"\n(?=\S)", section))


def test_an_entry_has_its_head_or_is_about_another():
    assert filled("A.\n\n    {n_jobs, progress}\n") == (
        "A.\n\n    n_jobs : int, optional\n"
        "        Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.\n"
        "    progress : bool, default False\n        Show a progress bar.\n"
    )
    own = "A.\n\n    progress : bool, default True\n        {about progress}\n        Here.\n"
    assert filled(own) == own.replace("{about progress}", "Show a progress bar.")


def test_without_indentation_as_of_python_3_13_and_without_docstrings():
    assert filled("A.\n\n{progress}\n    More.\n") == (
        "A.\n\nprogress : bool, default False\n    Show a progress bar.\n    More.\n"
    )
    assert filled(None) is None
    assert filled("A {word} in a line, {'a': 1}.\n") == "A {word} in a line, {'a': 1}.\n"


def test_an_unknown_entry_is_an_error():
    with pytest.raises(KeyError, match="of_nothing"):
        documented(type("A", (), {"__doc__": "A.\n\n    {of_nothing}\n"}))


def test_no_place_is_left_empty_and_every_argument_is_explained():
    unexplained = {}
    for name, function in CALLABLES.items():
        assert not PLACE.search(function.__doc__ or ""), name
        heads = [head.split(" : ")[0].split(",") for head in entries_of(function)]
        named = {one.strip("* ") for head in heads for one in head}
        if named:
            unexplained[name] = {*inspect.signature(function).parameters} - {"self"} - named
    assert len(unexplained) > 300
    assert not {name: rest for name, rest in unexplained.items() if rest}


def test_no_place_of_a_class_is_left_empty():
    assert not [one.__name__ for one in CLASSES if PLACE.search(one.__doc__ or "")]


def test_help_sends_nobody_elsewhere_for_an_argument():
    assert not [
        (name, head)
        for name, function in CALLABLES.items()
        for head, text in entries_of(function).items()
        if re.match(r"\s*As (in|by|of) ", text)
    ]


@pytest.mark.parametrize("name", PREDICTS)
def test_help_of_predict_says_which_rows(name):
    assert [head for head in entries_of(CALLABLES[name]) if re.match("newdata : DataFrame", head)]


def test_every_entry_is_used():
    places = (match[3] for source in SOURCES for match in PLACE.finditer(source))
    used = {name for names in places for name in names.split(", ")}
    used |= {name for source in SOURCES for name in re.findall(r'taking\(.*, "(\w+)"\)', source)}
    assert not set(ENTRIES) - used


def test_without_docstrings_the_package_works():
    code = "import odrf; assert odrf.odrf.__doc__ is None; print(odrf.load_data('wine').shape)"
    done = subprocess.run([sys.executable, "-OO", "-c", code], capture_output=True, text=True)
    assert done.stdout.strip() == "(178, 14)", done.stderr


def test_what_draws_says_where_unless_it_describes_its_arguments():
    text = filled("Draw.\n\n        Dots.\n        ", draws=True)
    assert text.startswith(
        "Draw.\n\nDots.\n\nParameters\n----------\nax : Axes, optional\n    Where"
    )
    assert text.endswith("new figure.\n\nReturns\n-------\nAxes\n")
    own = "Draw.\n\n    Parameters\n    ----------\n    ax : Axes\n"
    assert filled(own, draws=True) == own
