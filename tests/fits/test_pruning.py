"""Sizes of trees that a fit asks to be found on held-out rows."""

from __future__ import annotations

import math

import numpy as np
import pytest

import odrf
from forests import same_bits
from odrf import InputError
from odrf.pruning.complexity import critical_alphas, pruned
from odrf.pruning.growth_stages import IN_WORDS
from reference.forests import leaf

FORMULA = "y ~ a + b + f"


@pytest.mark.parametrize(("alpha", "rule"), [("cv", "min"), ("1se", "1se")])
def test_alpha_by_folds(table, number_tree, alpha, rule):
    tree = odrf.odt(FORMULA, table, alpha=alpha, seed=1)
    by_hand = number_tree.pruning_path().best(rule)
    assert tree.nodes.equals(by_hand.nodes)
    assert tree.control.alpha == by_hand.control.alpha
    assert tree.call == f"odt('{FORMULA}', data, alpha='{alpha}', seed=1)"
    assert tree.parent.n_leaves == number_tree.n_leaves
    assert tree.path.row(rule) >= 0
    text = str(tree.summary())
    assert {"cv": "smallest error", "1se": "1-SE rule"}[alpha] + ", 10-fold" in text


@pytest.mark.parametrize("formula", [FORMULA, "c ~ a + b + f"])
def test_by_default_a_tree_is_pruned_at_the_smallest_error(table, formula):
    tree, asked = odrf.odt(formula, table, seed=1), odrf.odt(formula, table, alpha="cv", seed=1)
    grown = odrf.odt(formula, table, alpha=None, seed=1)
    assert same_bits(tree.forest, asked.forest)
    assert same_bits(tree.parent.forest, grown.forest) and grown.parent is None
    assert tree.n_leaves == grown.prune(rule="min").n_leaves < grown.n_leaves
    text = " ".join(str(tree.summary()).split())
    assert f"(smallest error, 10-fold cross-validation), from {grown.n_leaves} leaves" in text
    assert tree.call == f"odt('{formula}', data, seed=1)"
    assert grown.call == f"odt('{formula}', data, alpha=None, seed=1)"


@pytest.mark.parametrize("options", [{"max_leaves": 15}, {"max_depth": 4}, {"penalty": "aic"}])
def test_a_tree_that_is_limited_is_not_pruned_by_default(table, options):
    tree = odrf.odt(FORMULA, table, seed=1, **options)
    assert tree.parent is None
    assert same_bits(tree.forest, odrf.odt(FORMULA, table, alpha=None, seed=1, **options).forest)


def test_a_tree_of_few_rows_is_not_pruned_by_default(table):
    assert odrf.odt(FORMULA, table[:19], seed=1).parent is None
    assert odrf.odt(FORMULA, table[:20], seed=1).parent is not None


@pytest.mark.parametrize(
    ("name", "rate"),
    [("log6/n", lambda n: math.log(n) ** 6 / n), ("1/sqrt(n)", lambda n: n**-0.5)],
)
@pytest.mark.parametrize("pruning", ["weakest_link", "growth"])
def test_alpha_by_rate(table, number_tree, name, rate, pruning):
    tree = odrf.odt(FORMULA, table, alpha=name, pruning=pruning, seed=1)
    rule = tree.control.alpha_rule
    assert (rule.kind, rule.name, rule.found_by) == ("rate", name, "10-fold cross-validation")
    assert tree.control.alpha == rule.along[0] == pytest.approx(rule.constant * rate(120))
    assert f"·{IN_WORDS[name]}, constant by 10-fold cross-validation" in str(tree.summary())
    # the rate carries what the folds found, for nine tenths of the rows, over to all of them
    alpha = tree.path.table["alpha"].to_numpy()
    k = tree.path.row("min")
    best = math.sqrt(alpha[k] * alpha[k + 1])
    assert tree.control.alpha == pytest.approx(best * rate(120) / rate(108))
    path = number_tree.pruning_path(pruning, cv=None)
    assert tree.nodes.equals(number_tree.prune(alpha=tree.control.alpha, path=path).nodes)


@pytest.mark.parametrize(
    ("name", "rate"), [("sqrt", math.sqrt), ("n/log5", lambda n: n / math.log(n) ** 5)]
)
def test_leaves_by_rate(table, number_tree, name, rate):
    tree = odrf.odt(FORMULA, table, max_leaves=name, seed=1)
    leaves = tree.control.max_leaves
    assert tree.n_leaves == leaves
    assert 1 < leaves <= number_tree.n_leaves
    constant = tree.control.max_leaves_rule.constant
    assert leaves == pytest.approx(constant * rate(120), abs=0.6)
    path = number_tree.pruning_path("growth", cv=None)
    assert tree.nodes.equals(number_tree.prune(leaves=leaves, path=path).nodes)
    assert f"{IN_WORDS[name]}, constant by 10-fold" in str(tree.summary())


def test_rules_of_the_user(table):
    def slowly(n):
        return 1 / n

    tree = odrf.odt(FORMULA, table, alpha=slowly, seed=1)
    assert (tree.control.alpha, tree.control.alpha_rule.name) == (1 / 120, "slowly")
    assert "rule slowly at n = 120" in str(tree.summary())


@pytest.mark.parametrize("alpha", ["oob", "log6/n", "1/sqrt(n)"])
def test_alpha_of_a_forest_out_of_bag(table, alpha):
    forest = odrf.odrf(FORMULA, table, n_trees=12, alpha=alpha, seed=1)
    path = forest.parent.pruning_path()
    if alpha == "oob":
        assert forest.n_leaves.mean() == path.table["leaves"][path.row("min")]
        assert forest.oob_error >= path.table["error"].min() - 1e-12
        assert "smallest out-of-bag error" in str(forest.summary())
    else:
        k = path.row("min")
        assert path.table["alpha"][k] <= forest.control.alpha <= path.table["alpha"][k + 1]
        assert f"{IN_WORDS[alpha]}, constant out of bag" in str(forest.summary())


@pytest.mark.parametrize(
    ("function", "options", "message"),
    [
        (odrf.odt, {"alpha": "oob"}, "alpha='oob': use 'auto', 'cv', '1se', "),
        (odrf.odrf, {"alpha": "1se"}, "alpha='1se': use 'oob', 'log6/n', "),
        (odrf.odt, {"alpha": lambda n: -1}, "alpha: the function gives -1 for n = 120"),
        (odrf.odt, {"max_leaves": "root"}, "max_leaves='root': use 'sqrt', 'n/log5', a whole"),
        (odrf.odrf, {"max_leaves": "sqrt"}, "max_leaves='sqrt': use a whole number or a function"),
        (odrf.odt, {"pruning": "weak"}, "pruning='weak' is not known"),
    ],
)
def test_bad_sizes(table, function, options, message):
    with pytest.raises(InputError, match=message):
        function(FORMULA, table, **options)


@pytest.mark.parametrize(
    "size",
    [
        {"max_leaves": "sqrt"},
        {"max_leaves": "n/log5", "alpha": 0.01},
        {"alpha": "cv"},
        {"alpha": "1se"},
        {"alpha": "1/sqrt(n)", "max_leaves": lambda n: n**0.5},
    ],
)
@pytest.mark.parametrize("formula", [FORMULA, "c ~ a + b + f"])
def test_a_forest_of_one_tree_on_all_rows_is_sized_as_a_tree(table, formula, size):
    options = {"min_leaf": 5, "seed": 1, **size}
    tree = odrf.odt(formula, table, **options)
    forest = odrf.odrf(formula, table, n_trees=1, resample="none", **options)
    assert same_bits(forest.forest, tree.forest)
    assert forest.control.max_leaves_rule == tree.control.max_leaves_rule
    assert forest.control.alpha_rule == tree.control.alpha_rule
    for rows in (table, table[:3]):
        for revise in ("auto", 0, 50):
            updated = [one.update(rows, revise=revise) for one in (forest, tree)]
            assert same_bits(*(one.forest for one in updated))
            assert updated[0].n_leaves == updated[1].n_leaves


# ------------------------------------------------------------------------------------------------
# Forests that out-of-bag rows have pruned, and that are pruned again.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def grown():
    data = odrf.load_data("diabetes")[["bmi", "bp", "sex", "progression"]][:150]
    return odrf.odrf("progression ~ .", data, n_trees=20, blend=False, seed=1)


def test_a_cut_that_changes_nothing_keeps_the_error(grown):
    first = grown.prune(rule="oob")
    assert first.prune(0.0).oob_error == first.oob_error


def assert_predicted_by_other_folds(grown, choice, found, trees_of):
    """Assert that rows of each fold are predicted by the trees of `trees_of` its choice of α."""
    own, found = grown.fit, found.to_numpy()
    drawn = np.array([own.draws.again(b)[0] for b in range(20)]) > 0
    for fold, alphas in enumerate(choice.alphas):
        trees = trees_of(alphas)
        for row in np.flatnonzero(choice.fold == fold)[:8]:
            values = [
                trees.value[leaf(trees, b, own.data.X[:, row]), 0]
                for b in np.flatnonzero(~drawn[:, row])
            ]
            assert found[row] == pytest.approx(np.mean(values))


def test_each_row_is_predicted_by_the_trees_that_the_others_prune(grown):
    first, own = grown.prune(rule="oob"), grown.fit
    choice, critical = first.fit.pruning.choice, critical_alphas(own.forest, "weakest_link")
    alpha = float(np.median(choice.alphas))
    found = first.prune(alpha).prune(alpha / 2).oob_prediction
    assert_predicted_by_other_folds(
        grown, choice, found, lambda alphas: pruned(own.forest, critical, np.maximum(alphas, alpha))
    )


def test_by_another_rule_the_first_choice_is_kept(grown):
    first, own = grown.prune(rule="oob"), grown.fit
    growth = first.pruning_path("growth")
    assert first.prune(0.0, path=growth).oob_error == pytest.approx(first.oob_error)
    alpha = float(growth.table["alpha"].iloc[len(growth.table) // 2])
    twice = first.prune(alpha, path=growth)
    choice, critical = first.fit.pruning.choice, critical_alphas(own.forest, "weakest_link")

    def trees_of(alphas):
        once = pruned(own.forest, critical, alphas)
        return pruned(once, critical_alphas(once, "growth"), alpha)

    assert_predicted_by_other_folds(grown, choice, twice.oob_prediction, trees_of)
    assert twice.prune(alpha / 2).oob_error == pytest.approx(twice.oob_error)
