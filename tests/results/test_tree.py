"""A tree's tables, rules and pruning."""

from __future__ import annotations

import inspect
import pickle

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import KFold, ShuffleSplit, TimeSeriesSplit

import odrf
from odrf import InputError
from odrf.errors import AbsentError
from odrf.fits.scores import explained_part
from odrf.text.splits import number


def test_nodes_form_the_tree(number_tree):
    nodes = number_tree.nodes
    inner = nodes[~nodes["leaf"]]
    assert nodes["parent"].isna().sum() == 1
    for side in ("left", "right"):
        children = nodes.loc[inner[side]]
        assert (children["parent"].to_numpy() == inner.index).all()
        assert (children["depth"].to_numpy() == inner["depth"] + 1).all()
    left, right = nodes.loc[inner["left"]], nodes.loc[inner["right"]]
    np.testing.assert_array_equal(
        left["count"].to_numpy() + right["count"].to_numpy(), inner["count"]
    )
    assert nodes["leaf"].sum() == number_tree.n_leaves
    assert nodes["left"][nodes["leaf"]].isna().all()


def test_class_nodes_hold_proportions(class_tree):
    nodes = class_tree.nodes
    shares = nodes[["P(low)", "P(mid)", "P(top)"]]
    np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert ("P(" + nodes["prediction"].astype(str) + ")").to_list() == shares.idxmax(
        axis=1
    ).to_list()


def test_splits_send_the_data_where_it_went(number_tree, table):
    """Route the table by the data frames alone."""
    columns = {"a": table["a"], "b": table["b"]}
    columns |= {f"f[{level}]": table["f"] == level for level in "xyz"}
    nodes, splits = number_tree.nodes, number_tree.splits.groupby("node")
    at = np.zeros(len(table), dtype=int)
    for node in nodes.index[~nodes["leaf"]]:
        terms = splits.get_group(node)
        projected = sum(
            c * columns[name] for name, c in zip(terms["column"], terms["coefficient"], strict=True)
        )
        left = (projected <= terms["threshold"].iloc[0]).to_numpy()
        side = np.where(left, nodes.loc[node, "left"], nodes.loc[node, "right"])
        at = np.where(at == node, side, at)
    np.testing.assert_array_equal(at, number_tree.predict(type="leaf"))


def test_splits_have_unit_length_in_scaled_columns(number_tree):
    length = number_tree.splits.groupby("node")["scaled_coefficient"].apply(np.linalg.norm)
    np.testing.assert_allclose(length, 1)
    assert set(number_tree.splits["predictor"]) <= {"a", "b", "f"}


def test_rules_keep_the_largest_terms(table):
    tree = odrf.odt("y ~ a + b + f", table, n_singles=0, subset_size=3, seed=1)
    assert " more " in tree.rules(max_terms=1)
    assert " more " not in tree.rules()
    assert tree.rules(max_terms=100) == tree.rules()
    for options in ({"max_terms": 0}, {"digits": 0}, {"max_terms": 1.5}):
        with pytest.raises(InputError, match="use a whole number of at least 1"):
            tree.rules(**options)


def test_rules_say_how_ordered_factors_count(table):
    grades = pd.Categorical(table["c"], ["low", "mid", "top"], ordered=True)
    data = table.assign(grade=grades)
    tree = odrf.odt("y ~ a + grade", data, n_singles=0, subset_size=2, seed=1)
    assert (
        tree.rules().split("\n")[2]
        == "in sums, grade counts as its rank: low = 1, mid = 2, top = 3"
    )
    assert "counts as" not in odrf.odt("y ~ grade", data, seed=1).rules()


def test_rules_are_indented_like_the_tree(class_tree):
    lines = class_tree.rules().split("\n")
    assert lines[0] == "n = 120, c ~ a + b + f"
    assert "low mid top" in lines[1]
    nodes = class_tree.nodes
    written = {}
    for line in lines[3:]:
        number = int(line.strip().split(")")[0])
        written[number] = line
        indent = len(line) - len(line.lstrip())
        assert indent == 2 * nodes.loc[number, "depth"]
        assert f"n = {nodes.loc[number, 'count']}" in line
        assert str(nodes.loc[number, "prediction"]) in line
        assert line.endswith("*") == nodes.loc[number, "leaf"]
    assert sorted(written) == list(nodes.index)


def test_training_scores(number_tree, class_tree, table):
    mse = np.mean((table["y"] - number_tree.fittedvalues) ** 2)
    assert number_tree.training_error == pytest.approx(mse)
    assert number_tree.r_squared == pytest.approx(1 - mse / np.var(table["y"]))
    wrong = table["c"] != class_tree.fittedvalues
    assert class_tree.training_error == pytest.approx(wrong.mean())
    matrix = class_tree.confusion_matrix
    assert matrix[["low", "mid", "top"]].to_numpy().sum() == 120
    assert matrix.loc["mid", "error"] == pytest.approx(wrong[table["c"] == "mid"].mean())


def test_scores_of_the_other_kind(number_tree, class_tree):
    with pytest.raises(InputError, match="confusion_matrix needs classes"):
        number_tree.confusion_matrix  # noqa: B018
    with pytest.raises(InputError, match="r_squared needs a regression"):
        class_tree.r_squared  # noqa: B018


def test_weights_count_in_scores(table):
    weights = np.arange(120.0)
    tree = odrf.odt("y ~ a + b", table, weights=weights, max_leaves=5, seed=1)
    mse = np.average((table["y"] - tree.fittedvalues) ** 2, weights=weights)
    assert tree.training_error == pytest.approx(mse)
    assert tree.pruning_path(cv=None).table["error"].iloc[0] == pytest.approx(mse)


def test_pruning_to_leaves(number_tree):
    path = number_tree.pruning_path("growth", cv=None)
    small = number_tree.prune(leaves=3, path=path)
    assert small.n_leaves == 3
    assert len(small.nodes) == 5
    assert small.parent is number_tree
    assert small.path is path
    assert number_tree.parent is None
    assert small.call.endswith(".prune(leaves=3)")
    assert small.nodes["value"].equals(number_tree.nodes["value"].loc[small.nodes.index])
    whole = number_tree.n_leaves
    assert number_tree.prune(leaves=whole).nodes.equals(number_tree.nodes)


def test_weakest_links_leave_the_largest_tree_of_no_more_leaves(number_tree):
    sizes = number_tree.pruning_path(cv=None).table["leaves"].to_numpy()
    for leaves in range(1, number_tree.n_leaves + 1):
        found = number_tree.prune(leaves=leaves).n_leaves
        assert found == sizes[sizes <= leaves].max()


@pytest.mark.parametrize("rule", ["weakest_link", "growth"])
def test_pruning_at_alpha(number_tree, rule):
    path = number_tree.pruning_path(rule, cv=None)
    small = number_tree.prune(alpha=0.05, path=path)
    cost = path.table["error"] + 0.05 * path.table["leaves"]
    assert small.n_leaves == path.table["leaves"][cost.idxmin()]
    assert (small.control.alpha, small.control.pruning) == (0.05, rule)
    assert small.training_error == pytest.approx(path.table["error"][cost.idxmin()])
    again = small.prune(alpha=0.01)
    assert again.n_leaves == small.n_leaves
    assert again.control.alpha == 0.05
    leaves = number_tree.n_leaves
    assert f"alpha = 0.05, from {leaves} leaves" in str(small.summary())


def test_alpha_of_the_fit_prunes(number_tree, table):
    tree = odrf.odt("y ~ a + b + f", table, alpha=0.05, seed=1)
    assert tree.nodes.equals(number_tree.prune(alpha=0.05).nodes)
    assert tree.call == "odt('y ~ a + b + f', data, alpha=0.05, seed=1)"
    grown = odrf.odt("y ~ a + b + f", table, alpha=0.05, pruning="growth", seed=1)
    path = number_tree.pruning_path("growth", cv=None)
    assert grown.nodes.equals(number_tree.prune(alpha=0.05, path=path).nodes)


def test_pruning_by_what_folds_find(number_tree):
    small = number_tree.prune(rule="1se")
    assert small.call.endswith(".prune(rule='1se')")
    assert small.n_leaves == small.path.best("1se").n_leaves
    assert "10-fold" in small.path.by


@pytest.mark.parametrize(
    ("structure", "by"),
    [
        ({"groups": np.arange(120) % 5}, "5-fold cross-validation of whole groups"),
        ({"order": np.arange(120) // 30}, "3-fold cross-validation in time"),
    ],
)
def test_as_many_folds_evaluate_as_there_can_be(table, structure, by):
    tree = odrf.odt("y ~ a + b", table[:120], alpha=None, seed=1, **structure)
    assert tree.prune(rule="1se").path.by == by
    assert tree.prune(rule="min", loss="impurity").path.by == by


def test_paths_of_other_trees_are_refused(number_tree, class_tree):
    with pytest.raises(InputError, match="path= belongs to another tree"):
        number_tree.prune(rule="1se", path=class_tree.pruning_path(cv=2))


@pytest.mark.parametrize(
    "options, message",
    [
        ({}, "exactly one"),
        ({"alpha": 0.1, "leaves": 2}, "exactly one"),
        ({"rule": "1se", "leaves": 2}, "exactly one"),
        ({"rule": "2se"}, "rule='2se' is not known: use one of 'min', '1se'"),
        ({"alpha": -0.1}, "alpha=-0.1"),
        ({"alpha": float("nan")}, "alpha=nan"),
        ({"alpha": "0.1"}, "alpha='0.1'"),
        ({"leaves": 0}, "leaves=0 is out of range: this tree has"),
        ({"leaves": 1000}, "leaves=1000 is out of range: this tree has"),
        ({"leaves": 2.5}, "leaves=2.5"),
        ({"leaves": True}, "leaves=True is out of range: this tree has"),
        ({"alpha": True}, "alpha=True: use a number of at least 0"),
    ],
)
def test_bad_pruning(number_tree, options, message):
    with pytest.raises(InputError, match=message):
        number_tree.prune(**options)


def test_unknown_rule_and_importance(number_tree):
    with pytest.raises(InputError, match="pruning='weakest' is not known: use one of 'weak"):
        number_tree.pruning_path(pruning="weakest")
    with pytest.raises(InputError, match="loss='gini' is not known: use one of 'error'"):
        number_tree.pruning_path(loss="gini")
    with pytest.raises(InputError, match='type="held_out"'):
        number_tree.importance("permutation")


@pytest.mark.parametrize("kind", ["number_tree", "class_tree"])
def test_summary(request, kind):
    tree = request.getfixturevalue(kind)
    text = str(tree.summary())
    assert tree.call in text
    assert f"Leaves           {tree.n_leaves}" in text
    assert ("Confusion matrix (training rows" in text) == (kind == "class_tree")
    assert ("Training R²" in text) == (kind == "number_tree")
    assert max(map(len, text.split("\n"))) <= 90


@pytest.mark.parametrize("response", ["y", "c", "o"])
@pytest.mark.parametrize("rule", ["weakest_link", "growth"])
def test_a_summary_shows_the_held_out_error_of_a_tree_from_a_path(table, response, rule):
    ordered = pd.Categorical(table["c"], ["low", "mid", "top"], ordered=True)
    whole = odrf.odt(f"{response} ~ a + b + f", table.assign(o=ordered), alpha=None, seed=1)
    assert "Held-out" not in str(whole.summary())
    path = whole.pruning_path(rule, cv=5)
    for k in (0, path.row("1se"), len(path.table) - 1):
        tree = path.tree(k)
        error, std_error = path.table.iloc[k][["xerror", "xstd"]]
        for rule_of_choice in ("min", "1se"):
            if k == path.row(rule_of_choice):  # each fold is evaluated by the choice of the others
                error, std_error = path.subtrees.nested[rule_of_choice]
                break
        if response == "y":
            root = whole.prune(leaves=1).training_error
            shown = f"{number(error * root)} (SE {number(std_error * root)}; "
            assert f"{explained_part(error, 1.0):.3f}" in str(tree.summary())
        else:
            observed = table["c"].value_counts(normalize=True)
            # the median of ordered classes is not the most frequent one
            root = 1 - (observed["mid"] if response == "o" else observed.max())
            shown = f"{number(error * root)} (SE"
        name = "MSE" if response == "y" else "error rate"
        (line,) = (line for line in str(tree.summary()).split("\n") if f"Held-out {name}" in line)
        assert shown in line and "5-fold cross-validation)" in line
    unevaluated = whole.pruning_path(rule, cv=None).tree(1)
    assert "Held-out" not in str(unevaluated.summary())


def test_a_tree_pruned_by_its_options_shows_the_held_out_error(table):
    tree = odrf.odt("y ~ a + b + f", table, alpha="1se", seed=1)
    assert "(SE" in str(tree.summary()) and "Held-out R²" in str(tree.summary())
    by_rows = odrf.odt("y ~ a + b + f", table[:80], seed=1).pruning_path(newdata=table[80:])
    assert "40 new rows)" in str(by_rows.best("min").summary())


def pruned_line(result):
    lines = str(result.summary()).split("\n")
    return next(line.split("Pruned")[1].strip() for line in lines if "Pruned" in line)


def test_a_summary_says_which_call_has_pruned_a_tree_whose_alpha_folds_have_chosen(table):
    tree = odrf.odt("y ~ a + b + f", table, seed=1)
    most = int((tree.forest.order > 0).sum()) + 1
    assert "(smallest error, 10-fold cross-validation)" in pruned_line(tree)
    assert pruned_line(tree.prune(alpha=0)) == pruned_line(tree)
    assert pruned_line(tree.prune(leaves=2)) == f"by prune(leaves=2), from {most} leaves"
    by_alpha = f"alpha = 1.5, from {most} leaves"
    assert pruned_line(tree.prune(alpha=1.5)) == by_alpha
    assert pruned_line(tree.prune(alpha=1.5).prune(alpha=0)) == by_alpha
    by_rule = tree.prune(rule="1se")
    assert pruned_line(by_rule).endswith(f"by prune(rule='1se'), from {most} leaves")
    assert by_rule.n_leaves < tree.n_leaves


def test_a_tree_of_a_forest_pruned_by_a_call_does_not_say_that_rows_chose_alpha(table):
    forest = odrf.odrf("y ~ a + b + f", table, n_trees=5, alpha="oob", seed=1)
    assert "smallest out-of-bag error" in pruned_line(forest.tree(0))
    assert "alpha = 1.5, from" in pruned_line(forest.prune(alpha=1.5).tree(0))


# ------------------------------------------------------------------------------------------------
# Pruning paths and growth paths on folds that are given.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("method", ["pruning_path", "growth_path"])
def test_given_folds_are_those_that_evaluate(number_tree, method):
    made = getattr(number_tree, method)
    labels = np.arange(120) % 4
    splitter = KFold(4)
    by_labels = made(cv=np.sort(labels), seed=2)
    by_splitter = made(cv=splitter, seed=2)
    assert by_labels.table.equals(by_splitter.table)
    assert not by_labels.table.equals(made(cv=labels, seed=2).table)
    assert not by_labels.table.equals(made(cv=4, seed=2).table)
    assert "cross-validation on 4 given folds" in str(by_labels.summary())
    assert "cross-validation by KFold" in str(by_splitter.summary())


@pytest.mark.parametrize("method", ["pruning_path", "growth_path"])
def test_in_time_the_first_rows_are_not_held_out(number_tree, method):
    path = getattr(number_tree, method)(cv=TimeSeriesSplit(3), seed=1)
    assert np.isfinite(path.table.iloc[:, -1]).all()


def test_a_row_is_held_out_once(number_tree):
    with pytest.raises(InputError, match="rows out more than once"):
        number_tree.pruning_path(cv=ShuffleSplit(5, random_state=1))
    with pytest.raises(InputError, match=r"use 2 to 120 \(the rows\).*, or None"):
        number_tree.pruning_path(cv="auto")
    with pytest.raises(InputError, match="or give newdata="):
        number_tree.growth_path(cv=None)


# ------------------------------------------------------------------------------------------------
# The results that trees and forests share.
# ------------------------------------------------------------------------------------------------


def test_facts_of_a_fit(number_tree, class_forest):
    assert number_tree.nobs == 120
    assert number_tree.formula == "y ~ a + b + f"
    assert number_tree.kind == "regression"
    assert number_tree.classes is None
    assert number_tree.call == "odt('y ~ a + b + f', data, alpha=None, seed=1)"
    assert class_forest.kind == "classification"
    assert list(class_forest.classes) == ["low", "mid", "top"]
    assert class_forest.control.n_trees == len(class_forest.n_leaves) == 12


def test_residuals(number_forest, class_tree, table):
    found = (number_forest.resid + number_forest.fittedvalues).dropna()
    np.testing.assert_allclose(found, table["y"][found.index])
    assert len(found) > 110
    prob = class_tree.predict(type="prob")
    observed = [prob.loc[row, label] for row, label in table["c"].items()]
    np.testing.assert_allclose(class_tree.resid, 1 - np.array(observed))


def test_importance_names_predictors(number_forest):
    table = number_forest.importance()
    assert set(table.index) == {"a", "b", "f"}
    assert table["importance"].is_monotonic_decreasing
    assert table["share"].sum() == pytest.approx(1)


def test_a_tree_without_splits_has_no_shares(table):
    importance = odrf.odt("y ~ a", table, max_leaves=1, seed=1).importance()
    assert importance.to_numpy().tolist() == [[0, 0]]


def test_unknown_importance(number_forest):
    with pytest.raises(InputError, match="did you mean 'permutation'"):
        number_forest.importance("permutations")


@pytest.mark.parametrize("name", ["number_tree", "class_tree", "number_forest", "class_forest"])
def test_fits_pickle(request, table, name):
    fit = request.getfixturevalue(name)
    again = pickle.loads(pickle.dumps(fit))
    pd.testing.assert_series_equal(again.predict(table), fit.predict(table))
    assert str(again.summary()) == str(fit.summary())


@pytest.mark.parametrize("name", ["number_tree", "class_tree", "number_forest", "class_forest"])
def test_cards_are_short(request, name):
    lines = repr(request.getfixturevalue(name)).split("\n")
    assert 4 <= len(lines) <= 8
    assert lines[0].startswith("Oblique")
    assert all(len(line) <= 80 for line in lines)


REFUSED = {
    "number_tree": ("changes", "confusion_matrix", "mean_rank_error", "surrogates"),
    "class_tree": ("r_squared", "mean_rank_error"),
    "number_forest": ("changes", "confusion_matrix", "kinds", "mean_rank_error", "oob_prob"),
    "class_forest": ("kinds", "r_squared"),
}


@pytest.mark.parametrize(("name", "refused"), REFUSED.items())
def test_what_a_property_refuses_is_absent_and_says_why(request, name, refused):
    fit = request.getfixturevalue(name)
    members = dict(inspect.getmembers(fit))
    for attribute in refused:
        assert not hasattr(fit, attribute)
        assert attribute not in members
        assert getattr(fit, attribute, None) is None
        with pytest.raises(InputError) as refusal:
            getattr(fit, attribute)
        assert len(str(refusal.value)) > 20
    assert hasattr(fit, "fittedvalues")


def test_a_fit_has_its_training_rows_or_none(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, seed=1)
    assert (forest.rows.y == table["y"]).all() and len(forest.rows.index) == forest.nobs
    chunks = odrf.odrf("y ~ a + b", [table], n_trees=3, seed=1)
    for fit, why in [
        (forest.without_data(), "was saved without them"),
        (chunks, "on rows in chunks"),
    ]:
        again = pickle.loads(pickle.dumps(fit))
        assert again.rows is None and again.nobs == len(table)
        assert f"RowCounts(n_rows={len(table)}, n_dropped=0" in repr(again.fit)
        with pytest.raises(AbsentError, match=f"this needs the training rows, and .*{why}"):
            again.fit.data  # noqa: B018
        assert "rows" in dir(again) and "data" in dir(again.fit)


def test_without_rows_properties_are_absent(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, seed=1)
    classes = odrf.odt("c ~ a", table, seed=1)
    for fit, attribute, words in [
        (forest.without_data(), "resid", "this needs the training rows"),
        (forest.without_data().fit, "draws", "this needs the training rows"),
        (classes.without_data().consistency(), "evidence", "this needs the training rows"),
        (classes.consistency(), "normal_quantiles", "classes have no"),
    ]:
        assert inspect.getmembers(fit)
        assert not hasattr(fit, attribute)
        with pytest.raises(InputError, match=words):
            getattr(fit, attribute)
