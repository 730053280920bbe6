"""No public name of a released version is gone without a release that warned of it."""

from __future__ import annotations

import inspect
import re
from pathlib import Path

import pytest

import odrf
from signatures import callables

RELEASED = sorted(Path(__file__).with_name("released").glob("*.txt"))
NOW = callables()
# Names that went after a release that warned of them: what, and the release that warned.
GONE: dict[str, str] = {}


def old_spellings(function):
    """The old names that the arguments of a function may still have."""
    inside = inspect.getclosurevars(function).nonlocals
    return {*inside.get("renamed", {}), *inside.get("by_name", ())}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_names_are_still_known(path):
    lost = []
    for line in path.read_text().splitlines():
        name, *arguments = line.split()
        if name not in NOW:
            lost.append(name)
            continue
        known = {*inspect.signature(NOW[name]).parameters, *old_spellings(NOW[name])}
        lost += [f"{name}({argument}=)" for argument in arguments if argument not in known]
    assert not [name for name in lost if name not in GONE]


def test_this_version_is_not_released_with_other_names():
    version = tuple(map(int, re.findall(r"\d+", odrf.__version__)[:3]))
    assert all(tuple(map(int, path.stem.split("."))) <= version for path in RELEASED)


def test_old_spellings_are_found():
    assert "rule" in old_spellings(odrf.results.ODTResults.pruning_path)
