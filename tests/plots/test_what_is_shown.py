"""What a picture leaves out, and what it does not put on one axis."""

from __future__ import annotations

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import simulate
from odrf.plots.checks import plot_reliability
from odrf.plots.evaluation import plot_bias_variance
from odrf.plots.fits import plot_loss, plot_parts
from odrf.plots.pruning import plot_path
from odrf.text.names import shortened_names


@pytest.fixture(autouse=True)
def closed_figures():
    yield
    plt.close("all")


@pytest.fixture(scope="module")
def treated():
    """Rows of which half are treated, and rare events."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(600, 2)), columns=["a", "b"])
    data["treated"] = rng.integers(0, 2, 600)
    data["y"] = data["a"] + data["treated"] + rng.normal(size=600)
    data["died"] = np.where(rng.random(600) < 0.04 + 0.06 * (data["a"] > 1), "yes", "no")
    return data


@pytest.mark.parametrize("response", ["y", "died"])
def test_values_of_one_row_are_drawn_as_a_row(treated, response):
    data = treated[["a", "b", "treated", response]]
    fit = odrf.odrf(f"{response} ~ .", data, n_trees=20, seed=1)
    ax = fit.shap(data.iloc[[4]]).plot()
    assert "from the mean of the background" in ax.get_xlabel().replace("\n", " ")
    assert all("=" in label.get_text() for label in ax.get_yticklabels())
    several = fit.shap(data.iloc[:9]).plot()
    assert "from the mean of the background" not in several.get_xlabel().replace("\n", " ")


def test_two_values_are_two_points_with_intervals(treated):
    fit = odrf.odrf("y ~ a + b + treated", treated, n_trees=60, seed=1, inference=True)
    ax = fit.partial("treated").plot()
    assert all(line.get_linestyle() == "None" for line in ax.lines)
    assert len(ax.collections) == 2  # intervals and band, as lines at the points
    assert [label.get_text().split("\n")[0] for label in ax.get_xticklabels()] == ["0", "1"]
    assert any(line.get_linestyle() == "-" for line in fit.partial("a").plot().lines)
    classes = odrf.odrf("died ~ a + treated", treated, n_trees=20, seed=1)
    first, second = classes.partial("treated").plot(classes=["no", "yes"]).lines[:2]
    assert (first.get_xdata() < second.get_xdata()).all()


def test_the_calibration_of_rare_events_is_shown_where_they_are(treated):
    fit = odrf.odrf("died ~ a + b", treated, n_trees=200, min_leaf=20, seed=1)
    calibration = fit.calibration()
    ax = calibration.plot()
    bins = calibration.table
    assert ax.get_xlim()[1] < 0.6
    for ends, names in [
        (ax.get_xlim(), ["predicted"]),
        (ax.get_ylim(), ["observed", "conf_low", "conf_high"]),
    ]:
        assert ends[0] <= bins[names].to_numpy().min()
        assert ends[1] >= bins[names].to_numpy().max()
    data = odrf.load_data("breast_cancer")
    whole = odrf.odrf("diagnosis ~ .", data, n_trees=30, seed=1).calibration().plot()
    assert whole.get_xlim() == (-0.02, 1.02)


def test_frequent_events_are_zoomed_too():
    numbers = {"predicted": [0.9, 0.95], "observed": [0.91, 0.96]}
    table = pd.DataFrame({"class": "yes", **numbers, "conf_low": 0.87, "conf_high": 0.99})
    curves = pd.DataFrame({"class": "yes", **numbers, "band_low": 0.8, "band_high": 1.0})
    assert plot_reliability(table, curves).get_xlim()[0] > 0.8


def test_partial_likelihoods_of_different_rows_have_axes_of_their_own():
    data = simulate.proportional_hazards(p=3, relevant=2).sample(200, seed=1)
    options = {"n_trees": 10, "seed": 1}
    held = odrf.odbt("Surv(time, event) ~ .", data, validation=0.2, n_runs=1, **options)
    ax = held.plot("loss")
    left, right = ax.figure.axes
    assert "training rows" in left.get_ylabel().replace("\n", " ")
    assert "validation rows" in right.get_ylabel().replace("\n", " ")
    assert len(right.lines) == 1
    in_bag = odrf.odbt("Surv(time, event) ~ .", data, **options).plot("loss")
    assert len(in_bag.figure.axes) == 1


def test_zero_is_shown_only_where_errors_are_near_it():
    path = pd.DataFrame({"training": [0.70, 0.65, 0.62]})
    assert plot_loss(path, 2, "logistic").get_ylim()[0] > 0.5
    assert plot_loss(path * np.array([[1], [0.5], [0.1]]), 2, "logistic").get_ylim()[0] == 0
    parts = pd.DataFrame({"oob_error": [2.9, 3.1], "weight": [0.6, 0.4]}, index=["u", "v"])
    assert plot_parts(parts, 2.8, "error").get_xlim()[0] > 2
    assert plot_parts(parts - [2.8, 0], 0.05, "error").get_xlim()[0] == 0
    errors = pd.DataFrame({"leaves": [1, 2], "error": [0.5, 0.45], "alpha": [0.1, 0.01]})
    assert plot_path(errors, None, "error").get_ylim()[0] > 0.3
    index = pd.MultiIndex.from_product([["m", "o"], [100]], names=["model", "n"])
    terms = pd.DataFrame({"bias2": [6.0, 6.2], "variance": [6.1, 6.3], "error": [9.0, 9.5]}, index)
    assert plot_bias_variance(terms, 0 * terms + 0.1)[0].get_xlim()[0] > 4.0


def test_long_names_that_begin_alike_lose_their_middle():
    names = [f"mean_{j}_concentration_in_samples_of_the_river [µg/l]" for j in range(3)]
    short = shortened_names(names, 28)
    assert len(set(short)) == 3
    for name, text in zip(names, short, strict=True):
        assert len(text) <= 28 and text.startswith("mea") and text.endswith("[µg/l]"), name
    ends = [f"answer_{a}_{'x' * 40}" for a in (f"{'b' * 20}{k}{'c' * 20}" for k in range(3))]
    assert len(set(shortened_names(ends, 20))) == 3
