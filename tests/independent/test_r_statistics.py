"""Statistics of probabilities, tests and proximities against those of R's packages.

The numbers are from ``probabilities.R`` (stats, pROC) and ``proximity.R`` (randomForest).
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from statsmodels.stats.multitest import multipletests

import odrf
from odrf.statistics.calibration import recalibration_map
from odrf.statistics.discrimination import area_under_roc
from odrf.statistics.importance_tests import ADJUSTMENTS
from odrf.statistics.proximity import leaf_indicators, outlier_scores, scaled_to_plane, shared
from odrf.statistics.residuals import coverage_table


def read(name):
    return pd.read_csv(Path(__file__).with_name(name))


ROWS = read("probabilities.csv")
P, EVENT = ROWS["p"].to_numpy(), ROWS["event"].to_numpy(dtype=float)


def test_area_and_its_variance_are_those_of_proc():
    (theirs,) = read("areas.csv").itertuples()
    ours = area_under_roc(P, EVENT, np.ones(len(P)), 0.95)
    assert ours.estimate == pytest.approx(theirs.area, abs=1e-12)
    assert ours.std_error**2 == pytest.approx(theirs.variance, rel=1e-12)


@pytest.mark.parametrize(
    ("method", "tolerance"), [("isotonic", 1e-12), ("platt", 1e-7), ("beta", 1e-7)]
)
def test_calibration_maps_are_regressions_of_r(method, tolerance):
    ours = recalibration_map(method, P, EVENT, np.ones(len(P)))(P)
    np.testing.assert_allclose(ours, ROWS[method], rtol=0, atol=tolerance)


def test_intervals_of_shares_are_those_of_binom_test():
    for row in read("shares.csv").itertuples():
        region = pd.Categorical(["all"] * row.n)
        (ours,) = coverage_table(region, np.arange(row.n) < row.events, 0.9).itertuples()
        ends = ours.conf_low, ours.conf_high
        assert ends == pytest.approx((row.conf_low, row.conf_high), abs=1e-12)


@pytest.mark.parametrize("method", ADJUSTMENTS)
def test_adjusted_p_values_are_those_of_p_adjust(method):
    theirs = read("adjusted.csv")
    ours = multipletests(theirs["p_value"], method=ADJUSTMENTS[method])[1]
    np.testing.assert_allclose(ours, theirs[method], rtol=1e-14)


def test_proximities_outliers_and_the_map_are_those_of_random_forest():
    theirs = read("proximity.csv")
    names = [name for name in theirs if name.startswith("tree")]
    nodes = theirs[names].to_numpy() + 100 * np.arange(len(names))
    indicators = leaf_indicators(nodes, 100 * len(names))
    proximity = shared(indicators, indicators, len(names))
    np.testing.assert_allclose(proximity.toarray()[0], theirs["near_row_1"], atol=1e-12)
    group = pd.factorize(theirs["species"])[0]
    scores = outlier_scores(proximity, group, 1e-9)
    for g in np.unique(group):
        # they divide by another measure of spread, R's mad()
        ours, expected = scores[group == g], theirs["outlier"].to_numpy()[group == g]
        np.testing.assert_allclose(
            ours / np.abs(ours).mean(), expected / np.abs(expected).mean(), atol=1e-12
        )
    plane = scaled_to_plane(indicators, len(names), 1).at
    signs = np.sign(plane[0]) * np.sign(theirs.loc[0, ["first", "second"]].to_numpy(dtype=float))
    np.testing.assert_allclose(plane * signs, theirs[["first", "second"]], atol=1e-9)


# ------------------------------------------------------------------------------------------------
# Pruning paths and cross-validated errors against those of rpart (``rpart.R``).
# ------------------------------------------------------------------------------------------------


PATHS = pd.read_csv(Path(__file__).with_name("rpart_paths.csv"))
FOLDS = 10
# Table, response, and the rows of the path down to which no two cuts of a fold's tree tie in gain:
# below, where nodes have a dozen rows, both take different ones.
CASES = [
    ("diabetes", "progression", 28),
    ("breast_cancer", "diagnosis", 3),
    ("wine", "cultivar", 4),
    ("penguins", "species", 4),
    ("auto_mpg", "mpg", 17),
    ("hitters", "salary", 18),
]


def complete_rows(table, response):
    """The rows without missing values; numbers as in the script."""
    data = odrf.load_data(table).dropna().reset_index(drop=True)
    numbers = [c for c in data.select_dtypes("number") if c != response]
    data[numbers] = np.exp(data[numbers] / data[numbers].abs().max())
    return data


@pytest.mark.parametrize(("table", "response", "untied"), CASES)
def test_paths_are_those_of_rpart(table, response, untied):
    data, theirs = complete_rows(table, response), PATHS[PATHS["table"] == table]
    tree = odrf.odt(
        f"{response} ~ .",
        data,
        projection="axis",
        alpha=None,
        split_search="exact",
        min_leaf=7,
        seed=1,
    )
    path = tree.pruning_path(cv=np.arange(len(data)) % FOLDS).table.iloc[::-1]
    cp = path["alpha"] / path["error"].iloc[0]
    assert path["leaves"].tolist() == theirs["leaves"].tolist()
    np.testing.assert_allclose(cp, theirs["cp"], rtol=0, atol=1e-11)
    np.testing.assert_allclose(path["relative_error"], theirs["relative_error"], rtol=0, atol=1e-12)
    compared = np.flatnonzero(theirs["ambiguous"].to_numpy()[:untied] == 0)
    assert len(compared) >= untied - 2
    for column in ("xerror", "xstd"):
        ours = path[column].to_numpy()[compared]
        np.testing.assert_allclose(ours, theirs[column].to_numpy()[compared], rtol=0, atol=1e-12)
