"""What is said if knockoffs select no predictor."""

from __future__ import annotations

from types import SimpleNamespace

import pandas as pd
import pytest

from odrf.errors import InputError
from odrf.reports import importance_tests
from odrf.statistics.importance_tests import knockoff_values


@pytest.mark.parametrize(
    ("differences", "advice"),
    [
        ([3.0, 2.0, 1.0, -0.5], "use a larger one, such as the smallest"),
        ([1.0, -2.0], "nor at a larger one"),
    ],
)
def test_a_larger_rate_is_advised_only_if_there_is_one(monkeypatch, differences, advice):
    W = pd.Series(differences)
    names = [f"x{j}" for j in range(len(W))]
    table = pd.DataFrame(
        {"term": names, "estimate": W, "p_adjusted": knockoff_values(W.to_numpy())}
    )
    monkeypatch.setattr(importance_tests, "knockoff_table", lambda fit: table)
    fit = SimpleNamespace(design=SimpleNamespace(predictors=names), call="")
    found = importance_tests.KnockoffSelection(fit, 0.1, lambda fit: fit)
    with pytest.raises(InputError, match=advice):
        found.best()
