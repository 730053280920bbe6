"""What is said if shadows confirm no predictor."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pytest

from odrf.errors import InputError
from odrf.reports import selection


@pytest.mark.parametrize(
    ("rounds", "tentative", "advice"),
    [
        (1, False, r"use best\(tentative=True\), or select_variables\(\"boruta\"\) with more"),
        (12, False, "all are rejected"),
        (12, True, "all are rejected"),
    ],
)
def test_the_advice_is_one_that_can_help(monkeypatch, rounds, tentative, advice):
    monkeypatch.setattr(selection, "refit_beside_shadows", lambda fit, which, seed: which)
    steps = SimpleNamespace(
        importances_of=lambda which: np.r_[np.zeros(len(which)), np.ones(len(which))],
        grown_on=None,
        error="",
    )
    fit = SimpleNamespace(
        design=SimpleNamespace(predictors=["a", "b"]), control=SimpleNamespace(seed=1), call=""
    )
    found = selection.ShadowSelection(fit, rounds, False, lambda fit: fit, steps)
    with pytest.raises(InputError, match=advice):
        found.best(tentative)
