"""Trees of lines as they grow: known truths, and what holds for all of them."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.trees.forest import ARRAYS
from odrf.engine.trees.routing import leaf_nodes
from reference import lines as twin

# Margins of predictions beyond the range of a leaf, as a share of it; rounding of float32.
MARGIN, ROUNDING = 0.05, 1e-6


def table_of(seed, n=90, levels=3, missing=0.0):
    """Return a table whose response bends, with a factor and a constant, and cells missing."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=["a", "b", "c"])
    data["f"] = rng.choice([f"level {i}" for i in range(levels)], n)
    data["same"] = 1.5
    y = np.abs(data.a + data.b) + (data.f == "level 0") + rng.normal(size=n) / 5
    data.loc[rng.random(n) < missing, "a"] = np.nan
    return data.assign(y=y)


def grown(data, formula="y ~ .", **options):
    return odrf.odt(formula, data, leaves="linear", alpha=None, seed=1, **options)


def leaf_of(tree, data):
    return tree.predict(data, type="leaf").to_numpy().ravel()


def meeting_planes(seed, n, noise=0.05):
    """Return rows whose response is the larger of two planes, which meet at an angle of 45°."""
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((n, 2)), columns=["a", "b"])
    return data.assign(y=np.maximum(data.a, data.b) + noise * rng.normal(size=n))


@pytest.mark.parametrize("n", [1, 0])
def test_a_tree_of_one_leaf_is_least_squares_on_the_chosen_predictors(n):
    data = table_of(5).drop(columns="f")
    data["y"] += 3 * data.a - 2 * data.c
    tree = grown(data, **({"max_leaves": 1} if n else {"max_depth": 0}))
    line = tree.lines.set_index("column").coefficient
    chosen = [name for name in line.index if name != "(intercept)"]
    assert {"a", "c"} <= set(chosen) <= {"a", "b", "c"}
    expected, error = twin.fitted(data[chosen].to_numpy(), data.y.to_numpy(), np.ones(len(data)))
    np.testing.assert_allclose(line[["(intercept)", *chosen]], expected, rtol=1e-4, atol=1e-6)
    design = np.column_stack([np.ones(len(data)), data[chosen]])
    bounds = np.array([data.y.min(), data.y.max()])
    bounds += MARGIN * np.ptp(data.y) * np.array([-1, 1])
    np.testing.assert_allclose(
        tree.fittedvalues, np.clip(design @ expected, *bounds), rtol=1e-4, atol=1e-5
    )
    k, count = len(expected), len(data)
    impurity = error * (count + k) / (count - k) / count
    assert tree.fit.forest.impurity[0] == pytest.approx(impurity, rel=1e-5)


@pytest.mark.parametrize("missing", [0.0, 0.2])
@pytest.mark.parametrize("levels", [3, 25])
def test_rows_go_where_they_went(levels, missing):
    data = table_of(7, 300, levels, missing)
    tree = grown(data)
    forest, X = tree.fit.forest, tree.fit.data.X
    assert forest.count.tolist()[0] == len(data)
    found = np.bincount(leaf_nodes(forest, X, 1)[:, 0], minlength=len(forest.left))
    leaves = forest.left < 0
    assert leaves.sum() > 1
    np.testing.assert_array_equal(found[leaves], forest.count[leaves])
    again = leaf_nodes(forest, tree.fit.data.X, 2)[:, 0]
    np.testing.assert_array_equal(np.bincount(again, minlength=len(found)), found)
    np.testing.assert_allclose(tree.predict(data), tree.fittedvalues, rtol=1e-12)
    assert (forest.count[leaves] >= 15).all()


@settings(max_examples=6)
@given(seed=st.integers(0, 1000))
def test_predictions_are_within_the_range_of_their_leaf_and_a_little_more(seed):
    data = table_of(seed, missing=0.1)
    tree = grown(data)
    far = data.assign(a=data.a * 50, b=data.b - 20).drop(columns="y")
    leaf = leaf_of(tree, data)
    predicted, reached = tree.predict(far).to_numpy(), leaf_of(tree, far)
    for node in np.unique(reached):
        own = data.y[leaf == node]
        margin = MARGIN * np.ptp(own) + ROUNDING
        assert predicted[reached == node].min() >= own.min() - margin
        assert predicted[reached == node].max() <= own.max() + margin
    assert np.isfinite(predicted).all()


@given(seed=st.integers(0, 1000))
def test_what_splits_gain_is_the_difference_of_the_errors_of_lines(seed):
    """Nodes hold the errors of their own lines; these decrease in sum only by what nodes gain."""
    tree = grown(table_of(seed, 150))
    forest = tree.fit.forest
    at = np.flatnonzero(forest.left >= 0)
    left = forest.left[at]
    after = sum(forest.weight[s] * forest.impurity[s] for s in (left, left + 1))
    np.testing.assert_allclose(
        forest.gain[at], forest.impurity[at] - after / forest.weight[at], rtol=1e-9, atol=1e-12
    )


def test_each_node_has_the_error_of_the_best_line_of_its_rows():
    data = table_of(3, 200).drop(columns="f")
    tree = grown(data)
    forest, X = tree.fit.forest, np.asarray(tree.fit.data.X, dtype=float).T
    leaf = leaf_nodes(forest, tree.fit.data.X, 1)[:, 0]
    least = 1e-9 * data.y.var(ddof=0)
    for node in np.flatnonzero(forest.left < 0):
        rows = leaf == node
        n = rows.sum()
        _, error, line = twin.best_line(
            X[rows], data.y[rows].to_numpy(), np.ones(n), least * n, 1.5, n // 4 - 1
        )
        k = np.count_nonzero(line[1:]) + 1
        assert forest.lines.n_parameters[node] == k
        expected = error * (n + k) / (n - k) / n
        assert forest.impurity[node] == pytest.approx(expected, rel=1e-5)


def test_leaves_that_are_constant_are_those_without_the_option():
    data = table_of(1)
    options = {"projection": "axis", "alpha": None, "seed": 1}
    plain = odrf.odt("y ~ .", data, **options).fit.forest
    same = odrf.odt("y ~ .", data, leaves="constant", **options).fit.forest
    assert same.lines is plain.lines is None
    for name in ARRAYS:
        assert getattr(plain, name).tobytes() == getattr(same, name).tobytes()


def test_a_tree_is_the_same_each_time_and_for_any_seed_and_number_of_threads():
    data = table_of(2, 200, missing=0.1)
    one = odrf.odt("y ~ .", data, leaves="linear", seed=1, n_jobs=1)
    for n_jobs in (1, 2):
        other = odrf.odt("y ~ .", data, leaves="linear", seed=1, n_jobs=n_jobs)
        for name in ARRAYS:
            first, second = getattr(one.fit.forest, name), getattr(other.fit.forest, name)
            assert first.tobytes() == second.tobytes()
        np.testing.assert_array_equal(one.predict(data), other.predict(data))


def test_rows_of_weight_zero_count_nowhere():
    data = table_of(4, 160)
    weights = pd.Series(np.where(np.arange(160) % 4 == 0, 0.0, 1.0))
    weighted, some = grown(data, weights=weights), grown(data[weights > 0])
    np.testing.assert_allclose(weighted.predict(data), some.predict(data), rtol=1e-4, atol=1e-4)


def test_a_weight_of_two_is_a_row_twice_in_lines():
    data = table_of(6, 80)
    weights = pd.Series(1.0 + (np.arange(80) % 3 == 0))
    weighted = grown(data, weights=weights, max_leaves=1)
    twice = grown(data.loc[data.index.repeat(weights.astype(int))], max_leaves=1)
    a, b = (tree.lines.set_index("column").coefficient for tree in (weighted, twice))
    assert {"(intercept)", "f[level 0]"} <= set(a.index)
    np.testing.assert_allclose(a, b[a.index], rtol=1e-4, atol=1e-5)


def test_a_response_that_is_constant_but_for_one_row_has_finite_lines():
    data = table_of(1).assign(y=3.0)
    data.loc[0, "y"] = 4.0
    predicted = grown(data, kind="regression").predict(data)
    assert predicted.between(3.0 - MARGIN, 4.0 + MARGIN).all()


@pytest.mark.filterwarnings("ignore:.*tell the response exactly")
def test_a_response_without_noise_is_met_and_the_tree_grows_no_further():
    data = table_of(1).drop(columns="f").assign(y=lambda d: 2 + d.a - 3 * d.b)
    tree = grown(data)
    assert tree.n_leaves == 1
    np.testing.assert_allclose(tree.predict(data), data.y, rtol=1e-4, atol=1e-4)


def test_fewer_rows_than_predictors_are_fitted():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(25, 80)), columns=[f"x{i}" for i in range(80)])
    tree = grown(data.assign(y=data.x0 * 2 + rng.normal(size=25) / 10), min_leaf=2)
    assert np.isfinite(tree.predict(data)).all()
    assert "x0" in set(tree.lines.column)


def test_missing_cells_of_new_rows_take_the_mean():
    data = table_of(8, 120)
    tree = grown(data)
    new = data.head(10).drop(columns="y")
    mean = new.assign(b=data.b.mean())
    np.testing.assert_allclose(
        tree.predict(new.assign(b=np.nan)), tree.predict(mean), rtol=1e-4, atol=1e-5
    )


def test_two_planes_that_meet_are_two_leaves_after_pruning():
    data = meeting_planes(1, 400)
    tree = odrf.odt("y ~ .", data, leaves="linear", seed=1)
    assert tree.n_leaves == 2
    assert tree.training_error < 1.2 * 0.05**2
    assert set(tree.splits.column) == {"a", "b"}


def test_the_angle_of_the_split_is_found_at_the_rate_of_a_parameter():
    errors = []
    for n in (200, 800, 3200):
        of_samples = []
        for seed in range(5):
            tree = grown(meeting_planes(seed, n), max_leaves=2)
            split = tree.splits.set_index("column").coefficient
            of_samples.append(abs(np.degrees(np.arctan2(split["b"], split["a"])) % 180 - 135))
        errors.append(np.median(of_samples))
    assert errors[2] < 1.5
    assert errors[2] < 0.6 * errors[0]


@pytest.mark.parametrize("seed", range(3))
def test_a_linear_truth_is_one_leaf(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(300, 4)), columns=list("abcd"))
    data["y"] = 1 + 2 * data.a - data.b + rng.normal(size=300) / 5
    tree = odrf.odt("y ~ .", data, leaves="linear", alpha="1se", seed=1)
    assert tree.n_leaves == 1
    line = tree.lines.set_index("column").coefficient
    assert line["a"] == pytest.approx(2, abs=0.05)
    assert line["b"] == pytest.approx(-1, abs=0.05)


@pytest.mark.parametrize("seed", range(3))
def test_a_step_is_one_cut_between_leaves_without_terms(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((400, 3)), columns=list("abc"))
    data["y"] = np.where(data.a > 0.5, 2.0, 0.0) + rng.normal(size=400) / 10
    tree = grown(data, max_leaves=2)
    assert tree.splits.column.tolist() == ["a"]
    leaf = leaf_of(tree, data)
    assert data.a[leaf == 1].max() == pytest.approx(0.5, abs=0.02)
    assert data.a[leaf == 2].min() == pytest.approx(0.5, abs=0.02)
    assert tree.fit.forest.lines.n_parameters[1:].tolist() == [1, 1]
    pruned = odrf.odt("y ~ .", data, leaves="linear", seed=seed)
    assert pruned.n_leaves == 2  # the root's slope does not reach into the leaves
    assert sorted(pruned.predict(data).round(1).unique()) == [0.0, 2.0]
