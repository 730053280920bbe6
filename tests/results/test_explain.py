"""Explanations of single predictions, each part checked by predictions."""

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


@pytest.fixture(scope="module")
def fits(number_forest, class_forest, class_tree, number_tree, table):
    return {
        "forest": number_forest,
        "forest of classes": class_forest,
        "tree": number_tree,
        "tree of classes": class_tree,
        "boosted": odrf.odbt("c ~ a + b + f", table, n_trees=6, seed=1),
        "guided": odrf.graf("c ~ a + b + f", table, n_trees=6, seed=1),
    }


KINDS = ["forest", "forest of classes", "tree", "tree of classes", "boosted", "guided"]


def read(word, column):
    """A value as it stands in the table of changes."""
    return word if column.dtype.kind not in "if" else float(word)


def assert_changes_change(fit, row):
    """Every change, with the values as they are shown, changes what predict() says."""
    found, before = fit.explain(row), fit.predict(row).iloc[0]
    changed = []
    for variables, values in found.changes[["variables", "values"]].to_numpy():
        new = {
            name: read(word, row[name])
            for name, word in zip(variables.split(", "), values.split(", "), strict=True)
        }
        changed.append(row.assign(**new))
    if changed:
        after = fit.predict(pd.concat(changed))
        if fit.kind == "regression":
            assert ((after - before).abs() > found.change * (1 - 1e-9)).all()
        else:
            assert (after.astype(str) != before).all()


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize("kind", KINDS)
def test_every_change_changes_the_prediction(fits, table, kind):
    fit = fits[kind]
    for i in (0, 17, 60):
        found = fit.explain(table.iloc[[i]])
        assert len(found.changes)
        assert found.changes["distance"].is_monotonic_increasing
        assert_changes_change(fit, table.iloc[[i]])


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1000.0), (1.0, 1e6), (1e-3, 5.0), (1e9, 0.0)])
@pytest.mark.parametrize("response", ["c", "y"])
def test_changes_far_from_zero_are_shown_with_enough_digits(table, response, scale, offset):
    moved = table.assign(a=table["a"] * scale + offset, b=table["b"] * scale + offset)
    fit = odrf.odrf(f"{response} ~ a + b + f", moved, n_trees=6, seed=1)
    for i in range(0, 120, 24):
        assert_changes_change(fit, moved.iloc[[i]])


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize("response", ["c", "y"])
def test_a_tree_without_splits_is_explained(table, response):
    fit = odrf.odt(f"{response} ~ a + b + f", table, max_leaves=1, seed=1)
    found = fit.explain(table.iloc[[0]])
    assert found.rules == []
    assert found.changes.empty
    assert (found.predictors == 0).all(axis=None)
    assert "Path" not in str(found.summary())


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_rows_of_weight_zero_do_not_count_in_the_usual_change_and_distance(table):
    weights = np.repeat([1.0, 0.0], [100, 20])
    wild = table.assign(y=table["y"].where(weights > 0, 1e6), a=table["a"].where(weights > 0, 1e6))
    fit = odrf.odrf("y ~ a + b", wild, weights=weights, n_trees=6, seed=1)
    found = fit.explain(table.iloc[[0]])
    assert found.change == pytest.approx(table["y"][:100].std(ddof=0) / 2)
    alone = found.changes.set_index("variables").loc["a"]
    moved = abs(float(alone["values"]) - table["a"].iloc[0])
    assert alone["distance"] == pytest.approx(moved / table["a"][:100].std(ddof=0), rel=1e-5)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_the_summary_has_the_steepest_slopes_and_no_empty_table(table):
    wide = table.assign(**{f"n{j}": np.sin(np.arange(120.0) * (j + 1)) for j in range(12)})
    names = [f"n{j}" for j in range(12)]
    fit = odrf.odrf(f"y ~ {' + '.join(names)} + a", wide, n_trees=6, seed=1)
    found = fit.explain(wide.iloc[[0]])
    shown = list(found.summary().sections["Slopes"].index)
    assert shown == list(found.slopes.abs().sort_values(ascending=False, kind="stable").index[:10])
    factor_only = odrf.odrf("y ~ f", table, n_trees=6, seed=1).explain(table.iloc[[0]])
    assert "Slopes" not in factor_only.summary().sections


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize("kind", KINDS)
def test_the_prediction_is_that_of_predict(fits, table, kind):
    fit, row = fits[kind], table.iloc[[3]]
    found = fit.explain(row).prediction
    if fit.kind == "regression":
        assert found.iloc[0] == pytest.approx(fit.predict(row).iloc[0])
    else:
        expected = fit.predict(row, type="prob").iloc[0]
        np.testing.assert_allclose(found[expected.index], expected, atol=1e-12)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_neighbours_have_the_largest_weights(class_forest, table):
    row = table.iloc[[5]]
    weights = class_forest.proximity(row, type="weights").to_frame().iloc[0]
    found = class_forest.explain(row, nearest=4).neighbours
    expected = weights.sort_values(ascending=False).head(4)
    np.testing.assert_allclose(found["weight"], expected)
    assert found["c"].tolist() == table.loc[found.index, "c"].tolist()


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_rules_of_a_tree_are_the_splits_down_to_its_leaf(number_tree, table):
    for i in range(0, 120, 26):
        row = table.iloc[[i]]
        found = number_tree.explain(row)
        nodes = number_tree.nodes
        leaf = int(number_tree.predict(row, type="leaf").iloc[0])
        assert len(found.rules) == nodes.loc[leaf, "depth"]
        lines = number_tree.rules().splitlines()
        path = [leaf]
        while path[-1]:
            path.append(int(nodes.loc[path[-1], "parent"]))
        for node, rule in zip(path[-2::-1], found.rules, strict=True):
            (line,) = (line for line in lines if line.strip().startswith(f"{node}) "))
            assert rule in line


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_predictors_on_paths_are_counted(number_forest, table):
    row = table.iloc[[8]]
    found = number_forest.explain(row).predictors
    used = np.zeros((3, 12), dtype=bool)
    for b in range(12):
        tree = number_forest.tree(b)
        node = int(tree.predict(row, type="leaf").iloc[0])
        while node:
            node = int(tree.nodes.loc[node, "parent"])
            names = set(tree.splits.loc[tree.splits["node"] == node, "predictor"])
            used[[j for j, name in enumerate("abf") if name in names], b] = True
    assert found.loc[list("abf"), "trees"].tolist() == used.mean(axis=1).tolist()


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_slopes_are_differences_of_predictions(number_forest, table):
    row = table.iloc[[8]]
    a, far = table["a"], 0.25 * table["a"].std(ddof=0)
    low, high = a[a <= a.iloc[8] - far].max(), a[a >= a.iloc[8] + far].min()
    rise = np.subtract(*(number_forest.predict(row.assign(a=x)).iloc[0] for x in (high, low)))
    found = number_forest.explain(row).slopes["a"]
    assert found == pytest.approx(rise / (high - low), rel=1e-4)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_a_row_may_be_a_mapping_or_a_series(number_forest, table):
    row = table.iloc[3]
    mapping = {name: row[name] for name in "abf"}
    one, two = (number_forest.explain(each) for each in (mapping, pd.Series(mapping)))
    assert one.changes.equals(two.changes)
    assert "One prediction" in str(one.summary())


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_empty_cells_are_explained(table):
    holes = table.assign(a=table["a"].mask(np.arange(120) % 4 == 0))
    fit = odrf.odrf("c ~ a + b + f", holes, n_trees=6, seed=1)
    assert len(fit.explain(holes.iloc[[0]]).changes)
    full = odrf.odrf("c ~ a + b + f", table, n_trees=6, seed=1)
    assert len(full.explain(holes.iloc[[0]]).predictors) == 3


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize(
    ("row", "options", "message"),
    [
        (slice(0, 2), {}, "row has 2 rows"),
        (slice(0, 1), {"change": -1.0}, "change="),
        (slice(0, 1), {"nearest": 0}, "nearest=0"),
    ],
)
def test_bad_arguments_are_named(number_forest, table, row, options, message):
    with pytest.raises(InputError, match=message):
        number_forest.explain(table.iloc[row], **options)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_a_column_that_is_not_there_is_named(number_forest):
    with pytest.raises(InputError, match="lacks column"):
        number_forest.explain({"a": 1.0})


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_whole_numbers_that_floats_do_not_tell_apart_have_no_slope():
    whole = 2**53 + np.arange(20) % 2
    data = pd.DataFrame({"whole": whole, "a": np.arange(20.0), "y": np.arange(20.0)})
    found = odrf.odt("y ~ a + whole", data, seed=1).explain(data[:1])
    assert list(found.slopes.index) == ["a"]


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_weights_of_neighbours_stay_beside_a_response_of_this_name(number_forest, table):
    named = table.rename(columns={"y": "weight"})
    fit = odrf.odrf("weight ~ a + b + f", named, n_trees=12, seed=1)
    found = fit.explain(named.iloc[[5]]).neighbours
    expected = number_forest.explain(table.iloc[[5]]).neighbours
    assert found["weight"].tolist() == expected["weight"].tolist()
    assert found["weight_"].tolist() == expected["y"].tolist()


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_a_change_is_above_0_and_of_numbers(number_forest, class_forest, table):
    with pytest.raises(InputError, match="change=0: use a finite number above 0"):
        number_forest.explain(table.iloc[[5]], change=0)
    with pytest.raises(InputError, match="change= is for predictions of numbers"):
        class_forest.explain(table.iloc[[5]], change=1.0)


# ------------------------------------------------------------------------------------------------
# Residuals and predicted distributions: what is right, too wide or too narrow is seen.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def forest(table):
    return odrf.odrf("y ~ a + b + f", table, n_trees=40, seed=1)


@pytest.mark.filterwarnings("ignore:every tree sampled")
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


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_training_rows_are_evaluated_out_of_bag(forest, table):
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


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_regions_of_fitted_values_are_in_their_order(forest):
    region = forest.predictive_check().coverage["region"]
    low = [float(label.strip("(]").split(",")[0]) for label in region]
    assert low == sorted(low)
    assert len(low) == 10


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_ends_of_regions_are_short():
    # the least label of pandas for these is "(-3.6189999999999998, ...]"
    fitted = np.linspace(-3.618, 3.4813, 400)
    labels = regions_of(fitted).categories
    assert labels[0] == "(-3.619, -2.908]"
    assert max(map(len, labels)) < 20, list(labels)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_new_rows_and_regions(forest, table):
    check = forest.predictive_check(table, by="f")
    assert sorted(check.coverage["region"]) == ["x", "y", "z"]
    for _, row in check.coverage.iterrows():
        inside = check.inside[(table["f"] == row["region"]).to_numpy()]
        assert row["coverage"] == pytest.approx(inside.mean())
        assert row["conf_low"] <= row["coverage"] <= row["conf_high"]
    assert len(forest.predictive_check(by="f").coverage) == 3


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_intervals_of_coverage_are_exact():
    region = pd.Categorical(["all"] * 20)
    table = coverage_table(region, np.arange(20) < 18, 0.95)
    exact = scipy.stats.binomtest(18, 20).proportion_ci(0.95)
    assert table["conf_low"].iloc[0] == pytest.approx(exact.low)
    assert table["conf_high"].iloc[0] == pytest.approx(exact.high)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_quantiles_to_compare_are_symmetric():
    at = quantiles_to_compare(7)
    np.testing.assert_allclose(at, -at[::-1], atol=1e-12)
    assert at[5] == pytest.approx(scipy.stats.norm.ppf(5.5 / 7))


@pytest.mark.filterwarnings("ignore:every tree sampled")
@pytest.mark.parametrize("kind", ["pit", "coverage", "residuals", "quantiles"])
def test_each_plot_is_drawn(forest, kind):
    check = forest.predictive_check()
    ax = check.plot(kind)
    drawn = {"pit": len(ax.patches), "coverage": len(ax.get_yticklabels())}
    assert drawn.get(kind, len(ax.lines)) >= 2


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_bad_arguments_are_named_of_checked_numbers(forest, class_forest, number_tree, table):
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


@pytest.mark.filterwarnings("ignore:every tree sampled")
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


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_a_weight_that_rounding_leaves_just_below_1_is_that_of_one_known_response():
    y, one = np.array([3.0, -1.0, 4.0]), np.array([1.0])
    whole = row_influence(scipy.sparse.csr_array([[1.0, 0.0, 0.0]]), y, one)
    for weight in (np.nextafter(1.0, 0.0), sum([0.1] * 10)):
        near = row_influence(scipy.sparse.csr_array([[weight, 0.0, 0.0]]), y, one)
        np.testing.assert_allclose(near, whole, rtol=1e-12)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_leverage_is_a_sum_over_rows_which_the_report_says(forest, table):
    check = forest.predictive_check()
    assert check.influence["leverage"].max() > 1
    assert np.isfinite(check.influence.to_numpy()).all()
    assert "leverage adds up" in str(check.summary())
    assert "sum of weights out of bag" in check.plot("influence").get_xlabel()
    assert "leverage" not in str(forest.predictive_check(table).summary())


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_a_shifted_response_is_the_most_influential(table):
    shifted = table.assign(y=table["y"].mask(table.index == table.index[7], 40.0))
    check = odrf.odrf("y ~ a + b + f", shifted, n_trees=60, seed=1).predictive_check()
    assert check.influence.index[0] == table.index[7]
    assert check.influence["leverage"].mean() == pytest.approx(1.0, rel=0.05)
    assert "Most influential rows" in str(check.summary())


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_influence_is_in_standard_deviations_of_residuals(forest):
    check = forest.predictive_check()
    near = proximities(forest.fit, None, WEIGHTS)
    _, influence = row_influence(near, forest.fit.data.y, np.ones(near.shape[0]))
    rows = forest.fit.data.index.get_indexer(check.influence.index)
    expected = influence[rows] / check.rows["residual"].std(ddof=0)
    np.testing.assert_allclose(check.influence["influence"], expected)


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_new_rows_have_no_influence(forest, table):
    check = forest.predictive_check(table)
    assert check.influence is None
    with pytest.raises(InputError, match="no influence on the fit"):
        check.plot("influence")


@pytest.mark.filterwarnings("ignore:every tree sampled")
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


@pytest.mark.filterwarnings("ignore:every tree sampled")
def test_rows_with_the_same_prediction_are_one_region(forest, table):
    found = forest.predictive_check(table.iloc[[4]]).coverage
    assert found["rows"].tolist() == [1]
    assert float(found["region"].iloc[0]) == pytest.approx(forest.predict(table).iloc[4])


# ------------------------------------------------------------------------------------------------
# Offsets of boosted trees in all that predicts the response of new rows.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data(table):
    rng = np.random.default_rng(5)
    years = rng.uniform(0.5, 8, len(table))
    n = rng.poisson(years * np.exp(table["a"] / 2))
    return table.assign(log_years=np.log(years), n=n, c=np.where(n > 2, "many", "few"))


@pytest.fixture(scope="module")
def fit(data):
    return odrf.odbt("n ~ a + b + f", data, offset="log_years", loss="poisson", n_trees=8, seed=1)


@pytest.fixture(scope="module")
def given(data):
    values = data["log_years"].to_numpy()
    return odrf.odbt("n ~ a + b + f", data, offset=values, loss="poisson", n_trees=8, seed=1)


OF_ROWS = {
    "predictions": lambda fit, rows: fit.predictions(newdata=rows).table,
    "comparisons": lambda fit, rows: fit.comparisons("a", newdata=rows).table,
    "slopes": lambda fit, rows: fit.slopes("a", newdata=rows).table,
    "partial": lambda fit, rows: fit.partial("a", newdata=rows).table,
    "ice": lambda fit, rows: fit.ice("a", newdata=rows).table,
    "ale": lambda fit, rows: fit.ale("a", newdata=rows).table,
    "ale of two": lambda fit, rows: fit.ale(["a", "b"], newdata=rows).table,
    "ale of a factor": lambda fit, rows: fit.ale("f", newdata=rows).table,
    "interactions": lambda fit, rows: (
        fit.interactions(["a", "b"], newdata=rows, permutations=0).table
    ),
}


@pytest.mark.parametrize("name", OF_ROWS)
def test_new_rows_have_the_offsets_of_their_column(fit, given, data, name):
    of_new = OF_ROWS[name](fit, data)
    pd.testing.assert_frame_equal(of_new, OF_ROWS[name](fit, None))
    pd.testing.assert_frame_equal(of_new, OF_ROWS[name](given, None))
    later = OF_ROWS[name](fit, data.assign(log_years=data["log_years"] + np.log(10)))
    numbers = {"predictions": "estimate", "partial": "estimate"}.get(name)
    if numbers:
        np.testing.assert_allclose(later[numbers], 10 * of_new[numbers])
    with pytest.raises(InputError, match="'log_years' is not a column"):
        OF_ROWS[name](fit, data.drop(columns="log_years"))
    with pytest.raises(InputError, match="give new rows this column"):
        OF_ROWS[name](given, data)


def test_effects_are_of_predictions_with_offsets(fit, data):
    mean = fit.predictions(newdata=data).table["estimate"].iloc[0]
    assert mean == pytest.approx(fit.predict(data).mean())
    curve = fit.partial("a", values=[0.5], newdata=data).table["estimate"].iloc[0]
    assert curve == pytest.approx(fit.predict(data.assign(a=0.5)).mean())
    rows = fit.ice("a", values=[0.5], rows=1000).table
    assert rows["estimate"].mean() == pytest.approx(curve)


def test_one_prediction_is_explained_with_its_offset(fit, given, data):
    explained = fit.explain(data.iloc[[3]])
    assert explained.prediction["n"] == pytest.approx(fit.predict(data.iloc[[3]]).iloc[0])
    with pytest.raises(InputError, match="'log_years' is not a column"):
        fit.explain(data.drop(columns="log_years").iloc[[3]])
    with pytest.raises(InputError, match="give new rows this column"):
        given.explain(data.iloc[[3]])


def test_shapley_values_are_of_scores_without_offsets(fit, given, data):
    bare = data.drop(columns="log_years").head(5)
    shares, other = (each.shap(bare, background=20).values for each in (fit, given))
    np.testing.assert_allclose(shares, other)


def test_calibrated_probabilities_are_of_predictions_with_offsets(data):
    fit = odrf.odbt("c ~ a + b + f", data, offset="log_years", n_trees=8, seed=1)
    calibrated = fit.calibrate("platt")
    p = fit.predict(data, type="prob")["many"].to_numpy()
    found = calibrated.predict(data, type="prob")["many"]
    np.testing.assert_allclose(found, calibrated.recalibration.maps[1](p))
