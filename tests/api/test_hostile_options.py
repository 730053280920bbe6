"""Every option of every function that fits a model: any value works or is refused by name."""

from __future__ import annotations

import inspect
from typing import Any

import numpy as np
import pytest

import odrf
from hostile import HOSTILE, complaint, small_table
from odrf.errors import InputError

pytestmark = pytest.mark.usefixtures("few_pilots")

FUNCTIONS: dict[str, tuple[Any, dict[str, Any]]] = {
    "odt": (odrf.odt, {}),
    "odrf": (odrf.odrf, {"n_trees": 3}),
    "blend": (odrf.odrf, {"n_trees": 20, "blend": True}),
    "odbt": (odrf.odbt, {"n_trees": 3}),
    "graf": (odrf.graf, {"n_trees": 3}),
}
DATA = small_table().assign(t=lambda data: data["y"].abs() + 0.1, e=lambda data: data["a"] > -0.5)
OF_TIMES, TIMES = ("odt", "odrf", "odbt"), "Surv(t, e) ~ a + b + f"
# Offsets are for numbers and two classes; these are numbers.
OF_NUMBERS = {"offset", "loss"}


def options(name: str) -> list[str]:
    found = list(inspect.signature(FUNCTIONS[name][0]).parameters)
    return ["blend", "projection", "n_trees", "resample"] if name == "blend" else found


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in FUNCTIONS for option in options(name)]
)
def test_any_value_works_or_is_refused(name, option):
    function, given = FUNCTIONS[name]
    formula = "y ~ a + b + f" if option in OF_NUMBERS else "c ~ a + b + f"
    wrong = {}
    for words, value in HOSTILE.items():
        arguments = {"formula": formula, "data": DATA, "seed": 1, **given, option: value}
        found = complaint(lambda arguments=arguments: function(**arguments).predict(DATA))
        if found:
            wrong[words] = found
    assert not wrong


@pytest.mark.parametrize(
    ("name", "option"), [(name, option) for name in OF_TIMES for option in options(name)[2:]]
)
def test_any_value_works_or_is_refused_for_times(name, option):
    function, given = FUNCTIONS[name]
    wrong = {}
    for words, value in HOSTILE.items():
        arguments = {"formula": TIMES, "data": DATA, "seed": 1, **given, option: value}
        found = complaint(lambda arguments=arguments: function(**arguments).predict(DATA))
        if found:
            wrong[words] = found
    assert not wrong


@pytest.mark.parametrize(
    ("name", "option"),
    [
        ("odt", "n_projections"),
        ("odt", "n_thresholds"),
        ("odrf", "n_trees"),
        ("odbt", "n_trees"),
        ("odbt", "n_runs"),
        ("odbt", "n_projections"),
        ("graf", "n_trees"),
        ("graf", "trials"),
    ],
)
def test_what_is_tried_or_grown_has_an_end(name, option):
    function, _ = FUNCTIONS[name]
    for value in (2**40, 10**6 + 1):
        with pytest.raises(InputError, match=f"{option}={value}: use a whole number of at most"):
            function("y ~ a + b", DATA, **{option: value})


def test_a_function_of_n_that_fails_is_named():
    with pytest.raises(InputError, match="max_leaves: the function fails for n = 40: ZeroDivision"):
        odrf.odt("y ~ a + b", DATA, max_leaves=lambda n: n / 0)


def test_truth_values_of_numpy_are_truth_values():
    fit = odrf.odrf("y ~ a + b", DATA, n_trees=5, blend=np.False_, honest=np.False_, seed=1)
    same = odrf.odrf("y ~ a + b", DATA, n_trees=5, blend=False, seed=1)
    assert fit.predict(DATA).equals(same.predict(DATA))
    assert fit.call == "odrf('y ~ a + b', data, n_trees=5, blend=False, honest=False, seed=1)"
