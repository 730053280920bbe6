"""The benchmark of partial dependence runs, and its ways agree."""

from __future__ import annotations

import sys

from benchmarks.speed import partial_dependence


def test_all_cases_are_timed(monkeypatch, capsys):
    monkeypatch.setattr(sys, "argv", ["partial_dependence.py", "--quick"])
    monkeypatch.setattr(
        partial_dependence, "CASES", {"a number": ["x0"], "number and factor": ["x0", "few"]}
    )
    partial_dependence.main()
    lines = capsys.readouterr().out.splitlines()
    assert [line.split("  ")[0] for line in lines[1:]] == ["a number", "number and factor"]
