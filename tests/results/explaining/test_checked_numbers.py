"""Residuals and predicted distributions: what is right, too wide or too narrow is seen."""

import numpy as np
import pandas as pd
import pytest
import scipy

import odrf
from odrf import InputError
from odrf.fits.proximity import WEIGHTS, proximities
from odrf.statistics.residuals import (
    coverage_table,
    probability_transforms,
    quantiles_to_compare,
    regions_of,
    row_influence,
)

pytestmark = pytest.mark.filterwarnings("ignore:every tree drew")


@pytest.fixture(scope="module")
def forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=40, seed=1)


def test_shares_below_are_counted():
    rng = np.random.default_rng(1)
    weights = rng.random((5, 8)) * (rng.random((5, 8)) < 0.6)
    weights[4] = 0.0
    y, observed = rng.integers(0, 4, 8).astype(float), rng.integers(0, 4, 5).astype(float)
    found = probability_transforms(scipy.sparse.csr_array(weights), y, observed)
    for i in range(4):
        total = weights[i].sum()
        below = weights[i][y < observed[i]].sum() + 0.5 * weights[i][y == observed[i]].sum()
        assert found[i] == pytest.approx(below / total)
    assert np.isnan(found[4])


def test_training_rows_are_judged_out_of_bag(forest, table):
    check = forest.predictive_check(level=0.8)
    interval = forest.predict(interval="prediction", level=0.8)
    known = interval.notna().all(axis=1)
    y = table["y"][known]
    inside = y.between(interval["conf_low"][known], interval["conf_high"][known])
    assert check.inside.mean() == inside.mean()
    np.testing.assert_allclose(check.rows["residual"], y - forest.oob_prediction[known])
    ends = ["conf_low", "conf_high"]
    np.testing.assert_allclose(check.rows[ends], interval.loc[known, ends])
    assert check.coverage["rows"].sum() == known.sum()
    assert "out of bag" in str(check.summary())


def test_regions_of_fitted_values_are_in_their_order(forest):
    region = forest.predictive_check().coverage["region"]
    low = [float(label.strip("(]").split(",")[0]) for label in region]
    assert low == sorted(low)
    assert len(low) == 10


def test_ends_of_regions_are_short():
    # the least label of pandas for these is "(-3.6189999999999998, ...]"
    fitted = np.linspace(-3.618, 3.4813, 400)
    labels = regions_of(fitted).categories
    assert labels[0] == "(-3.619, -2.908]"
    assert max(map(len, labels)) < 20, list(labels)


def test_new_rows_and_regions(forest, table):
    check = forest.predictive_check(table, by="f")
    assert sorted(check.coverage["region"]) == ["x", "y", "z"]
    for _, row in check.coverage.iterrows():
        inside = check.inside[(table["f"] == row["region"]).to_numpy()]
        assert row["coverage"] == pytest.approx(inside.mean())
        assert row["conf_low"] <= row["coverage"] <= row["conf_high"]
    assert len(forest.predictive_check(by="f").coverage) == 3


def test_intervals_of_coverage_are_exact():
    region = pd.Categorical(["all"] * 20)
    table = coverage_table(region, np.arange(20) < 18, 0.95)
    exact = scipy.stats.binomtest(18, 20).proportion_ci(0.95)
    assert table["conf_low"].iloc[0] == pytest.approx(exact.low)
    assert table["conf_high"].iloc[0] == pytest.approx(exact.high)


def test_quantiles_to_compare_are_symmetric():
    at = quantiles_to_compare(7)
    np.testing.assert_allclose(at, -at[::-1], atol=1e-12)
    assert at[5] == pytest.approx(scipy.stats.norm.ppf(5.5 / 7))


@pytest.mark.parametrize("kind", ["pit", "coverage", "residuals", "quantiles"])
def test_each_plot_is_drawn(forest, kind):
    check = forest.predictive_check()
    ax = check.plot(kind)
    drawn = {"pit": len(ax.patches), "coverage": len(ax.get_yticklabels())}
    assert drawn.get(kind, len(ax.lines)) >= 2


def test_bad_arguments_are_named(forest, class_forest, number_tree, table):
    with pytest.raises(InputError, match="use calibration"):
        class_forest.predictive_check()
    with pytest.raises(InputError, match="by='g' is no column"):
        forest.predictive_check(by="g")
    with pytest.raises(InputError, match="level="):
        forest.predictive_check(level=2.0)
    with pytest.raises(InputError, match="kind='all' is not known"):
        forest.predictive_check().plot("all")
    with pytest.raises(InputError, match="lacks column"):
        forest.predictive_check(table.drop(columns="y"))
    with pytest.raises(AttributeError, match="it is of forests"):
        number_tree.predictive_check()


def influence_by_hand(W, y, case_weights):
    """Each training row left out of each prediction, one by one."""
    rows = [i for i in range(len(W)) if W[i].sum() > 0]
    total = sum(case_weights[i] for i in rows)
    leverage, squares = np.zeros(len(y)), np.zeros(len(y))
    for i in rows:
        for j in np.flatnonzero(W[i]):
            rest = [k for k in range(len(y)) if k != j]
            left = sum(W[i, k] for k in rest)
            without = sum(W[i, k] * y[k] for k in rest) / left if left > 1e-12 else y.mean()
            share = case_weights[i] / total
            leverage[j] += W[i, j] * share * len(rows)
            squares[j] += (W[i] @ y - without) ** 2 * share
    return leverage, np.sqrt(squares)


def test_influence_is_that_of_rows_left_out_one_by_one():
    rng = np.random.default_rng(2)
    W = rng.random((7, 9)) * (rng.random((7, 9)) < 0.5)
    W[2] = 0.0
    W[3] = np.eye(9)[4]
    total = W.sum(axis=1, keepdims=True)
    W = np.divide(W, total, out=W, where=total > 0)
    y, case_weights = rng.normal(size=9), rng.integers(0, 3, 7).astype(float)
    found = row_influence(scipy.sparse.csr_array(W), y, case_weights)
    np.testing.assert_allclose(found, influence_by_hand(W, y, case_weights), atol=1e-12)


def test_a_weight_that_rounding_leaves_just_below_1_is_that_of_one_known_response():
    y, one = np.array([3.0, -1.0, 4.0]), np.array([1.0])
    whole = row_influence(scipy.sparse.csr_array([[1.0, 0.0, 0.0]]), y, one)
    for weight in (np.nextafter(1.0, 0.0), sum([0.1] * 10)):
        near = row_influence(scipy.sparse.csr_array([[weight, 0.0, 0.0]]), y, one)
        np.testing.assert_allclose(near, whole, rtol=1e-12)


def test_leverage_is_a_sum_over_rows_which_the_report_says(forest, table):
    check = forest.predictive_check()
    assert check.influence["leverage"].max() > 1
    assert np.isfinite(check.influence.to_numpy()).all()
    assert "leverage adds up" in str(check.summary())
    assert "sum of weights out of bag" in check.plot("influence").get_xlabel()
    assert "leverage" not in str(forest.predictive_check(table).summary())


def test_a_shifted_response_is_the_most_influential(table):
    shifted = table.assign(y=table["y"].mask(table.index == table.index[7], 40.0))
    check = odrf.odrf("y ~ a + b + f", shifted, n_trees=60, seed=1).predictive_check()
    assert check.influence.index[0] == table.index[7]
    assert check.influence["leverage"].mean() == pytest.approx(1.0, rel=0.05)
    assert "Most influential rows" in str(check.summary())


def test_influence_is_in_standard_deviations_of_residuals(forest):
    check = forest.predictive_check()
    near = proximities(forest.fit, None, WEIGHTS)
    _, influence = row_influence(near, forest.fit.data.y, np.ones(near.shape[0]))
    rows = forest.fit.data.index.get_indexer(check.influence.index)
    expected = influence[rows] / check.rows["residual"].std(ddof=0)
    np.testing.assert_allclose(check.influence["influence"], expected)


def test_new_rows_have_no_influence(forest, table):
    check = forest.predictive_check(table)
    assert check.influence is None
    with pytest.raises(InputError, match="no influence on the fit"):
        check.plot("influence")


def test_coverage_of_a_fit_with_groups_is_over_groups(table):
    data = table.assign(who=np.arange(len(table)) // 6)
    fit = odrf.odrf("y ~ a + b", data, groups="who", n_trees=40, seed=1)
    for rows in (None, data):
        check = fit.predictive_check(rows, level=0.8, by="f" if rows is not None else None)
        groups = data.loc[check.rows.index, "who"].to_numpy()
        region = pd.Categorical(["all"] * len(check.rows))
        whole = coverage_table(region, check.inside, 0.8, groups)
        alone = coverage_table(region, check.inside, 0.8)
        assert whole["coverage"].equals(alone["coverage"])
        widths = [each["conf_high"] - each["conf_low"] for each in (whole, alone)]
        assert widths[0].iloc[0] >= widths[1].iloc[0]
    assert not check.coverage.equals(
        coverage_table(pd.Categorical(data["f"][check.rows.index].astype(str)), check.inside, 0.8)
    )


def test_rows_with_the_same_prediction_are_one_region(forest, table):
    found = forest.predictive_check(table.iloc[[4]]).coverage
    assert found["rows"].tolist() == [1]
    assert float(found["region"].iloc[0]) == pytest.approx(forest.predict(table).iloc[4])
