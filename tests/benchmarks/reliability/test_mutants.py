"""The script of mutants: what it changes, and what becomes of a change."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from benchmarks.reliability import mutants

SOURCE = """
def plus(x: int | None, y: int = 1) -> int:
    return x + y


@kernel
def twice(x):
    return 2 * x
"""


def test_kernels_and_types_are_left_out():
    found = set(mutants.lines_left_out(SOURCE))
    assert {(2, column) for column in range(12, 22)} <= found
    assert {6, 7, 8} <= found
    assert found.isdisjoint({1, 2, 3})


def test_the_line_that_differs_is_told():
    assert (
        mutants.difference(SOURCE, SOURCE.replace("x + y", "x - y"))
        == "return x + y → return x - y"
    )


def test_tests_named_after_the_module_come_first(monkeypatch):
    monkeypatch.chdir(mutants.ROOT)
    mutant = mutants.Mutant("pruning", "odrf/pruning/complexity.py", 1, "", 0)
    first, *others = mutants.tests_of(mutant)
    assert first == "tests/pruning/test_complexity.py"
    assert "tests/pruning" in others


def test_every_area_has_modules_and_tests():
    for area in mutants.AREAS.values():
        assert all((mutants.ROOT / path).exists() for path in [*area.modules, *area.tests])


@pytest.mark.skipif(not hasattr(os, "fork"), reason="processes are forked")
@pytest.mark.parametrize(
    ("changed", "limit", "outcome"),
    [("x + y", 60, "survived"), ("x - y", 60, "killed"), ("x - y", 0.0, "endless")],
)
def test_a_change_survives_or_is_killed(changed, limit, outcome, tmp_path: Path):
    file, test = tmp_path / "adding_numbers.py", tmp_path / "test_adding_numbers.py"
    file.write_text(SOURCE.split("@")[0])
    test.write_text(
        f"import sys\nsys.path.insert(0, {str(tmp_path)!r})\nfrom adding_numbers import plus\n\n\n"
        "def test_plus():\n    assert plus(1) == 2\n"
    )
    source = file.read_text().replace("x + y", changed)
    assert mutants.tried_on(file, source, [str(test)], limit) == outcome


def test_mutants_are_drawn_from_the_code(monkeypatch):
    pytest.importorskip("cosmic_ray")
    monkeypatch.chdir(mutants.ROOT)
    drawn = mutants.sample("pruning", 5, 1)
    assert len(set(drawn)) == 5 and drawn == mutants.sample("pruning", 5, 1)
    for one in drawn:
        source = (mutants.ROOT / one.file).read_text(encoding="utf-8")
        assert mutants.mutated(source, one) != source
