"""Cores that the process may use, and threads by default."""

from __future__ import annotations

import os

import pytest

from odrf.engine.running import available_cores, usual_threads


@pytest.fixture
def machine(tmp_path, monkeypatch):
    """A root folder of a machine of eight cores, without control groups."""
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: set(range(8)), raising=False)
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    (tmp_path / "proc/self").mkdir(parents=True)
    return tmp_path


def group(root, line, files):
    """Put the process into a control group, whose folder has these files."""
    with (root / "proc/self/cgroup").open("a") as lines:
        lines.write(f"{line}\n")
    for name, text in files.items():
        path = root / "sys/fs/cgroup" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(f"{text}\n")


def test_without_groups_the_cores_are_those_the_process_is_bound_to(machine):
    assert available_cores(machine) == usual_threads(machine) == 8


@pytest.mark.parametrize(
    ("quota", "cores"),
    [("200000 100000", 2), ("250000 100000", 3), ("50000 100000", 1), ("max 100000", 8),
     ("9900000 100000", 8)],
)  # fmt: skip
def test_groups_of_version_2(machine, quota, cores):
    group(machine, "0::/a/b", {"a/b/cpu.max": quota})
    assert available_cores(machine) == cores


def test_the_smallest_quota_of_the_groups_around_counts(machine):
    files = {"a/b/cpu.max": "max 100000", "a/cpu.max": "300000 100000", "cpu.max": "700000 100000"}
    group(machine, "0::/a/b", files)
    assert available_cores(machine) == 3


@pytest.mark.parametrize(("quota", "cores"), [("400000", 4), ("-1", 8)])
def test_groups_of_version_1(machine, quota, cores):
    group(machine, "3:memory:/a", {})
    files = {"cpu/a/cpu.cfs_quota_us": quota, "cpu/a/cpu.cfs_period_us": "100000"}
    group(machine, "4:cpu,cpuacct:/a", files)
    assert available_cores(machine) == cores


@pytest.mark.parametrize(
    ("words", "threads"),
    [("2", 2), ("4,2", 4), (" 3 ", 3), ("100", 8), ("0", 8), ("", 8), ("many", 8), ("-2", 8)],
)
def test_the_variable_of_threads(machine, monkeypatch, words, threads):
    monkeypatch.setenv("OMP_NUM_THREADS", words)
    assert usual_threads(machine) == threads
    assert available_cores(machine) == 8
