"""What a response of times to an event is refused for, in words that lead on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.errors import InputError

DATA = pd.DataFrame({"days": np.arange(1.0, 31.0), "x": np.arange(30) % 7})
DATA["status"] = 1 + DATA["x"] % 2


@pytest.mark.parametrize(
    ("formula", "data", "message"),
    [
        ("Surv(days, status) ~ x", DATA, r"values 1, 2, .*: write Surv\(days, status == 2\) if 2"),
        ("Surv(status, days) ~ x", DATA, r"30 different values, .*: the order is Surv\(time, ev"),
        (
            "Surv(days, status) ~ x", DATA.assign(status=0),
            r"no events .*censored in your data, write Surv\(days, status == 0\)",
        ),
        ("Surv(days, status == 5) ~ x", DATA, r"no events .*, write Surv\(time, event == 0\)"),
    ],
)  # fmt: skip
def test_refusals_name_the_columns_and_a_way_out(formula, data, message):
    with pytest.raises(InputError, match=message):
        odrf.odt(formula, data)


def test_what_is_suggested_works():
    assert odrf.odt("Surv(days, status == 2) ~ x", DATA, seed=1).fit.times.n_events == 13
