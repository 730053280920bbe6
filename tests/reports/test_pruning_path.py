"""The pruning path of a tree."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError


@pytest.fixture(params=["weakest_link", "growth"])
def rule(request):
    return request.param


@pytest.fixture
def path(number_tree, rule):
    return number_tree.pruning_path(rule, cv=5)


def test_table(path, number_tree):
    table = path.table
    columns = ["alpha", "leaves", "error", "relative_error", "xerror", "xstd"]
    assert list(table.columns) == columns
    assert table["alpha"].iloc[0] == 0
    assert table["leaves"].iloc[-1] == 1
    assert table["relative_error"].iloc[-1] == 1
    assert table["error"].iloc[-1] == pytest.approx(number_tree.nodes.loc[0, "impurity"])
    # without a split, a fold is predicted by the mean of the others
    assert table["xerror"].iloc[-1] == pytest.approx(1, abs=0.1)
    assert table["xerror"].min() < 0.5


def test_every_row_is_a_tree(path, number_tree):
    for k, row in path.table.iterrows():
        tree = path.tree(k)
        assert tree.n_leaves[0] == row["leaves"]
        assert tree.training_error == pytest.approx(row["error"])
        assert tree.parent is number_tree
        assert tree.path is path


def test_copied_calls_give_the_same_tree(number_tree):
    path = number_tree.pruning_path(cv=None)
    tree = path.tree(len(path.table) - 2)
    alpha = float(tree.call.rsplit("alpha=", 1)[1].rstrip(")"))
    assert number_tree.prune(alpha=alpha).n_leaves[0] == tree.n_leaves[0]


def test_rules_of_choice(path):
    table = path.table
    least = path.best("min")
    assert table["xerror"][path.row("min")] == table["xerror"].min()
    limit = table["xerror"].min() + table["xstd"][path.row("min")]
    assert path.best("1se").n_leaves[0] == table["leaves"][table["xerror"] <= limit].min()
    assert path.best("1se").n_leaves[0] <= least.n_leaves[0]
    with pytest.raises(InputError, match="rule='2se' is not known"):
        path.best("2se")


@pytest.mark.parametrize("tree", ["number_tree", "class_tree"])
def test_threads_and_time_change_nothing(request, tree):
    tree = request.getfixturevalue(tree)
    one = tree.pruning_path(cv=4, n_jobs=1).table
    for again in (tree.pruning_path(cv=4, n_jobs=1), tree.pruning_path(cv=4, n_jobs=3)):
        assert one.equals(again.table)
    assert not one.equals(tree.pruning_path(cv=4, seed=99).table)


def test_subtrees_are_evaluated_on_validation_rows(number_tree, table, rule):
    rows = table.iloc[40:90].sample(frac=1, random_state=1)
    path = number_tree.pruning_path(rule, newdata=rows)
    root = path.table["error"].iloc[-1]
    for k in range(len(path.table)):
        loss = (path.tree(k).predict(rows) - rows["y"]) ** 2
        assert path.table["xerror"][k] * root == pytest.approx(loss.mean())
        standard_error = loss.std(ddof=0) / len(rows) ** 0.5
        assert path.table["xstd"][k] * root == pytest.approx(standard_error)
    assert "50 new rows" in str(path.summary())


def test_one_row_has_no_standard_error(number_tree, table):
    path = number_tree.pruning_path(newdata=table.head(1))
    assert path.by == "1 new row"
    assert path.table["xstd"].isna().all() and path.table["xerror"].notna().all()
    assert path.row("1se") == path.row("min")
    labels = path.plot().get_legend_handles_labels()[1]
    assert "smallest + 1 standard error" not in labels
    assert "1-SE rule" in str(path.summary())


def test_validation_of_a_transformed_response(table):
    data = table.assign(y=np.exp(table["y"]))
    tree = odrf.odt("np.log(y) ~ a + b", data, max_leaves=6, seed=1)
    path = tree.pruning_path(newdata=data)
    np.testing.assert_allclose(path.table["xerror"], path.table["relative_error"])


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="c"), "lacks column 'c' of the response 'c'"),
        (lambda rows: rows.assign(c="huge"), "classes that no training row has: 'huge'"),
        (lambda rows: rows.assign(c=None), "response 'c' is missing in 120 rows"),
        (lambda rows: rows.drop(columns="a"), "lacks column 'a'"),
        (lambda rows: rows.iloc[:0], "no complete rows"),
    ],
)
def test_invalid_validation_rows(class_tree, table, change, message):
    with pytest.raises(InputError, match=message):
        class_tree.pruning_path(newdata=change(table))


def test_a_number_must_stay_a_number(number_tree, table):
    with pytest.raises(InputError, match="held numbers in training"):
        number_tree.pruning_path(newdata=table.assign(y="much"))


@pytest.mark.parametrize("cv", [1, 121, 2.5, "10", True])
def test_bad_numbers_of_folds(number_tree, cv):
    with pytest.raises(InputError, match="is not a number of folds: use 2 to 120"):
        number_tree.pruning_path(cv=cv)


@pytest.mark.parametrize("k", [-1, 99, 1.0, True])
def test_rows_out_of_range(path, k):
    with pytest.raises(InputError, match=f"k={k} is not a row of the table: use 0 to"):
        path.tree(k)


def test_a_path_without_held_out_rows_cannot_choose(number_tree):
    path = number_tree.pruning_path(cv=None)
    assert not path.is_evaluated
    with pytest.raises(InputError, match="make the path with cv=10"):
        path.best()


def test_summary_holds_the_table(path, rule):
    summary = path.summary()
    shown = summary.tables[1]
    assert shown.equals(path.table.loc[shown.index])
    assert {0, path.row("min"), path.row("1se"), len(path.table) - 1} <= set(shown.index)
    for words in (rule.replace("_", " ").replace("growth", "growth order"), "5-fold", "1-SE rule"):
        assert words in str(summary)
    assert repr(path).startswith(f"Pruning path of {len(path.table)} subtrees\n")


def test_classes_are_evaluated_by_misclassification(class_tree, table):
    path = class_tree.pruning_path(cv=3)
    assert path.table["error"].iloc[0] == pytest.approx(class_tree.training_error)
    assert "error rate" in str(path.summary())
    root = np.bincount(class_tree.fit.data.y.astype(int)).max() / len(table)
    assert path.table["error"].iloc[-1] == pytest.approx(1 - root)


def test_the_training_error_can_be_the_impurity(class_tree):
    path = class_tree.pruning_path(loss="impurity", cv=3)
    nodes = class_tree.nodes
    left = nodes.loc[nodes["leaf"], ["weight", "impurity"]].prod(axis=1).sum() / 120
    assert path.table["error"].iloc[0] == pytest.approx(left)
    assert "impurity" in str(path.summary())
    # the held-out error is the misclassification rate all the same
    same = path.table.merge(class_tree.pruning_path(cv=3).table, on="leaves")
    assert same["xerror_x"].iloc[-1] == pytest.approx(same["xerror_y"].iloc[-1])


def test_case_weights_count(table):
    weights = np.where(np.arange(120) < 60, 1.0, 0.0)
    weighted = odrf.odt("y ~ a + b + f", table, weights=weights, seed=1)
    path = weighted.pruning_path(cv=5)
    assert (path.table["xerror"] > 0).all()
    half = odrf.odt("y ~ a + b + f", table.iloc[:60], seed=1).pruning_path(cv=5)
    assert path.table["error"].iloc[-1] == pytest.approx(half.table["error"].iloc[-1])


def end_of(parent, tree, **options):
    """The rows of the parent's path that the path of the pruned tree has to have."""
    table = parent.pruning_path(**options).table
    return table[table["leaves"] <= tree.n_leaves[0]].reset_index(drop=True)


def large(kind, table):
    if kind == "events":
        return odrf.odt("Surv(time, event) ~ .", odrf.load_data("gbsg2"), alpha=None, seed=1)
    formula = {"number": "y ~ a + b + f", "class": "c ~ a + b + f"}[kind]
    return odrf.odt(formula, table, alpha=None, min_leaf=2, seed=1)


@pytest.mark.parametrize("kind", ["number", "class", "events"])
def test_the_path_of_a_pruned_tree_is_the_end_of_its_parents(kind, table, rule):
    whole = large(kind, table)
    path = whole.pruning_path(rule, cv=4)
    middle, second = path.table.iloc[len(path.table) // 2], path.tree(1)
    for small in (
        whole.prune(leaves=int(middle["leaves"]), path=path),
        whole.prune(alpha=float(middle["alpha"]) * 1.0001, path=path),
        path.best("min"),
        second.prune(alpha=float(middle["alpha"]), path=second.pruning_path(rule, cv=None)),
    ):
        found = small.pruning_path(rule, cv=4)
        pd.testing.assert_frame_equal(found.table, end_of(whole, small, pruning=rule, cv=4))
        assert found.tree(0).n_leaves[0] == small.n_leaves[0]
        assert found.tree(0).prune(alpha=0.0).n_leaves[0] == small.n_leaves[0]
    training = small.pruning_path(rule, cv=None).table
    pd.testing.assert_frame_equal(training, end_of(whole, small, pruning=rule, cv=None))


@pytest.mark.parametrize(("kind", "loss"), [("class", "impurity"), ("events", "log_rank")])
def test_the_path_of_a_tree_pruned_by_another_loss(kind, loss, table):
    whole = large(kind, table)
    small = whole.prune(leaves=3, loss=loss)
    found, expected = (
        small.pruning_path(cv=3, loss=loss).table,
        end_of(whole, small, cv=3, loss=loss),
    )
    columns = ["alpha", "leaves", "xerror", "xstd"]
    pd.testing.assert_frame_equal(found[columns], expected[columns])


@pytest.mark.parametrize("option", ["cv", "1se", 0.01])
@pytest.mark.parametrize("formula", ["y ~ a + b + f", "c ~ a + b + f"])
def test_a_tree_pruned_by_its_options_chooses_as_its_parent_does(formula, option, table):
    tree = odrf.odt(formula, table, alpha=option, seed=1)
    of_parent = end_of(tree.parent, tree)
    pd.testing.assert_frame_equal(tree.pruning_path().table, of_parent)
    again, best = tree.prune(rule="min"), of_parent["xerror"].to_numpy()[::-1].argmin()
    assert again.n_leaves[0] == of_parent["leaves"].iloc[::-1].iloc[best]


def test_a_tree_of_a_pruned_forest_has_the_end_of_the_path(number_forest):
    pruned = number_forest.prune(rule="oob")
    whole, small = number_forest.tree(0), pruned.tree(0)
    pd.testing.assert_frame_equal(small.pruning_path(cv=3).table, end_of(whole, small, cv=3))


def test_folds_cannot_judge_a_tree_that_was_cut_in_another_way(number_tree, table):
    path = number_tree.pruning_path("growth", cv=None)
    between = next(k for k in range(2, 99) if k not in path.table["leaves"].to_numpy())
    small = number_tree.prune(leaves=between, path=path)
    for options in ({"pruning": "growth"}, {}):
        with pytest.raises(InputError, match="use pruning_path\\(\\) of its parent"):
            small.pruning_path(**options)
    assert small.pruning_path(newdata=table).table["alpha"].iloc[0] == 0
    assert small.pruning_path(cv=None).table["leaves"].iloc[0] == between


@pytest.mark.parametrize("response", ["y", "side", "Surv(time, event)"])
def test_new_rows_of_one_group_are_one_unit(response):
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.random((120, 2)), columns=["a", "b"])
    data["y"] = data["a"] + rng.normal(size=120) / 4
    data["side"] = np.where(data["y"] > 0.5, "over", "below")
    data["time"], data["event"] = np.exp(-data["y"]), rng.random(120) < 0.7
    data["subject"] = np.arange(120) // 2
    tree = odrf.odt(f"{response} ~ a + b", data, groups="subject", seed=1)
    once = data[::2]
    thrice = pd.concat([once] * 3)
    unknown = thrice.drop(columns="subject")
    paths = ["pruning_path"] + ["growth_path"] * (response != "Surv(time, event)")
    for path, error in zip(paths, ["xstd", "std_error"], strict=False):
        of_rows = getattr(tree, path)
        found = [of_rows(newdata=rows).table[error] for rows in (once, thrice, unknown)]
        np.testing.assert_allclose(found[1], found[0], rtol=1e-9)
        assert (found[2][found[0] > 0] < 0.6 * found[0][found[0] > 0]).all()
