"""Critical α of splits against their definitions: every subtree's cost compared."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.datasets import load_breast_cancer, load_diabetes, load_iris, load_wine
from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

import odrf
from odrf.engine.resamples import ALL_ROWS, Sampling
from odrf.engine.trees.routing import leaf_nodes
from odrf.fits.pruning import grown_without
from odrf.fits.responses import folds_asked
from odrf.pruning.complexity import (
    LOG_RANK,
    LOSSES,
    RULES,
    chosen,
    critical_alphas,
    decreases,
    growth_errors,
    nested_subtrees,
    pruned,
    root_losses,
    with_leaves,
    with_split_statistics,
)
from problems import noisy, plain, problems
from reference.exponential import rows_of_nodes
from reference.pruning import all_subtrees, loss_in_leaves, weakest_links
from reference.survival import Rows, log_rank, statistic
from stumps import stump

rules = st.sampled_from(RULES)
losses = st.sampled_from(LOSSES)
unhurried = settings(deadline=None, max_examples=60)


@st.composite
def grown(draw, n_trees=1, max_leaves=1000):
    """A problem without resampling, and its trees."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    problem = problem.but(max_leaves=min(max_leaves, problem.settings.max_leaves))
    return problem, problem.grow(n_trees)


def cost(problem, tree, alpha):
    return loss_in_leaves(problem, tree) + alpha * int(tree.leaves()[0])


def alpha_of_share(tree, share):
    """An α: this multiple of the mean decrease of the error per split."""
    return share * decreases(tree).sum() / max(int(tree.leaves()[0]) - 1, 1)


@unhurried
@given(grown(), st.integers(1, 30))
def test_decreases_add_up_to_the_error_removed(case, leaves):
    problem, tree = case
    some = with_leaves(tree, min(leaves, int(tree.leaves()[0])), "growth")
    left = root_losses(some)[0] - decreases(some).sum()
    assert left == pytest.approx(loss_in_leaves(problem, some), rel=1e-9, abs=1e-10)


@unhurried
@given(grown(max_leaves=7), st.floats(0, 3))
def test_no_subtree_costs_less_than_the_weakest_link_s(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    least = cost(problem, pruned(tree, critical_alphas(tree), alpha), alpha)
    children = {node: int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}
    for splits in all_subtrees(children):
        kept = np.isin(np.arange(tree.n_nodes), list(splits))
        assert least <= cost(problem, tree.keeping(kept), alpha) + 1e-9


@unhurried
@given(grown(), st.floats(0, 3))
def test_no_earlier_tree_costs_less_than_the_growth_order_s(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    chosen = pruned(tree, critical_alphas(tree, "growth"), alpha)
    costs = growth_errors(tree) + alpha * np.arange(1, len(growth_errors(tree)) + 1)
    assert cost(problem, chosen, alpha) == pytest.approx(costs.min(), rel=1e-9, abs=1e-10)


@unhurried
@given(grown(), st.floats(0, 3))
def test_the_weakest_link_never_costs_more_than_the_growth_order(case, share):
    problem, tree = case
    alpha = alpha_of_share(tree, share)
    by_rule = [
        cost(problem, pruned(tree, critical_alphas(tree, rule), alpha), alpha) for rule in RULES
    ]
    assert by_rule[0] <= by_rule[1] + 1e-10


@unhurried
@given(grown(), rules, losses, st.floats(0, 3), st.floats(0, 3))
def test_subtrees_are_nested(case, rule, loss, one, other):
    _, tree = case
    critical = critical_alphas(tree, rule, loss)
    small = pruned(tree, critical, alpha_of_share(tree, max(one, other)), loss)
    large = pruned(tree, critical, alpha_of_share(tree, min(one, other)), loss)
    assert ((large.left >= 0) | (small.left < 0)).all()


@unhurried
@given(grown(), rules, losses)
def test_alpha_0_keeps_every_useful_split_and_an_infinite_alpha_none(case, rule, loss):
    _, tree = case
    critical, decrease = critical_alphas(tree, rule, loss), decreases(tree, loss)
    free = pruned(tree, critical, 0.0, loss)
    assert decreases(free, loss).sum() == pytest.approx(decrease.sum(), rel=1e-9, abs=1e-10)
    smallest = nested_subtrees(tree, rule, loss).leaves[0]
    assert free.leaves()[0] == smallest <= tree.leaves()[0]
    assert pruned(tree, critical, np.inf, loss).leaves()[0] == 1


@unhurried
@given(grown(n_trees=3), rules, losses, st.floats(0, 0.2))
def test_each_tree_of_a_forest_is_pruned_on_its_own(case, rule, loss, alpha):
    _, forest = case
    together = pruned(forest, critical_alphas(forest, rule, loss), alpha, loss)
    for b in range(3):
        tree = forest.tree(b)
        alone = pruned(tree, critical_alphas(tree, rule, loss), alpha, loss)
        np.testing.assert_array_equal(together.tree(b).left, alone.left)


@pytest.mark.parametrize("unit", [2.0**-20, 1.0, 2.0**20])
@pytest.mark.parametrize("rule", RULES)
def test_an_alpha_within_rounding_of_a_critical_one_is_tied_with_it(rule, unit):
    """The tolerance is relative to the error of the root, and a tie goes to the smaller tree."""
    problem = noisy(60, min_leaf=5)
    tree = replace(problem, y=problem.y * unit).grow()
    critical, root = critical_alphas(tree, rule), root_losses(tree)[0]
    splits = tree.left >= 0
    assert splits.sum() > 5
    for alpha in np.unique(critical[splits]):
        tied = pruned(tree, critical, alpha - 0.6e-12 * root)
        assert ((tied.left >= 0) == (critical > alpha)).all()
        below = pruned(tree, critical, alpha - 0.9e-12 * root)
        assert ((below.left >= 0) == (splits & (critical >= alpha))).all()


@pytest.mark.parametrize("weight", [10.0, 10.0 * 2.0**-30])
def test_a_loss_that_grows_by_rounding_alone_does_not_grow(weight):
    """A share of 1e-10 of the root's loss is rounding; more is not."""
    tree = stump({0: 1.0}, 0.5)
    tree = replace(tree, weight=tree.weight / 10 * weight)
    for growth, expected in [(1e-11, 0.0), (0.9e-10, 0.0), (1.1e-10, -2.2e-10), (1e-3, -2e-3)]:
        worse = replace(tree, impurity=2.0 * np.array([1.0, 1.0, 1.0 + growth / 0.6]))
        assert decreases(worse)[0] == pytest.approx(expected, rel=1e-4, abs=0)
    better = replace(tree, impurity=2.0 * np.array([1.0, 1.0, 1.0 - 1e-11 / 0.6]))
    assert decreases(better)[0] == pytest.approx(2e-11, rel=1e-3)


@pytest.mark.parametrize("rule", RULES)
def test_critical_alphas_are_rounded_and_not_negative(rule):
    tree = stump({0: 1.0}, 0.5)
    third = replace(tree, impurity=np.array([2.0, 1.0, 14 / 9]))
    assert critical_alphas(third, rule)[0] == 2 * 0.333333333333
    worse = replace(tree, impurity=np.array([2.0, 2.0, 3.0]))
    assert critical_alphas(worse, rule).tolist() == [0.0, 0.0, 0.0]


def test_a_split_without_gain_is_kept_for_the_splits_below_it():
    # the root's split decreases nothing, the next two everything: y is the parity of two signs
    X = np.array([[0.0, 0.0, 1.0, 1.0, 0.1], [0.0, 1.0, 0.0, 1.0, 0.0]])
    tree = plain(X, [0, 1, 1, 0, 0], n_singles=2).grow()
    for rule in RULES:
        subtrees = nested_subtrees(tree, rule)
        assert subtrees.error[0] == pytest.approx(0, abs=1e-12)
        assert list(subtrees.leaves) == [tree.leaves()[0], 1]
        assert subtrees.alpha[1] == pytest.approx(subtrees.error[1] / (tree.leaves()[0] - 1))


def test_splits_pruned_before_do_not_count():
    tree = plain(np.arange(16.0)[None], np.arange(16) ** 2).grow()
    for rule in RULES:
        cut = with_leaves(tree, 4, rule)
        assert (critical_alphas(cut, rule)[cut.left < 0] == 0).all()
        assert nested_subtrees(cut, rule).leaves[0] == cut.leaves()[0]


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize("loss", LOSSES)
def test_a_tree_without_loss_has_no_split_to_prune(rule, loss):
    data = pd.DataFrame({"a": np.arange(12.0), "y": ["one"] + 11 * ["other"]})
    forest = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1).forest
    lossless = np.repeat(root_losses(forest, loss) == 0, np.diff(forest.root))
    assert 0 < lossless.sum() < len(lossless)
    critical = critical_alphas(forest, rule, loss)
    assert np.isfinite(critical).all() and not critical[lossless].any()


# ------------------------------------------------------------------------------------------------
# Trees for survival times, pruned by the log-rank statistics of their splits.
# ------------------------------------------------------------------------------------------------

FORMULA = "Surv(time, event) ~ ."


def rows(n=160, seed=3, causes=1):
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.random((n, 3)), columns=["a", "b", "c"])
    time = rng.exponential(1 / np.exp(3 * x["a"] - 2 * (x["b"] > 0.6))) + 0.01
    event = np.where(rng.random(n) < 0.75, rng.integers(1, causes + 1, n), 0)
    if causes == 1:
        return x.assign(time=time, event=event)
    names = pd.Categorical.from_codes(event, ["censored", "one", "other"])
    return x.assign(time=time, event=names)


@pytest.fixture(scope="module")
def tree():
    return odrf.odt(FORMULA, rows(), alpha=None, max_leaves=9, seed=1)


def of_groups(time, event, left, weights=None):
    """The log-rank statistic of two groups of rows."""
    weights = np.ones(len(time)) if weights is None else weights
    rows = Rows(time.tolist(), [int(e) for e in event], weights.tolist(), [0.0] * len(time))
    return statistic(*log_rank(rows, left.tolist(), [0] * len(time)))


def below(nodes, node):
    of = nodes.loc[node]
    if of["leaf"]:
        return [node]
    return below(nodes, of["left"]) + below(nodes, of["right"])


@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_show_the_statistic_of_each_split(weighted):
    data = rows()
    weights = np.random.default_rng(1).integers(1, 5, len(data)) * 1.0
    given = weights if weighted else None
    tree = odrf.odt(FORMULA, data, weights=given, alpha=None, max_leaves=6, seed=1)
    leaf, nodes = tree.predict(type="leaf")[0].to_numpy(), tree.nodes
    assert nodes["log_rank"].isna().equals(nodes["leaf"])
    for node in nodes.index[~nodes["leaf"]]:
        left = np.isin(leaf, below(nodes, nodes["left"][node]))
        here = np.isin(leaf, below(nodes, node))
        time, event = data["time"].to_numpy()[here], data["event"].to_numpy()[here]
        counts = weights[here] if weighted else None
        expected = of_groups(time, event, left[here], counts)
        assert nodes["log_rank"][node] == pytest.approx(expected)


def test_the_path_takes_the_subtrees_by_their_statistics(tree):
    table = tree.pruning_path(loss="log_rank", cv=None).table
    statistics = tree.nodes["log_rank"]
    assert table["error"].iloc[-1] == pytest.approx(statistics.sum())
    for alpha, leaves, error in table[["alpha", "leaves", "error"]].to_numpy():
        small = tree.prune(alpha=alpha, loss="log_rank")
        assert small.n_leaves == leaves
        kept = small.nodes["log_rank"].sum()
        assert kept == pytest.approx(statistics.sum() - error)
        # what is told of the nodes stays
        columns = ["weight", "impurity", "relative_hazard"]
        assert small.nodes[columns].equals(tree.nodes.loc[small.nodes.index, columns])


def test_a_tree_is_pruned_by_each_choice(tree):
    path = tree.pruning_path(loss="log_rank", cv=4)
    assert path.loss == "log_rank"
    assert path.best("min").nodes.equals(tree.prune(rule="min", path=path).nodes)
    assert tree.prune(rule="1se", loss="log_rank").path.is_evaluated
    assert tree.prune(leaves=3, loss="log_rank").n_leaves <= 3
    small = tree.prune(alpha=1e9, loss="log_rank")
    assert small.n_leaves == 1
    assert small.fit.call.endswith(".prune(alpha=1000000000.0, loss='log_rank')")
    # alpha= of odt() is on another scale
    assert small.fit.control.alpha is None
    assert "log-rank" in str(path.summary())
    assert "log-rank" in tree.pruning_path(loss="log_rank", cv=None).plot().get_ylabel()


@pytest.mark.parametrize("loss", ["error", "log_rank"])
def test_held_out_rows_evaluate_by_the_deviance(tree, loss):
    path = tree.pruning_path(loss=loss, newdata=rows())
    for k, error in enumerate(path.table["xerror"]):
        nodes = path.tree(k).nodes
        leaves = nodes[nodes["leaf"]]
        total = (leaves["weight"] * leaves["impurity"]).sum()
        root = (nodes["weight"] * nodes["impurity"])[0]
        assert error == pytest.approx(total / root)


@pytest.mark.parametrize("causes", [1, 2])
def test_statistics_of_folds_are_as_of_all_rows(causes):
    data, fold = rows(causes=causes), np.arange(160) % 4
    tree = odrf.odt(FORMULA, data, alpha=None, max_leaves=6, seed=1)
    _, grown = grown_without(tree.fit, folds_asked(tree.fit, fold, 1, ""), 1, False, "log_rank")
    time, event = tree.fit.times.time, tree.fit.times.event
    for f, (of_fold, _) in enumerate(grown):
        leaf, total = leaf_nodes(of_fold, tree.fit.data.X, 1)[:, 0], 0.0
        branches = rows_of_nodes(of_fold.left, 0, leaf)
        for node in np.flatnonzero(of_fold.is_split()):
            here = branches[node][fold[branches[node]] != f]
            left = np.isin(here, branches[of_fold.left[node]])
            for cause in range(1, causes + 1):
                total += of_groups(time[here], event[here] == cause, left)
        assert of_fold.impurity[0] == pytest.approx(total * 160 / 120)


def test_trees_of_folds_with_causes_are_pruned_by_the_deviance():
    data = rows(300, causes=2)
    tree = odrf.odt(FORMULA, data, alpha=None, max_leaves=8, seed=1)
    path = tree.pruning_path(cv=3, seed=1).table
    # of several values of a node, those of classes would make other trees of the folds
    by_deviance = tree.pruning_path(cv=3, seed=1, loss="impurity").table
    pd.testing.assert_frame_equal(path, by_deviance)


def test_losses_that_do_not_fit_are_refused(tree):
    path = tree.pruning_path(loss="log_rank", cv=None)
    with pytest.raises(odrf.InputError, match="is not that of path="):
        tree.prune(leaves=2, loss="error", path=path)
    with pytest.raises(odrf.InputError, match="loss='log-rank'"):
        tree.prune(leaves=2, loss="log-rank")
    other = odrf.odt("a ~ b + c", rows(), alpha=None, seed=1)
    for call in (other.pruning_path, lambda loss: other.prune(leaves=1, loss=loss)):
        with pytest.raises(odrf.InputError, match="survival times"):
            call(loss="log_rank")


def test_saved_trees_keep_their_statistics(tree, tmp_path):
    tree.save(tmp_path / "tree")
    again = odrf.load(tmp_path / "tree")
    assert again.nodes.equals(tree.nodes)
    small, same = (one.prune(alpha=20, loss="log_rank") for one in (tree, again))
    assert 1 < small.n_leaves < tree.n_leaves and small.nodes.equals(same.nodes)
    small.save(tmp_path / "small")
    kept = odrf.load(tmp_path / "small")
    assert kept.nodes.equals(small.nodes) and kept.path.loss == "log_rank"
    assert kept.parent.nodes.equals(tree.nodes)


def test_trees_of_classes_are_pruned_by_the_loss_that_is_given():
    data = rows(120).assign(kind=lambda of: np.where(of["a"] + of["c"] > 1, "u", "v"))
    tree = odrf.odt("kind ~ a + b", data, alpha=None, seed=1)
    small = tree.prune(alpha=0.05, loss="impurity")
    path = tree.pruning_path(loss="impurity", cv=None)
    assert small.path.loss == "impurity"
    assert small.nodes.equals(tree.prune(alpha=0.05, path=path).nodes)


# ------------------------------------------------------------------------------------------------
# Nested subtrees: what each α chooses, and trees of a given size.
# ------------------------------------------------------------------------------------------------


@st.composite
def grown_of_subtrees(draw):
    """A problem without resampling, and its tree."""
    problem = replace(draw(problems()), sampling=Sampling(ALL_ROWS, 1.0))
    return problem, problem.grow()


@unhurried
@given(grown_of_subtrees())
def test_errors_along_the_growth_are_those_of_the_subtrees(case):
    problem, tree = case
    errors = growth_errors(tree)
    counted = [
        loss_in_leaves(problem, with_leaves(tree, leaves + 1, "growth"))
        for leaves in range(len(errors))
    ]
    np.testing.assert_allclose(errors, counted, rtol=1e-9, atol=1e-10)
    assert len(errors) == tree.leaves()[0]


@unhurried
@given(grown_of_subtrees(), rules)
def test_errors_on_the_path_are_those_of_the_subtrees(case, rule):
    problem, tree = case
    critical, subtrees = critical_alphas(tree, rule), nested_subtrees(tree, rule)
    for alpha, error in zip(subtrees.alpha, subtrees.error, strict=True):
        counted = loss_in_leaves(problem, pruned(tree, critical, alpha))
        assert error == pytest.approx(counted, rel=1e-9, abs=1e-10)


@unhurried
@given(grown_of_subtrees(), rules, losses)
def test_the_path_lists_the_subtree_of_every_alpha(case, rule, loss):
    _, tree = case
    critical, path = critical_alphas(tree, rule, loss), nested_subtrees(tree, rule, loss)
    assert path.alpha[0] == 0
    assert path.leaves[-1] == 1
    assert (np.diff(path.alpha) > 0).all()
    assert (np.diff(path.leaves) < 0).all()
    assert (np.diff(path.error) > 0).all()
    until = np.append(path.alpha[1:], path.alpha[-1] + 1.0)
    for first, last, leaves in zip(path.alpha, until, path.leaves, strict=True):
        assert pruned(tree, critical, first, loss).leaves()[0] == leaves
        assert pruned(tree, critical, (first + last) / 2, loss).leaves()[0] == leaves


@unhurried
@given(grown_of_subtrees(), rules, losses)
def test_a_tree_of_each_size_is_the_largest_that_there_is(case, rule, loss):
    _, tree = case
    sizes = set(nested_subtrees(tree, rule, loss).leaves.tolist())
    for leaves in range(1, int(tree.leaves()[0]) + 1):
        found = int(with_leaves(tree, leaves, rule, loss).leaves()[0])
        largest = max(size for size in sizes if size <= leaves)
        assert found == (leaves if rule == "growth" else largest)


def test_a_pruned_tree_keeps_its_numbering():
    tree = plain(np.arange(8.0)[None], np.arange(8) ** 2).grow()
    cut = with_leaves(tree, 3, "growth")
    np.testing.assert_array_equal(cut.order, tree.order)
    np.testing.assert_array_equal(np.sort(cut.order[cut.left >= 0]), [1, 2])
    np.testing.assert_allclose(growth_errors(cut), growth_errors(tree)[:3])


# ------------------------------------------------------------------------------------------------
# Subtrees by split complexity against all subtrees, and against weakest links cut one by one.
# ------------------------------------------------------------------------------------------------


@st.composite
def told_trees(draw, max_leaves=8):
    """A tree, and statistics of its splits: ties and zeros among them."""
    problem = draw(problems())
    tree = problem.but(max_leaves=min(max_leaves, problem.settings.max_leaves)).grow(1)
    rng = np.random.default_rng(draw(st.integers(0, 2**32)))
    known = [rng.chisquare(1, tree.n_nodes) * 9, rng.integers(0, 5, tree.n_nodes) * 1.0]
    return tree, known[draw(st.integers(0, 1))]


def children_of(tree):
    return {int(node): int(tree.left[node]) for node in np.flatnonzero(tree.left >= 0)}


@unhurried
@given(told_trees(), st.floats(0, 12))
def test_no_subtree_has_a_larger_split_complexity(case, alpha):
    tree, statistic = case
    told, children = with_split_statistics(tree, statistic), children_of(tree)
    kept = pruned(told, critical_alphas(told, loss=LOG_RANK), alpha, LOG_RANK).is_split()
    found = statistic[kept].sum() - alpha * kept.sum()
    for splits in all_subtrees(children):
        other = sum(statistic[node] - alpha for node in splits)
        assert other <= found + 1e-9


@unhurried
@given(told_trees())
def test_splits_go_with_the_weakest_links(case):
    tree, statistic = case
    told, children = with_split_statistics(tree, statistic), children_of(tree)
    gone = weakest_links(children, dict(enumerate(statistic)))
    critical = critical_alphas(told, loss=LOG_RANK)
    for node in children:
        assert critical[node] == pytest.approx(gone[node], abs=1e-9)


@unhurried
@given(told_trees())
def test_the_error_is_the_sum_over_the_splits_left_out(case):
    tree, statistic = case
    told, splits = with_split_statistics(tree, statistic), tree.is_split()
    assert decreases(told, LOG_RANK) == pytest.approx(np.where(splits, statistic, 0), abs=1e-9)
    path = nested_subtrees(told, loss=LOG_RANK)
    for alpha, leaves, error in zip(path.alpha, path.leaves, path.error, strict=True):
        kept = splits & (path.critical > alpha)
        assert leaves == kept.sum() + 1
        assert error == pytest.approx(statistic[splits & ~kept].sum(), abs=1e-9)


@unhurried
@given(told_trees(), st.floats(0, 12))
def test_a_pruned_tree_has_the_statistics_of_the_splits_that_are_left(case, alpha):
    tree, statistic = case
    told = with_split_statistics(tree, statistic)
    critical = critical_alphas(told, loss=LOG_RANK)
    smaller = tree.keeping(critical > alpha)
    again = with_split_statistics(smaller, statistic)
    kept = smaller.is_split()
    assert again.impurity[0] == pytest.approx(statistic[kept].sum())
    # what was pruned leaves the links of the rest as they are
    assert critical_alphas(again, loss=LOG_RANK)[kept] == pytest.approx(critical[kept])


# ------------------------------------------------------------------------------------------------
# Weakest links against scikit-learn's and rpart's, on trees that they grow alike.
# ------------------------------------------------------------------------------------------------


def frame(bunch):
    """The table as float32, in which scikit-learn searches for cuts."""
    X = bunch.data.astype(np.float32).astype(float)
    data = pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])])
    return data.assign(y=bunch.target)


def cart(data, kind, **options):
    return odrf.odt(
        "y ~ .",
        data,
        projection="axis",
        alpha=None,
        kind=kind,
        split_search="exact",
        seed=1,
        **options,
    )


def scaled(data):
    """Predictors as the engine sees them, so that both cut between the same numbers."""
    X = data.drop(columns="y")
    return ((X - X.min()) / (X.max() - X.min())).astype(np.float32)


# Grown until no node can be split: on these tables no two cuts of a node tie in gain.
@pytest.mark.parametrize(
    ("load", "kind"),
    [
        (load_diabetes, "regression"),
        (load_breast_cancer, "classification"),
        (load_wine, "classification"),
    ],
)
def test_the_sequence_is_that_of_scikit_learn(load, kind):
    data = frame(load())
    table = cart(data, kind, min_leaf=1).pruning_path(cv=None, loss="impurity").table
    model = DecisionTreeRegressor if kind == "regression" else DecisionTreeClassifier
    theirs = model(random_state=0).cost_complexity_pruning_path(scaled(data), data["y"])
    alphas, impurities = theirs.ccp_alphas, theirs.impurities
    root = impurities[-1]
    # of subtrees that the same α ties, the smallest is theirs too
    last = np.append(np.diff(alphas) > 1e-11 * root, True)
    np.testing.assert_allclose(table["alpha"] / root, alphas[last] / root, rtol=0, atol=1e-10)
    np.testing.assert_allclose(table["error"] / root, impurities[last] / root, rtol=0, atol=1e-10)


def test_iris_has_the_complexity_parameters_that_rpart_prints():
    # printcp(rpart(Species ~ ., iris)): CP 0.50, 0.44, 0.01; relative error 1.00, 0.50, 0.06
    data = frame(load_iris())
    tree = cart(data, "classification", max_leaves=3)
    table = tree.pruning_path(cv=None).table
    root = table["error"].iloc[-1]
    assert table["leaves"].tolist() == [3, 2, 1]
    np.testing.assert_allclose(table["alpha"] / root, [0.0, 0.44, 0.50], atol=1e-12)
    np.testing.assert_allclose(table["relative_error"], [0.06, 0.50, 1.00], atol=1e-12)


# ------------------------------------------------------------------------------------------------
# Which row the held-out errors choose.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("error", "std_error", "least", "one_se"),
    [
        ([3, 2, 1, 2, 4], [1, 1, 1, 1, 1], 2, 3),
        ([1, 1, 1], [0, 0, 0], 2, 2),
        ([1, 5, 1.5], [0.4, 9, 9], 0, 0),
        ([1, 5, 1.5], [0.5, 0, 0], 0, 2),
        ([7], [0], 0, 0),
        ([np.nan, np.nan], [np.nan, np.nan], 1, 1),
        ([3, 1, 2], [np.nan, np.nan, np.nan], 1, 1),
        # of two of the least error, the smaller tree tells how large one standard error is
        ([1, 1, 1.4, 2], [1, 0.5, 0, 0], 1, 2),
        ([1, 1, 1.4, 2], [0, 1, 0, 0], 1, 3),
    ],
)
def test_choices(error, std_error, least, one_se):
    error, std_error = np.array(error, dtype=float), np.array(std_error, dtype=float)
    assert chosen(error, std_error, "min") == least
    assert chosen(error, std_error, "1se") == one_se


@given(st.lists(st.tuples(st.floats(0, 9), st.floats(0, 3)), min_size=1))
def test_one_standard_error_never_takes_a_larger_tree(rows):
    error, std_error = np.array(rows).T
    least = chosen(error, std_error, "min")
    assert error[least] == error.min()
    assert chosen(error, std_error, "1se") >= least
