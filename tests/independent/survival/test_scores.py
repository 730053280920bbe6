"""Losses and curves of given scores against those of R's package survival, from ``scores.R``."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from odrf.engine.boosting.losses import LOSSES
from odrf.statistics.survival.score_curves import breslow_baseline


def read(name):
    return pd.read_csv(Path(__file__).with_name(name))


ROWS = read("scores.csv")


def arrays(table):
    """Start, time, event, weight and score of the rows of a table."""
    rows = ROWS[ROWS["table"] == table]
    start, time, weight, score = (
        rows[name].to_numpy(dtype=float) for name in ("start", "time", "weight", "score")
    )
    return start, time, rows["event"].to_numpy() == 1, weight, score


@pytest.mark.parametrize("table", ["lung", "months", "heart"])
def test_partial_likelihood_and_residuals_are_those_of_coxph(table):
    start, time, event, weight, score = arrays(table)
    loss = LOSSES["cox"]().knowing(time, event, start)
    y = np.arange(float(len(time)))
    theirs = read("partial_likelihoods.csv").set_index("table").loc[table, "loglik"]
    losses = loss.losses(y, score[None, :], weight)
    assert -weight @ losses == pytest.approx(theirs, rel=1e-13)
    residuals = -loss.derivatives(y, score[None, :], weight).first[0]
    expected = ROWS.loc[ROWS["table"] == table, "residual"]
    np.testing.assert_allclose(residuals, expected, rtol=0, atol=1e-12)


@pytest.mark.parametrize("table", ["lung", "months", "heart"])
def test_baseline_hazards_are_those_of_basehaz(table):
    start, time, event, weight, score = arrays(table)
    curves = breslow_baseline(score, time, event, start, weight)
    theirs = read("baselines.csv").query("table == @table")
    hazards = curves.hazards(np.zeros(1), theirs["time"].to_numpy(dtype=float))[0]
    np.testing.assert_allclose(hazards, theirs["hazard"], rtol=1e-12)


@pytest.mark.parametrize("law", ["lognormal", "loglogistic", "weibull"])
def test_failure_times_start_as_survreg_fits_them(law):
    _, time, event, weight, score = arrays("lung")
    loss = LOSSES[law]().knowing(time, event, None)
    y, theirs = np.arange(float(len(time))), read("failure_times.csv").set_index("law").loc[law]
    (start,) = loss.start(y, weight, 1, -score)
    assert start == pytest.approx(theirs["start"], rel=1e-6)
    at = start - score[None, :]
    assert loss.scale(y, at, weight) == pytest.approx(theirs["scale"], rel=1e-6)
    assert -weight @ loss.losses(y, at, weight) == pytest.approx(theirs["loglik"], rel=1e-12)
