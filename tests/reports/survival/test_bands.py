"""Intervals and bands of survival curves."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest
from scipy.special import ndtri, stdtrit

import odrf
from odrf.engine.survival.curves import survival_of_trees
from odrf.engine.trees.routing import EVERY_ROW
from odrf.errors import InputError
from odrf.fits.predicting import rows_of
from odrf.fits.survival.curves import PredictedRows
from odrf.statistics.curves import curve_covariances
from odrf.statistics.jackknife import rows_of_trees
from odrf.statistics.survival.curves import limits_of_probability

DATA = odrf.simulate.hazard_jump(p=3).sample(150, seed=1)
NEW = odrf.simulate.hazard_jump(p=3).sample(6, seed=2).set_axis(list("abcdef"))
FORMULA = "Surv(time, event) ~ ."

pytestmark = pytest.mark.filterwarnings("ignore:.* trees are few for standard errors:UserWarning")


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1)


@pytest.mark.parametrize("newdata", [NEW, None])
def test_standard_errors_are_those_of_the_survival_at_each_time(forest, newdata):
    table = forest.bands(newdata, times=[0.2, 0.5]).table
    for time in (0.2, 0.5):
        of_time = table[table["time"] == time]
        expected = forest.estimand("survival", time=time).predict(newdata, interval="confidence")
        np.testing.assert_allclose(of_time["estimate"], expected["estimate"], rtol=1e-12)
        np.testing.assert_allclose(of_time["std_error"], expected["std_error"], rtol=1e-9)


def test_standard_errors_of_a_blend(forest):
    blend = odrf.odrf(FORMULA, DATA, n_trees=60, blend=True, seed=1)
    found = blend.bands(NEW, times=0.5).table["std_error"]
    expected = blend.estimand("survival", time=0.5).predict(NEW, interval="confidence")
    np.testing.assert_allclose(found, expected["std_error"], rtol=1e-9)


def test_intervals_are_symmetric_for_the_logarithm_of_hazards(forest):
    tables = [forest.bands(NEW, times=time, level=0.9).table for time in (0.3, 0.6)]
    table = pd.concat(tables, ignore_index=True)
    shown = table[(table["estimate"] > 0.01) & (table["estimate"] < 0.99)]

    def scale(p):
        return np.log(-np.log(p))

    up = scale(shown["conf_low"]) - scale(shown["estimate"])
    np.testing.assert_allclose(up, scale(shown["estimate"]) - scale(shown["conf_high"]))
    p = shown["estimate"]
    np.testing.assert_allclose(up, ndtri(0.95) * shown["std_error"] / np.abs(p * np.log(p)))


def test_bands_are_wider_than_intervals_and_inside_the_unit(forest):
    found = forest.bands(NEW)
    table = found.table
    assert len(found.times) == 50 and set(table["row"]) == set(NEW.index)
    low, conf_low, conf_high, high = (
        table[name] for name in ("band_low", "conf_low", "conf_high", "band_high")
    )
    assert (low >= 0).all() and (high <= 1).all()
    assert (low <= conf_low + 1e-12).all() and (conf_high <= high + 1e-12).all()
    assert (found.reach > ndtri(0.975)).all()
    by_row = table.groupby("row")[["band_low", "band_high"]]
    assert (by_row.diff().dropna() <= 0).all(axis=None)


def test_bands_that_are_cut_have_what_never_rises_inside(forest):
    found = forest.bands(NEW)
    with np.errstate(divide="ignore", invalid="ignore"):
        scale = np.log(-np.log(found.estimate))
        error = found.std_error / np.abs(found.estimate * np.log(found.estimate))
        low = np.exp(-np.exp(scale + found.reach[:, None] * error))
    low = np.where(found.std_error > 0, low, 0.0)
    cut = found.table["band_low"].to_numpy().reshape(low.shape)
    for i, j in np.ndindex(low.shape):
        assert cut[i, j] == pytest.approx(low[i, j:].max())


def test_a_band_at_one_time_is_an_interval_by_t(forest):
    found = forest.bands(NEW, times=0.5)
    table = found.table
    assert (table["band_low"] <= table["conf_low"]).all()
    rows = PredictedRows(forest.fit, rows_of(forest.fit, NEW).X, None)
    covariances = curve_covariances(
        survival_of_trees(
            forest.fit.forest, forest.fit.curves, rows.X, rows.ranks(found.times), slice(0, 6),
            EVERY_ROW,
        ),
        rows_of_trees(np.zeros(150, dtype=np.int64), forest.fit.draws, False),
    )  # fmt: skip
    freedom = np.array([each.variances.df[0] for each in covariances])
    np.testing.assert_allclose(found.reach, stdtrit(freedom, 0.975), rtol=0.06)


def test_more_trees_have_more_degrees_of_freedom(forest):
    few, many = (each.bands(NEW, times=[0.3, 0.5]).reach for each in (forest, forest.grow(850)))
    assert many.mean() < few.mean()


def test_times_are_in_order_and_different(forest):
    found = forest.bands(NEW, times=[0.5, 0.2, 0.5])
    assert found.times.tolist() == [0.2, 0.5]


def test_at_time_0_all_survive(forest):
    table = forest.bands(NEW, times=0.0).table
    assert (table[["estimate", "conf_low", "band_high"]] == 1).all(axis=None)
    assert (table["std_error"] == 0).all()


def test_before_the_first_event_other_times_tell(forest):
    early = float(forest.event_times[0]) / 2
    table = forest.bands(NEW, times=[early, 0.3]).table
    first, later = table[table["time"] == early], table[table["time"] == 0.3]
    assert (first["std_error"] == 0).all() and (first["band_high"] == 1).all()
    np.testing.assert_array_equal(first["band_low"], later["band_low"])
    np.testing.assert_array_equal(first["conf_low"], later["band_low"])
    assert (forest.bands(NEW, times=early).table["conf_low"] == 0).all()


def test_rows_with_missing_values_keep_their_place():
    rows = DATA.copy()
    rows.loc[3, "x1"] = np.nan
    fit = odrf.odrf(FORMULA, DATA, n_trees=30, inference=True, missing="drop", seed=1)
    found = fit.bands(rows.head(5), times=0.5)
    assert np.isnan(found.table.loc[3, "estimate":]).all()
    assert found.table.drop(index=3).notna().all(axis=None)


def test_more_threads_change_nothing(forest):
    more = odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1, n_jobs=2)
    one = odrf.odrf(FORMULA, DATA, n_trees=150, inference=True, seed=1, n_jobs=1)
    assert more.bands(DATA).table.equals(one.bands(DATA).table)


def test_it_shows_itself(forest):
    found = forest.bands(NEW)
    assert "Reach of bands" in repr(found)
    assert "differs from the truth by the forest's bias" in " ".join(str(found.summary()).split())
    axes = found.plot(["f", "b"])
    assert [line.get_label() for line in axes.get_lines()] == ["f", "b"]
    assert len(found.plot().get_lines()) == 3
    plt.close("all")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit: fit.bands(NEW, times="soon"), "^times='soon'"),
        (lambda fit: fit.bands(NEW, times=[-1.0]), "^times="),
        (lambda fit: fit.bands(NEW, level=95), "^level=95"),
        (lambda fit: fit.bands(NEW, training="in-bag"), "^training='in-bag'"),
        (lambda fit: fit.bands(NEW.drop(columns="x1")), "lacks.*x1"),
        (lambda fit: fit.bands(NEW, times=0.5).plot(["z"]), "^rows='z' is no label"),
        (lambda fit: fit.bands(NEW, times=0.5).plot([]), r"^rows=\[\] names no row"),
    ],
)
def test_refusals(forest, call, message):
    with pytest.raises(InputError, match=message):
        call(forest)


def test_trees_must_tell_how_the_forest_varies():
    alone = odrf.odrf(FORMULA, DATA, n_trees=1, seed=1)
    with pytest.raises(InputError, match="bands"):
        alone.bands(NEW)
    everything = odrf.odrf(FORMULA, DATA, n_trees=5, resample="none", seed=1)
    with pytest.raises(InputError, match="sampled all rows"):
        everything.bands(NEW)


def test_with_groups_intervals_are_by_t():
    fit = odrf.odrf(FORMULA, DATA, n_trees=12, groups=np.arange(len(DATA)) % 20, seed=1)
    found = fit.bands(NEW, times=0.5)
    assert any("t with 19 degrees of freedom" in note for note in found.notes)
    table = found.table
    low, high = limits_of_probability(
        table["estimate"].to_numpy(),
        (table["std_error"].to_numpy() * stdtrit(19, 0.975) / ndtri(0.975)) ** 2,
        0.95,
    )
    np.testing.assert_allclose(table[["conf_low", "conf_high"]], np.column_stack([low, high]))
    assert (table["band_low"] <= table["conf_low"]).all()
