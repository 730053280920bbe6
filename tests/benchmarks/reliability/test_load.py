"""The loads of `load.py` at small sizes: all end, and what they find is as expected."""

from __future__ import annotations

import csv
import re
import sys

import pytest

from benchmarks.reliability import load

pytestmark = pytest.mark.usefixtures("few_pilots")

FLAT = "fits, predictions and plots"


@pytest.mark.parametrize("name", [name for name in load.LOADS if name != FLAT])
def test_a_small_load_is_carried(name):
    seconds, megabytes, found = load.measured(name, quick=True)
    assert seconds < 60
    assert megabytes < 500
    assert found
    if name == "chain":
        depth = int(found.split()[1].rstrip(","))
        assert depth == load.LOADS["chain"].quick - 1


def test_memory_is_flat_over_many_fits(monkeypatch):
    monkeypatch.undo()  # with searches for garbage
    found = load.measured(FLAT, quick=True)[2]
    assert int(re.match(r"[+-]\d+", found)[0]) <= 10


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


def test_a_load_that_fails_is_reported(monkeypatch):
    monkeypatch.setattr(load, "LOADS", {**load.LOADS, "absent": None})
    assert load.apart("absent", quick=True, limit=60)[2].startswith("status 2")
