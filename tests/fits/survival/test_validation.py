"""New rows that judge a survival fit, with empty cells that no training row has."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.response import Response
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.trees.routing import predict
from odrf.fits.fit import BoostedFit
from odrf.fits.survival import validation as judged_boosted
from odrf.fits.survival import validation as judged_predictions
from odrf.fits.survival.boosted import BoostedSurvivalFit

# The trees are of numbers, and grow sooner; how they were grown is of no matter here.


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    a = rng.exponential(size=80)
    return pd.DataFrame({"a": a, "b": rng.normal(size=80), "y": a + rng.normal(size=80) / 9})


@pytest.fixture
def judged(monkeypatch):
    """What is handed over to `judged_rows`."""
    found = []
    times = SurvivalTimes(np.ones(5), np.ones(5, dtype=np.int64))
    monkeypatch.setattr(Response, "times", lambda response, rows: times)
    for module in (judged_predictions, judged_boosted):
        monkeypatch.setattr(
            module, "judged_rows", lambda fit, predicted, *_: found.append(predicted)
        )
    return found


def test_forests_fill_them_as_for_predictions(data, judged):
    forest = odrf.odrf("y ~ a + b", data, n_trees=5, blend=False, seed=1)
    new = data[:5].assign(a=np.nan)
    judged_predictions.judged_new_rows(forest.fit, new, None)
    found = predict(judged[0].fit.forest, judged[0].X, 1)[:, 0]
    np.testing.assert_array_equal(found, forest.predict(new))


def test_boosted_trees_fill_them_as_for_predictions(data, judged):
    boosted = odrf.odbt("y ~ a + b", data, n_trees=5, seed=1)
    known = {each.name: getattr(boosted.fit, each.name) for each in fields(BoostedFit)}
    fit = BoostedSurvivalFit(**known, curves=None, event_times=np.empty(0), judged="training")
    new = data[:5].assign(a=np.nan)
    judged_boosted.judged_new_scores(fit, new, None)
    np.testing.assert_array_equal(judged[0].scores, boosted.predict(new))
