"""The files that run in one process, and the tests that run once a week."""

from __future__ import annotations

from itertools import chain
from pathlib import Path

from together import APART, TOGETHER, group_of, place_of, unit_of
from weekly import FOLDERS, SOME, is_weekly

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


def test_what_runs_once_a_week_is_there():
    assert all((ROOT / folder).is_dir() for folder in FOLDERS)
    for path, tests in SOME.items():
        text = (ROOT / path).read_text(encoding="utf-8")
        assert [test for test in tests if f"def {test}(" not in text] == []


def test_a_test_runs_once_a_week_by_its_folder_or_its_case():
    assert is_weekly("tests/faults/test_memory.py::test_a")
    assert is_weekly("tests/test_vignettes.py::test_vignette_runs_from_top_to_bottom[effects]")
    assert not is_weekly(
        "tests/test_vignettes.py::test_vignette_runs_from_top_to_bottom[getting-started]"
    )
    assert not is_weekly("tests/test_together.py::test_a")
