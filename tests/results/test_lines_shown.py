"""What a tree whose leaves are lines shows, predicts and refuses."""

from __future__ import annotations

import re

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError, odt
from odrf.results.tree import LineTreeResults

INTERCEPT = "(intercept)"


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    """Rows whose response is the larger of two predictors and a step of a factor."""
    rng = np.random.default_rng(0)
    frame = pd.DataFrame(rng.random((200, 3)), columns=["a", "b", "c"])
    frame["f"] = rng.choice(["x", "y", "z"], 200)
    step = np.where(frame.f == "x", 0.3, 0.0)
    return frame.assign(y=frame[["a", "b"]].max(axis=1) + step + rng.normal(size=200) / 20)


@pytest.fixture(scope="module")
def tree(data) -> LineTreeResults:
    return odt("y ~ .", data, leaves="linear", alpha=None, seed=1)


def by_hand(tree, data):
    """Return what the table of lines makes of the rows, without truncation."""
    columns = {INTERCEPT: np.ones(len(data)), **{name: data[name] for name in ("a", "b", "c")}}
    columns |= {f"f[{level}]": data.f == level for level in "xyz"}
    leaf, out = tree.predict(data, type="leaf").to_numpy().ravel(), np.zeros(len(data))
    for node, column, coefficient in tree.lines[["node", "column", "coefficient"]].to_numpy():
        at = leaf == node
        out[at] += coefficient * np.asarray(columns[column], dtype=float)[at]
    return leaf, out


def test_lines_are_what_is_predicted_but_for_rows_that_are_truncated(tree, data):
    leaf, expected = by_hand(tree, data)
    assert set(tree.lines.node) == set(leaf) == set(tree.nodes.index[tree.nodes.leaf])
    for node in np.unique(leaf):
        own = data.y[leaf == node]
        margin = 0.05 * np.ptp(own)
        at = leaf == node
        expected[at] = np.clip(expected[at], own.min() - margin, own.max() + margin)
    np.testing.assert_allclose(tree.predict(data), expected, atol=1e-5)


def test_lines_give_what_stands_for_missing_cells():
    rng = np.random.default_rng(1)
    frame = pd.DataFrame(rng.normal(size=(150, 2)), columns=["a", "b"])
    frame["y"] = 1 + 2 * frame.a + frame.b + rng.normal(size=150) / 10
    frame.loc[::7, "a"] = np.nan
    tree = odt("y ~ a + b", frame, leaves="linear", max_leaves=1, seed=1)
    lines = tree.lines.set_index("column")
    assert np.isnan(lines.fill["b"])
    a = frame.a.mul(lines.coefficient["a"]).fillna(lines.fill["a"])
    expected = lines.coefficient[INTERCEPT] + a + lines.coefficient["b"] * frame.b
    close = np.isclose(tree.predict(frame), expected, atol=1e-5)
    assert close.mean() > 0.9
    assert close[::7].any()
    assert "if a is missing" in tree.rules(digits=3)


def test_nodes_and_rules_form_the_tree(tree, data):
    nodes = tree.nodes
    leaves = nodes[nodes.leaf]
    assert leaves["count"].sum() == nodes["count"].iloc[0] == len(data)
    assert nodes.value.iloc[0] == pytest.approx(data.y.mean())
    rules = tree.rules()
    assert rules.splitlines()[1].endswith("* marks a leaf and its line")
    assert rules.count("line:") == tree.n_leaves == len(leaves)
    assert all(line.endswith("*") for line in rules.splitlines() if "line:" in line)


def test_rules_keep_the_largest_terms(tree):
    short = tree.rules(max_terms=1)
    assert len(short) < len(tree.rules(max_terms=None))
    assert re.search(r"\+ \d+ more", short)


def test_paths_of_pruning_lead_from_the_root_to_the_tree(tree, data):
    sizes = tree.pruning_path().table.leaves.tolist()
    assert sizes == sorted(sizes, reverse=True)
    assert 1 == sizes[-1] < sizes[0] <= tree.n_leaves
    path = tree.pruning_path(newdata=data)
    assert path.table.leaves.tolist() == sizes
    held_out = path.table.set_index("leaves").xerror * data.y.var(ddof=0)
    for leaves in (1, sizes[0]):
        subtree = tree.prune(leaves=leaves)
        assert isinstance(subtree, LineTreeResults)
        assert subtree.n_leaves == leaves
        expected = np.mean((data.y - subtree.predict(data)) ** 2)
        assert subtree.training_error == pytest.approx(expected, rel=1e-6)
        assert held_out[leaves] == pytest.approx(expected, rel=1e-6)


def test_growth_is_a_path_of_trees_with_lines(tree, data):
    path = tree.growth_path(newdata=data).table.set_index("leaves")
    assert set(path.index) == set(range(1, tree.n_leaves + 1))
    np.testing.assert_allclose(path.train, path.test, rtol=1e-9)
    assert path.train[tree.n_leaves] == pytest.approx(tree.training_error, rel=1e-6)


@pytest.mark.parametrize("alpha", ["cv", "1se"])
def test_cross_validation_chooses_a_small_tree(data, alpha):
    tree = odt("y ~ a + b", data, leaves="linear", alpha=alpha, seed=1)
    assert 2 <= tree.n_leaves < tree.parent.n_leaves
    assert "Held-out MSE" in str(tree.summary())


def test_effects_are_means_of_predictions(tree, data):
    effect = tree.partial("a").table
    point = effect.iloc[len(effect) // 2]
    each = tree.predict(data.assign(a=point["value"]))
    assert point["estimate"] == pytest.approx(each.mean(), rel=1e-5)
    curves = tree.ice("a").table
    at = curves[curves.value == point["value"]].set_index("row").estimate
    np.testing.assert_allclose(at, each[at.index], rtol=1e-4)
    slope = tree.ale("a").table
    assert slope.estimate.iloc[-1] > slope.estimate.iloc[0] + 0.2


def test_predictions_have_the_index_of_the_rows(tree, data):
    new = data.drop(columns="y").iloc[[5, 3]].set_axis(["p", "q"])
    assert tree.predict(new).index.tolist() == ["p", "q"]
    each = tree.predict(new, type="trees")
    np.testing.assert_array_equal(each.iloc[:, 0], tree.predict(new))
    np.testing.assert_allclose(tree.resid, data.y - tree.fittedvalues)


def test_texts_and_pictures_say_that_leaves_have_lines(tree):
    text = str(tree.summary())
    assert "tree with lines in leaves: regression" in text
    assert "a line, at most 5 % beyond the range of their rows" in text
    assert "Tried per node" not in text
    axes = tree.plot()
    drawn = " ".join(one.get_text() for one in axes.texts)
    assert "*a" in drawn or "*b" in drawn
    assert "digraph" in tree.to_dot()


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"formula": "f ~ a + b"}, "needs a response of numbers"),
        ({"formula": "Surv(time, event) ~ a"}, "needs a response of numbers"),
        ({"honest": True}, 'honest=True is for leaves="constant"'),
        ({"missing": "surrogate"}, 'missing="surrogate" is for leaves="constant"'),
        ({"projection": "axis"}, "projection='axis' is for leaves=\"constant\""),
        ({"subset_size": 2}, 'subset_size=2 is for leaves="constant"'),
        ({"n_projections": 3}, 'n_projections=3 is for leaves="constant"'),
        ({"n_singles": 1}, 'n_singles=1 is for leaves="constant"'),
        ({"criterion": "squared_error"}, "criterion='squared_error' is for"),
        ({"penalty": "bic"}, "penalty='bic' is for"),
        ({"n_thresholds": 5}, 'n_thresholds=5 is for leaves="constant"'),
        ({"split_search": "exact"}, "split_search='exact' is for"),
        ({"split_scale": "ranks"}, "split_scale='ranks' is for"),
        ({"leaves": "line"}, "leaves='line'"),
        ({"leaves": 2}, "leaves=2"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_what_does_not_go_with_lines_is_refused(data, options, words):
    times = data.assign(time=data.a + 0.1, event=1)
    options = {"formula": "y ~ a + b", "leaves": "linear", "seed": 1, **options}
    with pytest.raises(InputError, match=re.escape(words)):
        odt(options.pop("formula"), times, **options)


def test_what_a_tree_of_lines_lacks_says_why(tree):
    for name, why in (("update", "constant"), ("consistency", "theorems")):
        with pytest.raises(AttributeError, match=f"^LineTreeResults has no '{name}': ") as caught:
            getattr(tree, name)
        assert why in str(caught.value)
        assert name not in dir(tree)


def test_a_forest_has_no_lines(data):
    with pytest.raises(TypeError, match="leaves"):
        odrf.odrf("y ~ a", data, leaves="linear")


def test_errors_of_a_path_are_relative_to_those_of_a_constant(tree, data):
    table = tree.pruning_path(newdata=data).table
    np.testing.assert_allclose(table.relative_error, table.error / data.y.var(ddof=0))
    assert table.relative_error.iloc[-1] < 1  # the line of the root is better than a constant


@pytest.mark.parametrize(
    ("response", "kind"),
    [("a + b + c", "LineTreeResults"), ("0 * a", "ODTResults")],
)
def test_auto_leaves_are_those_with_the_smaller_error_of_cross_validation(data, response, kind):
    rng = np.random.default_rng(1)
    table = data.assign(y=data.eval(response).astype(float) + rng.normal(size=len(data)) / 50)
    chosen = odt("y ~ a + b + c", table, leaves="auto", seed=1)
    errors = {
        leaves: odt("y ~ a + b + c", table, leaves=leaves, seed=1).fit.pruning.path.nested["min"][0]
        for leaves in ("constant", "linear")
    }
    best = min(errors, key=errors.get)
    assert (
        type(chosen).__name__
        == kind
        == {"constant": "ODTResults", "linear": "LineTreeResults"}[best]
    )
    assert chosen.fit.request.leaves == best
    classes = odt("f ~ a + b", data, leaves="auto", seed=1)
    assert type(classes).__name__ == "ODTResults"


def test_auto_leaves_need_cross_validation(data):
    with pytest.raises(InputError, match=r'leaves="auto" chooses by cross-validation.*alpha="cv"'):
        odt("y ~ .", data, leaves="auto", alpha=None)
