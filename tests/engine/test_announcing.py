"""What is said before the first compilation."""

from __future__ import annotations

import sys

import pytest
from numba.core import config

from odrf.engine.compiling import QUIET, compiled_at_ease, kernel


def doubling():
    """A kernel, as a new process would see it."""

    @kernel
    def doubled(x):
        return 2 * x

    return doubled


@pytest.fixture
def said(tmp_path, monkeypatch, capsys):
    """Return what a process says that calls the kernel."""
    monkeypatch.setattr(config, "CACHE_DIR", str(tmp_path))
    monkeypatch.delenv(QUIET, raising=False)

    def of_new_process(function=None):
        function = doubling() if function is None else function
        with compiled_at_ease(function):
            assert function(21) == 42
        return capsys.readouterr().err

    return of_new_process


def test_it_is_said_once_on_a_machine(said):
    assert "`odrf --warm`" in said()
    assert said() == ""


def test_it_is_said_once_in_a_process(said, tmp_path):
    doubled = doubling()
    assert said(doubled).count("\n") == 1
    for file in tmp_path.rglob("*.nb?"):
        file.unlink()
    assert said(doubled) == ""


def test_an_environment_variable_hides_it(said, monkeypatch):
    monkeypatch.setenv(QUIET, "1")
    assert said() == ""


def test_a_process_without_stderr_compiles(said, monkeypatch):
    monkeypatch.setattr(sys, "stderr", None)
    assert said() == ""
