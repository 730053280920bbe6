"""Every argument of the functions that evaluate, simulate and load: it works or is refused."""

from __future__ import annotations

import inspect
from functools import cache, partial
from typing import Any

import pytest

import odrf
from hostile import HOSTILE, complaint, small_table
from odrf import simulate

# Without models, forests of the default size are grown.
pytestmark = pytest.mark.usefixtures("few_pilots")

DATA = small_table()
as_grown = partial(odrf.odt, alpha=None)
MODELS = {"one": as_grown, "other": as_grown}
CALLS: dict[str, tuple[Any, dict[str, Any]]] = {
    "compare": (
        odrf.compare, {"formula": "c ~ a + b", "data": DATA, "models": MODELS, "cv": 2, "seed": 1},
    ),
    "tune": (
        odrf.tune,
        {"formula": "c ~ a + b", "data": DATA, "grid": {"min_leaf": [2, 5]}, "n_trees": 3,
         "seed": 1},
    ),
    "tune by cv": (
        odrf.tune,
        {"formula": "c ~ a", "data": DATA, "grid": {"min_leaf": [2, 5]}, "model": odrf.odt,
         "method": "cv", "cv": 2, "alpha": None, "seed": 1},
    ),
    "learning_curve": (
        odrf.learning_curve,
        {"formula": "c ~ a", "data": DATA, "models": {"one": as_grown}, "sizes": [10, 15, 20],
         "repeats": 1, "seed": 1},
    ),
    "bias_variance": (
        odrf.bias_variance,
        {"problem": ("c ~ a", DATA), "models": as_grown, "n": 10, "repeats": 2, "seed": 1},
    ),
    "approximation_curve": (
        odrf.approximation_curve,
        {"fit": None, "newdata": DATA, "models": {"one": as_grown}, "fractions": [0.5, 1.0],
         "repeats": 1, "seed": 1},
    ),
    "load": (odrf.load, {"path": "nothing"}),
    "load_data": (odrf.load_data, {"name": "wine"}),
    **{
        name: (getattr(simulate, name), {})
        for name in simulate.__all__
        if inspect.isfunction(getattr(simulate, name))
    },
}  # fmt: skip


@cache
def guided():
    return odrf.graf("c ~ a + b", DATA, n_trees=3, seed=1)


@pytest.mark.parametrize(
    ("name", "argument"),
    [
        (name, argument)
        for name, (function, _) in CALLS.items()
        for argument, found in inspect.signature(function).parameters.items()
        if found.kind is not found.VAR_KEYWORD
    ],
)
def test_any_value_works_or_is_refused(name, argument):
    function, given = CALLS[name]
    if "fit" in given:
        given = {**given, "fit": guided()}
    wrong = {}
    for words, value in HOSTILE.items():
        found = complaint(lambda value=value: function(**{**given, argument: value}))
        if found:
            wrong[words] = found
    assert not wrong
