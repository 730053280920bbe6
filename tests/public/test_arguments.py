"""No public name of a released version is gone without a release that warned of it."""

from __future__ import annotations

import gc
import inspect
import re
import sys
from pathlib import Path

import pytest

import odrf
from odrf.errors import InputError
from odrf.public.progress import kind_of_bar
from signatures import callables

RELEASED = sorted(Path(__file__).with_name("released").glob("*.txt"))
NOW = callables()
# Names that went after a release that warned of them: what, and the release that warned.
GONE: dict[str, str] = {}
# Base classes of then, whose methods are now listed in the classes that users get.
BASES = {
    **dict.fromkeys(("Extendable", "ForestOutOfBag", "ForestPredicting"), "ODRFResults"),
    **dict.fromkeys(("OutOfBagResults", "PixelResults", "Panelled"), "ODRFResults"),
    **dict.fromkeys(("SeveralTrees", "TreeResults", "Updatable", "FittedResults"), "ODRFResults"),
    **dict.fromkeys(("Measured", "RowPredicting"), "ODRFResults"), "ReadableTree": "ODTResults",
}  # fmt: skip


def old_spellings(function):
    """The old names that the arguments of a function may still have."""
    inside = inspect.getclosurevars(function).nonlocals
    return {*inside.get("renamed", {}), *inside.get("by_name", ())}


@pytest.mark.parametrize("path", RELEASED, ids=lambda path: path.stem)
def test_names_are_still_known(path):
    lost = []
    for line in path.read_text().splitlines():
        name, *arguments = line.split()
        owner, dot, method = name.partition(".")
        name = BASES.get(owner, owner) + dot + method
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


# ------------------------------------------------------------------------------------------------
# What is said of names of arguments that other packages have.
# ------------------------------------------------------------------------------------------------

DATA = odrf.load_data("gbsg2")
FORMULA = "Surv(time, event) ~ age + nodes"


@pytest.mark.parametrize("fit", [odrf.odt, odrf.odrf, odrf.odbt, odrf.graf, odrf.auto])
@pytest.mark.parametrize("name", ["subset", "na_action"])
def test_some_rows_are_a_part_of_the_data(fit, name):
    said = {"subset": r": give these rows of the data, as in data\[rows\]$", "na_action": "missing"}
    with pytest.raises(InputError, match=rf"has no argument '{name}'.*{said[name]}"):
        fit("age ~ nodes", DATA, **{name: DATA["age"] > 40})


def test_intervals_of_curves_are_bands():
    tree, forest = odrf.odt(FORMULA, DATA, seed=1), odrf.odrf(FORMULA, DATA, n_trees=20, seed=1)
    boosted = odrf.odbt(FORMULA, DATA, n_trees=5, seed=1)
    for fit in (tree, forest, boosted):
        with pytest.raises(InputError, match=r"'interval': .*; those of curves are bands"):
            fit.predict(DATA, interval="confidence")


# ------------------------------------------------------------------------------------------------
# Bars that end before they are made.
# ------------------------------------------------------------------------------------------------


def test_a_bar_that_is_interrupted_while_it_is_made_is_closed_quietly(monkeypatch):
    ignored = []
    monkeypatch.setattr(sys, "unraisablehook", ignored.append)
    bar = kind_of_bar()
    drawn = bar.refresh

    def interrupted(*_, **__):
        monkeypatch.setattr(bar, "refresh", drawn)
        raise KeyboardInterrupt

    monkeypatch.setattr(bar, "refresh", interrupted)
    try:
        bar(total=3)
    except KeyboardInterrupt:
        pass
    else:
        raise AssertionError("the bar was not drawn")
    gc.collect()
    assert ignored == []
