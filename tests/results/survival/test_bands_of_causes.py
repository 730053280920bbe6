"""Intervals and bands of the incidence of a cause."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf.errors import InputError
from results.survival.test_estimands_of_causes import DATA, FORMULA, NEW

pytestmark = pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1)


@pytest.mark.parametrize("newdata", [NEW, None])
def test_standard_errors_are_those_of_the_incidence_at_each_time(forest, newdata):
    table = forest.bands(newdata, times=[0.5, 1], cause="death").table
    for time in (0.5, 1):
        of_time = table[table["time"] == time]
        fit = forest.estimand("incidence", time=time, cause="death")
        expected = fit.predict(newdata, interval="confidence")
        np.testing.assert_allclose(of_time["estimate"], expected["estimate"], rtol=1e-9)
        np.testing.assert_allclose(of_time["std_error"], expected["std_error"], rtol=1e-9)


def test_bands_never_fall_and_have_intervals_inside(forest):
    found = forest.bands(NEW, cause="relapse")
    table = found.table
    low, conf_low, estimate, conf_high, high = (
        table[name] for name in ("band_low", "conf_low", "estimate", "conf_high", "band_high")
    )
    assert (low >= 0).all() and (high <= 1).all()
    assert (low <= conf_low).all() and (conf_high <= high).all()
    assert (conf_low <= estimate + 1e-12).all() and (estimate <= conf_high + 1e-12).all()
    by_row = table.groupby("row")[["band_low", "band_high"]]
    assert (by_row.diff().dropna() >= 0).all(axis=None)
    assert (found.reach > 1.96).all()


def test_intervals_are_symmetric_for_the_logarithm_of_hazards(forest):
    table = forest.bands(NEW, times=1, cause="relapse").table
    table = table[(table["estimate"] > 0.05) & (table["estimate"] < 0.95)]

    def scale(p):
        return np.log(-np.log1p(-p))

    up = scale(table["conf_high"]) - scale(table["estimate"])
    np.testing.assert_allclose(up, scale(table["estimate"]) - scale(table["conf_low"]))


def test_of_one_cause_they_are_1_minus_those_of_survival():
    data = DATA.assign(event=DATA["event"] != "censored")
    forest = odrf.odrf(FORMULA, data, n_trees=100, inference=True, seed=1)
    survival = forest.bands(NEW).table
    incidence = forest.bands(NEW, cause="event").table
    for name, turned in (("estimate", "estimate"), ("conf_low", "conf_high")):
        np.testing.assert_allclose(incidence[name], 1 - survival[turned], atol=1e-8)
    # the width is found by random draws, which rounding can turn
    np.testing.assert_allclose(incidence["band_high"], 1 - survival["band_low"], atol=0.01)


def test_before_the_first_event_of_the_cause(forest):
    first = float(DATA.loc[DATA["event"] == "death", "time"].min())
    table = forest.bands(NEW, times=[0.0, first / 2, 1], cause="death").table
    at_0, early, later = (table[table["time"] == time] for time in (0.0, first / 2, 1))
    assert (at_0[["estimate", "conf_low", "conf_high", "band_high"]] == 0).all(axis=None)
    assert (early["std_error"] == 0).all() and (early["band_low"] == 0).all()
    np.testing.assert_array_equal(early["band_high"], later["band_high"])


def test_it_shows_itself(forest):
    found = forest.bands(NEW, times=[0.5, 1], cause="death")
    assert found.cause == "death"
    assert "Incidences of death with bands" in repr(found)
    assert "Incidence of death by time" in str(found.summary())
    axes = found.plot()
    assert axes.get_ylabel() == "predicted incidence of death"
    assert all(line.get_ydata()[0] == 0 for line in axes.get_lines())
    plt.close("all")


def test_an_unknown_cause(forest):
    with pytest.raises(InputError, match="cause='x' is not known: use one of 'relapse'"):
        forest.bands(NEW, cause="x")
