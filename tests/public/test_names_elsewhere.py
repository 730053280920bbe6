"""What is said of names of arguments that other packages have."""

from __future__ import annotations

import pytest

import odrf
from odrf.errors import InputError

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
