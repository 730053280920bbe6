"""The files that run in one process."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from together import APART, TOGETHER, group_of, place_of, unit_of

ROOT = Path(__file__).parents[1]


def test_every_file_is_there_and_in_one_group():
    paths = list(chain(*TOGETHER))
    assert [path for path in paths if not (ROOT / path).exists()] == []
    for number, group in enumerate(TOGETHER):
        assert {group_of(path) for path in group} == {number}
        places = [place_of(path) for path in group]
        assert sorted(places) == places
    assert place_of("tests/test_together.py") > places[-1]


def test_files_of_a_group_are_one_unit_and_others_one_each():
    one, other = TOGETHER[0][:2]
    assert unit_of(one) == unit_of(other) != unit_of(TOGETHER[1][0])
    assert unit_of("tests/test_together.py::test_a") == "tests/test_together.py"
    assert unit_of(f"{APART[0]}::test_a") == f"{APART[0]}::test_a"
