"""Results of one tree for survival times."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import simulate
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.statistics.survival.curves import kaplan_meier

FORMULA = "Surv(time, event) ~ ."


@pytest.fixture(scope="module")
def data():
    return simulate.proportional_hazards(p=4, relevant=2).sample(220, seed=1)


@pytest.fixture(scope="module")
def grown(data):
    return odrf.odt(FORMULA, data, alpha=None, seed=1)


@pytest.fixture(scope="module")
def tree(data):
    return odrf.odt(FORMULA, data, seed=1)


def require_curves_of_rows(tree, data):
    """Each leaf predicts the Kaplan–Meier curve of the training rows in it."""
    times = np.quantile(data["time"], [0.1, 0.4, 0.7])
    leaf, found = tree.predict(type="leaf")[0], tree.predict(type="survival", times=times)
    for rows in data.groupby(leaf.to_numpy()).indices.values():
        some = data.iloc[rows]
        curve = kaplan_meier(some["time"].to_numpy(), some["event"].to_numpy(int))
        expected = np.tile(curve.curve(times), (len(rows), 1))
        np.testing.assert_allclose(found.iloc[rows], expected, atol=1e-12)
    assert leaf.nunique() == tree.n_leaves


def test_leaves_predict_the_curves_of_their_rows(grown, data):
    require_curves_of_rows(grown, data)


def test_pruned_trees_predict_the_curves_of_their_own_leaves(grown, data):
    for pruned in (grown.prune(leaves=4), grown.prune(alpha=0.03), grown.prune(rule="1se")):
        assert 1 < pruned.n_leaves < grown.n_leaves
        require_curves_of_rows(pruned, data)
        assert pruned.parent is grown


def test_the_default_is_the_subtree_of_smallest_held_out_deviance(tree, grown):
    path = tree.path
    assert tree.n_leaves == path.table["leaves"].iloc[path.row("min")]
    assert tree.control.criterion == "log_rank"
    assert tree.parent.nodes.equals(grown.nodes)
    assert path.best("1se").n_leaves <= tree.n_leaves
    assert "exponential deviance" in str(path.summary())


def test_sizes_by_options(data):
    assert odrf.odt(FORMULA, data, max_leaves=5, seed=1).n_leaves == 5
    by_rate = odrf.odt(FORMULA, data, max_leaves="sqrt", seed=1)
    assert by_rate.control.max_leaves == by_rate.n_leaves
    require_curves_of_rows(by_rate, data)
    by_growth = odrf.odt(FORMULA, data, pruning="growth", seed=1)
    kept = by_growth.nodes.loc[~by_growth.nodes["leaf"], "order"]
    assert sorted(kept) == list(range(1, len(kept) + 1))
    falling = odrf.odt(FORMULA, data, alpha="1/sqrt(n)", seed=1)
    assert falling.control.alpha == pytest.approx(falling.control.alpha_rule.constant / 220**0.5)


def test_honest_trees_are_described_by_the_other_half(data):
    tree = odrf.odt(FORMULA, data, honest=True, alpha=None, seed=1)
    assert tree.nodes["count"][0] == tree.nodes["weight"][0] == 110
    assert tree.nodes["events"][0] < data["event"].sum()
    assert np.isfinite(tree.pruning_path(cv=5).table.to_numpy()).all()


def test_nodes_and_splits_are_tables_of_the_tree(tree, data):
    nodes = tree.nodes
    assert nodes["leaf"].sum() == tree.n_leaves
    assert nodes.loc[0, "count"] == 220 and nodes.loc[0, "events"] == data["event"].sum()
    curve = kaplan_meier(data["time"].to_numpy(), data["event"].to_numpy(int))
    assert nodes.loc[0, "median"] == curve.quantile()
    medians = tree.predict(type="time").groupby(tree.predict(type="leaf")[0]).first()
    assert nodes.loc[medians.index, "median"].tolist() == medians.tolist()
    assert set(tree.splits["node"]) == set(nodes.index[~nodes["leaf"]])


def test_rules_have_a_line_for_each_node(tree):
    text = tree.rules(digits=3, max_terms=2)
    lines = text.splitlines()
    assert lines[0] == f"n = 220, {FORMULA}"
    assert sum(line.endswith("*") for line in lines) == tree.n_leaves
    assert "0) root  n = 220  events = " in text and "hazard = 1" in text
    with pytest.raises(odrf.InputError, match="digits"):
        tree.rules(digits=0)


def test_summary_and_card_tell_what_the_tree_is(tree, grown):
    text = str(tree.summary(detail=True))
    for words in ("Held-out deviance", "Deviance explained", "Leaves, the largest hazard first",
                  "log rank", "Harrell's C", "Pruned"):  # fmt: skip
        assert words in text
    assert "12 of" in str(grown.summary()) and "Held-out deviance" not in str(grown.summary())
    assert "Oblique decision tree: survival" in repr(tree)


def test_importances_are_the_deviance_that_splits_remove(grown):
    nodes, found = grown.nodes, grown.importance()
    removed = (nodes["gain"] * nodes["weight"])[~nodes["leaf"]].sum() / nodes["weight"][0]
    assert found["importance"].sum() == pytest.approx(removed)
    assert set(found.index[:2]) == {"x1", "x2"}
    with pytest.raises(odrf.InputError, match="this is one tree"):
        grown.importance("permutation")
    with pytest.raises(odrf.InputError, match="type"):
        grown.importance("gini")


def test_the_plot_has_a_panel_with_two_curves_for_each_leaf(tree):
    ax = tree.plot()
    panels = ax.child_axes
    assert len(panels) == tree.n_leaves
    last = tree.event_times[-1]
    for panel in panels:
        assert len(panel.lines) == 2 and panel.get_xlim() == (0.0, last)
        assert all(line.get_ydata()[0] == 1.0 for line in panel.lines)
    written = {text.get_text() for text in ax.texts}
    leaves = tree.nodes[tree.nodes["leaf"]]
    for count, events in zip(leaves["count"], leaves["events"], strict=True):
        assert f"n = {count}, events = {events:.0f}" in written
    plt.close(ax.figure)


def test_other_plots(tree, grown):
    for ax in (tree.plot("importance"), tree.plot("curves"), grown.plot(max_depth=2)):
        plt.close(ax.figure)
    _, ax = plt.subplots(figsize=(5, 4))
    assert grown.plot(ax=ax) is ax and ax.child_axes
    plt.close(ax.figure)
    with pytest.raises(odrf.InputError, match="kind"):
        tree.plot("error")
    with pytest.raises(odrf.InputError, match="max_depth"):
        tree.plot(max_depth=0)


@pytest.mark.parametrize("kind", ["curves", "importance"])
@pytest.mark.parametrize("argument", ["max_depth", "max_terms", "digits"])
def test_what_is_for_a_drawn_tree_is_not_for_other_plots(tree, kind, argument):
    with pytest.raises(odrf.InputError, match=f'^{argument}= is for kind="tree": leave'):
        tree.plot(kind, **{argument: 2})


@pytest.mark.parametrize("rows", [True, False])
def test_a_saved_tree_is_loaded_as_it_was(tree, data, rows, tmp_path):
    tree.save(tmp_path / "tree.odrf", data=rows)
    again = odrf.load(tmp_path / "tree.odrf")
    assert type(again) is SurvivalTreeResults
    for type_ in ("risk", "survival", "hazard", "time", "rmst", "quantile", "leaf"):
        found, expected = again.predict(data, type_), tree.predict(data, type_)
        assert found.equals(expected), type_
    assert again.nodes.equals(tree.nodes) and again.rules() == tree.rules()
    assert again.parent.nodes.equals(tree.parent.nodes)
    plt.close(again.plot().figure)
    if rows:
        assert again.predict().equals(tree.predict())
        assert str(again.summary()) == str(tree.summary())
    else:
        assert again.prune(leaves=2).n_leaves == 2
        for needs_rows in (again.predict, again.pruning_path, again.summary):
            with pytest.raises(odrf.InputError, match="needs the training rows"):
                needs_rows()


@pytest.mark.parametrize("rows", [True, False])
def test_a_saved_forest_is_loaded_as_it_was(data, rows, tmp_path):
    forest = odrf.odrf(FORMULA, data, n_trees=10, seed=1)
    forest.save(tmp_path / "forest.odrf", data=rows)
    again = odrf.load(tmp_path / "forest.odrf")
    assert type(again) is type(forest)
    for type_ in ("risk", "survival", "rmst"):
        assert again.predict(data, type_).equals(forest.predict(data, type_))
    if rows:
        assert again.predict().equals(forest.predict())


def test_pickled_and_without_rows(tree, data):
    again = pickle.loads(pickle.dumps(tree))
    assert again.predict().equals(tree.predict()) and again.path.table.equals(tree.path.table)
    small = tree.without_data()
    assert small.predict(data).equals(tree.predict(data)) and small.nobs == 220
    assert "left out" in repr(small)


def test_consistency_of_numbers_and_of_factors(tree, data):
    report = tree.consistency()
    assert report.conclusion.startswith("No result covers it")
    assert "does not hold" in str(report.summary()) and "[I]" in repr(report)
    levels = data.assign(g=pd.Categorical(np.where(data["x1"] > 0, "a", "b")))
    alone = odrf.odt("Surv(time, event) ~ g", levels, alpha=None, min_leaf=1, seed=1)
    assert alone.consistency().conclusion.startswith("Consistent survival curves")
    one = odrf.odt("Surv(time, event) ~ g", levels, max_leaves=1, seed=1)
    assert not one.consistency().conclusion.startswith("Consistent")
    axis = odrf.odt(FORMULA, data, projection="axis", max_leaves=3, seed=1)
    assert "cannot be evaluated" in axis.consistency().conclusion


def test_criteria_belong_to_responses(data):
    for name in ("gini", "squared_error", "ordinal"):
        with pytest.raises(odrf.InputError, match="use 'log_rank' or 'gray' or 'exponential'"):
            odrf.odt(FORMULA, data, criterion=name)
    numbers = data.drop(columns=["event"])
    for name in ("log_rank", "exponential"):
        with pytest.raises(odrf.InputError, match="survival times"):
            odrf.odt("time ~ .", numbers, criterion=name)
        with pytest.raises(odrf.InputError, match="survival times"):
            odrf.odt("event ~ x1", data.astype({"event": str}), criterion=name)
    with pytest.raises(odrf.InputError, match="criterion"):
        odrf.odt(FORMULA, data, criterion="cox")
    with pytest.raises(odrf.InputError, match="penalty"):
        odrf.odt(FORMULA, data, criterion="exponential", penalty="bic")
    with pytest.raises(odrf.InputError, match="is a survival time"):
        odrf.odt(FORMULA, data, split_scale="log")


def test_forests_by_exponential_deviance(data):
    forest = odrf.odrf(FORMULA, data, criterion="exponential", n_trees=20, seed=1)
    assert forest.control.criterion == "exponential"
    assert forest.score().loc["harrell_c", "estimate"] > 0.6


def test_causes_are_events_of_a_tree(data):
    rng = np.random.default_rng(1)
    status = np.where(data["event"], rng.choice(["relapse", "death"], len(data)), "none")
    causes = pd.CategoricalDtype(["none", "relapse", "death"])
    several = data.assign(event=pd.Categorical(status, dtype=causes))
    tree = odrf.odt(FORMULA, several, seed=1, max_leaves=3)
    other = odrf.odt(FORMULA, data, seed=1, max_leaves=3)
    for column in ("count", "events", "person_time", "median"):
        assert tree.nodes[column][0] == pytest.approx(other.nodes[column][0], rel=1e-12)
    leaves = tree.nodes[tree.nodes["leaf"]]
    assert leaves["events"].sum() == data["event"].sum()


def test_scores_of_a_tree_of_a_forest_are_not_said_to_be_by_the_rows_that_chose_splits(data):
    tree = odrf.odrf(FORMULA, data, n_trees=3, seed=1).tree(0)
    summary, fitted = tree.summary(), odrf.odt(FORMULA, data, alpha=None, seed=1).summary()
    assert any(title.startswith("Scores (out of bag") for title in summary.sections)
    notes, of_fitted = " ".join(summary.notes), " ".join(fitted.notes)
    assert "also give hazards and importances" in notes
    assert "the tree sampled the others" in notes
    assert "also give scores, hazards and importances" in of_fitted
