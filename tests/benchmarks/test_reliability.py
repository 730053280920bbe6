"""The script of mutants: what it changes, and what becomes of a change."""

from __future__ import annotations

import csv
import os
import re
import sys
from pathlib import Path

import pytest

from benchmarks.reliability import exports, load, mutants
from benchmarks.reliability.export_targets import COMPILER
from exported import wide_table

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


# ------------------------------------------------------------------------------------------------
# The loads of `load.py` at small sizes: all end, and what they find is as expected.
# ------------------------------------------------------------------------------------------------

FLAT = "fits, predictions and plots"


@pytest.mark.usefixtures("few_pilots")
@pytest.mark.parametrize("name", [name for name in load.LOADS if name != FLAT])
def test_a_small_load_is_carried(name):
    seconds, megabytes, found = load.measured(name, quick=True)
    assert seconds < 60
    assert megabytes < 500
    assert found
    if name == "chain":
        depth = int(found.split()[1].rstrip(","))
        assert depth == load.LOADS["chain"].quick - 1


@pytest.mark.usefixtures("few_pilots")
def test_memory_is_flat_over_many_fits(monkeypatch):
    monkeypatch.undo()  # with searches for garbage
    found = load.measured(FLAT, quick=True)[2]
    assert int(re.match(r"[+-]\d+", found)[0]) <= 10


@pytest.mark.usefixtures("few_pilots")
def test_a_run_is_continued(tmp_path, monkeypatch):
    out, done = tmp_path / "load.csv", []

    def apart(name, quick, limit):
        done.append(name)
        return [1.0, 2, "found"]

    monkeypatch.setattr(load, "apart", apart)
    for names in (["no rows"], ["no rows", "one row"]):
        monkeypatch.setattr(sys, "argv", ["load.py", "--out", str(out), "--only", *names])
        assert load.main() == 0
    assert done == ["no rows", "one row"]
    assert [line["load"] for line in csv.DictReader(out.open())] == done


@pytest.mark.usefixtures("few_pilots")
def test_a_load_that_fails_is_reported(monkeypatch):
    monkeypatch.setattr(load, "LOADS", {**load.LOADS, "absent": None})
    assert load.apart("absent", quick=True, limit=60)[2].startswith("status 2")


# ------------------------------------------------------------------------------------------------
# The benchmark of exports runs every target on a table, and finds no row that differs.
# ------------------------------------------------------------------------------------------------


@pytest.mark.skipif(COMPILER is None, reason="no compiler of C")
def test_no_row_differs_in_any_target(tmp_path: Path) -> None:
    data = wide_table()[["a", "b", "f", "c"]].rename(columns={"c": "y"})
    data.to_csv(tmp_path / "small.csv.gz", index=False)
    (tmp_path / "index.csv").write_text("name,task\nsmall,classification\n")
    out = tmp_path / "exports.csv"
    asked = ["--data", str(tmp_path), "--out", str(out), "--tables", "small", "--trees", "3"]
    lines = exports.main(asked)
    assert set(lines["target"]) == {"C", "ONNX", "Python", "DuckDB", "SQLite"}
    assert lines["fit"].value_counts().to_dict() == {"odt": 5, "odrf": 2}
    assert (lines["rows"] == len(data)).all()
    assert (lines["different"] == 0).all()
    assert out.read_text().count("\n") == len(lines) + 1
