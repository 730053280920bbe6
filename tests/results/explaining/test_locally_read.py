"""Explanations of single predictions, each part checked by predictions."""

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError

pytestmark = pytest.mark.filterwarnings("ignore:every tree drew")


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


@pytest.mark.parametrize("kind", KINDS)
def test_every_change_changes_the_prediction(fits, table, kind):
    fit = fits[kind]
    for i in (0, 17, 60):
        found = fit.explain(table.iloc[[i]])
        assert len(found.changes)
        assert found.changes["distance"].is_monotonic_increasing
        assert_changes_change(fit, table.iloc[[i]])


@pytest.mark.parametrize(("scale", "offset"), [(1.0, 1000.0), (1.0, 1e6), (1e-3, 5.0), (1e9, 0.0)])
@pytest.mark.parametrize("response", ["c", "y"])
def test_changes_far_from_zero_are_shown_with_enough_digits(table, response, scale, offset):
    moved = table.assign(a=table["a"] * scale + offset, b=table["b"] * scale + offset)
    fit = odrf.odrf(f"{response} ~ a + b + f", moved, n_trees=6, seed=1)
    for i in range(0, 120, 24):
        assert_changes_change(fit, moved.iloc[[i]])


@pytest.mark.parametrize("response", ["c", "y"])
def test_a_tree_without_splits_is_explained(table, response):
    fit = odrf.odt(f"{response} ~ a + b + f", table, max_leaves=1, seed=1)
    found = fit.explain(table.iloc[[0]])
    assert found.rules == []
    assert found.changes.empty
    assert (found.predictors == 0).all(axis=None)
    assert "Path" not in str(found.summary())


def test_rows_of_weight_zero_do_not_count_in_the_usual_change_and_distance(table):
    weights = np.repeat([1.0, 0.0], [100, 20])
    wild = table.assign(y=table["y"].where(weights > 0, 1e6), a=table["a"].where(weights > 0, 1e6))
    fit = odrf.odrf("y ~ a + b", wild, weights=weights, n_trees=6, seed=1)
    found = fit.explain(table.iloc[[0]])
    assert found.change == pytest.approx(table["y"][:100].std(ddof=0) / 2)
    alone = found.changes.set_index("variables").loc["a"]
    moved = abs(float(alone["values"]) - table["a"].iloc[0])
    assert alone["distance"] == pytest.approx(moved / table["a"][:100].std(ddof=0), rel=1e-5)


def test_the_summary_has_the_steepest_slopes_and_no_empty_table(table):
    wide = table.assign(**{f"n{j}": np.sin(np.arange(120.0) * (j + 1)) for j in range(12)})
    names = [f"n{j}" for j in range(12)]
    fit = odrf.odrf(f"y ~ {' + '.join(names)} + a", wide, n_trees=6, seed=1)
    found = fit.explain(wide.iloc[[0]])
    shown = list(found.summary().sections["Slopes"].index)
    assert shown == list(found.slopes.abs().sort_values(ascending=False, kind="stable").index[:10])
    factor_only = odrf.odrf("y ~ f", table, n_trees=6, seed=1).explain(table.iloc[[0]])
    assert "Slopes" not in factor_only.summary().sections


@pytest.mark.parametrize("kind", KINDS)
def test_the_prediction_is_that_of_predict(fits, table, kind):
    fit, row = fits[kind], table.iloc[[3]]
    found = fit.explain(row).prediction
    if fit.kind == "regression":
        assert found.iloc[0] == pytest.approx(fit.predict(row).iloc[0])
    else:
        expected = fit.predict(row, type="prob").iloc[0]
        np.testing.assert_allclose(found[expected.index], expected, atol=1e-12)


def test_neighbours_have_the_largest_weights(class_forest, table):
    row = table.iloc[[5]]
    weights = class_forest.proximity(row, type="weights").to_frame().iloc[0]
    found = class_forest.explain(row, nearest=4).neighbours
    expected = weights.sort_values(ascending=False).head(4)
    np.testing.assert_allclose(found["weight"], expected)
    assert found["c"].tolist() == table.loc[found.index, "c"].tolist()


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


def test_slopes_are_differences_of_predictions(number_forest, table):
    row = table.iloc[[8]]
    a, far = table["a"], 0.25 * table["a"].std(ddof=0)
    low, high = a[a <= a.iloc[8] - far].max(), a[a >= a.iloc[8] + far].min()
    rise = np.subtract(*(number_forest.predict(row.assign(a=x)).iloc[0] for x in (high, low)))
    found = number_forest.explain(row).slopes["a"]
    assert found == pytest.approx(rise / (high - low), rel=1e-4)


def test_a_row_may_be_a_mapping_or_a_series(number_forest, table):
    row = table.iloc[3]
    mapping = {name: row[name] for name in "abf"}
    one, two = (number_forest.explain(each) for each in (mapping, pd.Series(mapping)))
    assert one.changes.equals(two.changes)
    assert "One prediction" in str(one.summary())


def test_empty_cells_are_explained(table):
    holes = table.assign(a=table["a"].mask(np.arange(120) % 4 == 0))
    fit = odrf.odrf("c ~ a + b + f", holes, n_trees=6, seed=1)
    assert len(fit.explain(holes.iloc[[0]]).changes)
    full = odrf.odrf("c ~ a + b + f", table, n_trees=6, seed=1)
    assert len(full.explain(holes.iloc[[0]]).predictors) == 3


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


def test_a_column_that_is_not_there_is_named(number_forest):
    with pytest.raises(InputError, match="lacks column"):
        number_forest.explain({"a": 1.0})


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_whole_numbers_that_floats_do_not_tell_apart_have_no_slope():
    whole = 2**53 + np.arange(20) % 2
    data = pd.DataFrame({"whole": whole, "a": np.arange(20.0), "y": np.arange(20.0)})
    found = odrf.odt("y ~ a + whole", data, seed=1).explain(data[:1])
    assert list(found.slopes.index) == ["a"]


def test_weights_of_neighbours_stay_beside_a_response_of_this_name(number_forest, table):
    named = table.rename(columns={"y": "weight"})
    fit = odrf.odrf("weight ~ a + b + f", named, n_trees=12, seed=1)
    found = fit.explain(named.iloc[[5]]).neighbours
    expected = number_forest.explain(table.iloc[[5]]).neighbours
    assert found["weight"].tolist() == expected["weight"].tolist()
    assert found["weight_"].tolist() == expected["y"].tolist()


def test_a_change_is_above_0_and_of_numbers(number_forest, class_forest, table):
    with pytest.raises(InputError, match="change=0: use a finite number above 0"):
        number_forest.explain(table.iloc[[5]], change=0)
    with pytest.raises(InputError, match="change= is for predictions of numbers"):
        class_forest.explain(table.iloc[[5]], change=1.0)
