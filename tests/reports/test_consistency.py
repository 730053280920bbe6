"""The consistency report of a fit."""

from __future__ import annotations

import pickle

import matplotlib.pyplot as plt
import numpy as np
import pytest

import odrf
from odrf import InputError
from tests.users import of_python

FORMULA = "y ~ a + b + f"


def root(n):
    return n**0.5


@pytest.fixture(autouse=True)
def closed():
    yield
    plt.close("all")


@pytest.mark.parametrize(
    ("function", "options", "words"),
    [
        (odrf.odt, {"max_leaves": root}, "by [Z] Theorem 1."),
        (odrf.odt, {"max_leaves": "sqrt"}, "by [Z] Theorem 1."),
        (odrf.odt, {"max_leaves": "n/log5"}, "by [Z] Theorem 1."),
        (odrf.odt, {"alpha": "log6/n"}, "by [Z] Theorem 3."),
        (odrf.odt, {"alpha": "1se"}, "cannot be judged: α was chosen by 10-fold cross-validation"),
        (odrf.odt, {"alpha": lambda n: 1 / np.log(n)}, "by [Z] Theorem 3."),
        (odrf.odt, {"max_leaves": lambda n: np.log(n)}, "by [Z] Theorem 1."),
        (odrf.odt, {"max_leaves": root, "max_depth": 2}, "cannot be judged: max_depth=2 does"),
        (odrf.odt, {"alpha": "1/sqrt(n)", "max_leaves": 4}, "cannot be judged: max_leaves=4 does"),
        (odrf.odt, {"max_leaves": root, "penalty": "bic"}, 'not with penalty="bic"'),
        (odrf.odt, {"max_leaves": root, "n_thresholds": 1}, "not random ones"),
        (odrf.odt, {"max_leaves": 9}, "cannot be judged"),
        (odrf.odt, {}, "cannot be judged"),
        (odrf.odt, {"alpha": None}, "No result of [Z] applies"),
        (odrf.odt, {"max_leaves": root, "subset_size": 2}, "functions of 2 variables each"),
        (odrf.odrf, {"n_trees": 5, "max_leaves": root}, "by [Z] Theorem 4."),
        (odrf.odrf, {"n_trees": 5, "alpha": lambda n: n**-0.5}, "by [Z] Theorem 5."),
        (odrf.odrf, {"n_trees": 5, "alpha": "1/sqrt(n)"}, "by [Z] Theorem 5."),
        (
            odrf.odrf,
            {"n_trees": 5, "projection": "axis", "max_leaves": root},
            "a sum of functions of one variable each, by [Z] Corollary 1; no",
        ),
    ],
)
def test_which_theorem_covers_a_fit(table, function, options, words):
    report = function(FORMULA, table, seed=1, **options).consistency()
    assert words in report.conclusion
    assert report.conclusion in " ".join(repr(report).split())
    assert report.conclusion in " ".join(str(report.summary()).split())
    assert set(report.table["verdict"]) <= {"holds", "does not hold", "cannot be judged", "assumed"}


THEORY = {
    "n_trees": 20,
    "honest": True,
    "resample": "subsample",
    "sample_fraction": lambda n: n**-0.3,
}
LACKS = "[P] Theorem 2 asks for "


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({}, "by [P] Theorem 2."),
        ({"blend": True}, "by [P] Theorem 2."),
        ({"projection": "axis"}, "by [P] Theorem 2."),
        ({"projection": "sparse"}, "by [P] Theorem 2."),
        ({"projection": {"rc": 1, "axis": 1}}, "by [P] Theorem 2."),
        ({"projection": "rc"}, LACKS + "each predictor alone."),
        ({"projection": of_python}, "cannot be judged"),
        ({"n_singles": 0}, "by [P] Theorem 2."),
        ({"n_singles": 0, "subset_size": 2}, LACKS + "each predictor alone."),
        ({"sample_fraction": 0.5}, LACKS + "s/n → 0; sample_fraction="),
        ({"resample": "bootstrap"}, LACKS + 'draws without replacement; resample="subsample"'),
        ({"max_leaves": root}, LACKS + "leaves of bounded size."),
        ({"max_depth": 3}, LACKS + "leaves of bounded size."),
        ({"alpha": "1/sqrt(n)"}, LACKS + "leaves of bounded size."),
    ],
)
def test_conditions_of_honest_forests(table, options, words):
    forest = odrf.odrf("c ~ a + b", table, seed=1, **(THEORY | options))
    report = forest.consistency()
    assert words in report.conclusion
    assert set(report.table["theorem"]) == {"[P] Theorem 2"}
    empty = forest.forest.count[forest.forest.is_leaf()] == 0
    assert report.evidence["leaves without rows"] == empty.mean()
    assert "arXiv 2211.12653v4" not in str(report.summary())
    assert len(report.plot()) == 4


def test_an_honest_forest_pruned_by_other_rows_has_large_leaves(table):
    forest = odrf.odrf("c ~ a + b + f", table, seed=1, **THEORY | {"sample_fraction": 0.8})
    assert forest.consistency().facts.full
    assert not forest.prune(rule="oob").consistency().facts.full


def test_pruning_a_fit_afterwards_changes_the_theorem(table):
    tree = odrf.odt(FORMULA, table, max_leaves=root, seed=1)
    assert "Theorem 1" in tree.consistency().conclusion
    assert "Theorem 3" in tree.prune(alpha=0.01).consistency().conclusion


def test_a_number_or_a_choice_replaces_the_rule(table):
    tree = odrf.odt(FORMULA, table, alpha=lambda n: 0.001 * n**-0.5, seed=1)
    assert tree.consistency().conclusion.startswith("Consistent")
    set_here = "cannot be judged: prune() has set α, not a rule in n"
    assert set_here in tree.prune(alpha=0.5).consistency().conclusion
    assert set_here in tree.prune(rule="1se").consistency().conclusion
    unchanged = tree.prune(alpha=0.0)
    assert unchanged.consistency().conclusion == tree.consistency().conclusion
    chosen = "cannot be judged: prune() has set the leaves, not a rule in n"
    assert chosen in tree.prune(leaves=3).consistency().conclusion
    grown = odrf.odt(FORMULA, table, alpha=None, seed=1)
    assert chosen in grown.prune(leaves=3).consistency().conclusion
    forest = odrf.odrf(FORMULA, table, n_trees=5, alpha=lambda n: 0.1 * n**-0.5, seed=1)
    assert chosen in forest.prune(rule="oob").consistency().conclusion
    assert "[Z] Theorem 3" in forest.tree(0).consistency().conclusion


def test_an_updated_fit_says_that_older_splits_have_stayed(table):
    fit = odrf.odrf(FORMULA, table[:60], n_trees=2, max_leaves=lambda n: n**0.5, seed=1)
    said = "splits that were made on fewer rows may have stayed"
    assert said not in str(fit.consistency().summary()).replace("\n", " ")
    for rows in (table[60:], table[60:63]):
        updated = fit.update(rows)
        assert said in str(updated.consistency().summary()).replace("\n", " ")


def test_the_criterion_of_classes(table):
    entropy = odrf.odt("c ~ a + b", table, max_leaves=root, criterion="entropy", seed=1)
    assert "not by entropy" in entropy.consistency().conclusion
    gini = odrf.odt("c ~ a + b", table, max_leaves=root, criterion="gini", seed=1)
    assert gini.consistency().conclusion.endswith("by [Z] Theorem 2.")


def test_a_blend_with_axis_trees_says_so(table):
    forest = odrf.odrf("c ~ a + b + f", table, n_trees=40, blend=True, max_leaves=root, seed=1)
    report = forest.consistency()
    trees = forest.kinds.trees
    thresholds = forest.kinds["cuts"]
    assert report.facts.random_cuts == trees[thresholds != "all"].sum() / trees.sum()
    mixed = (trees["axis"] > 0).item()
    assert ("those on single predictors" in report.conclusion) == mixed
    assert "P(class | x)" in report.conclusion
    assert report.facts.drawn == forest.kinds["rows"][forest.kinds["trees"] > 0].max()


def test_evidence_of_a_regression(number_forest):
    report = number_forest.consistency()
    evidence = report.evidence
    left = (number_forest.fit.data.y - number_forest.oob_prediction).dropna()
    assert len(report.normal_quantiles) == len(left)
    assert 0 < evidence["tail p"] <= 1
    leaves = number_forest.forest.is_leaf()
    assert evidence["rows per leaf, median"] == np.median(number_forest.forest.count[leaves])
    median = evidence["leaf diameter, median"]
    assert 0 < median < evidence["… with a quarter of the leaves"] < 1
    assert median < evidence["leaf diameter, 90 %"] <= 1
    n, trees = len(number_forest.fit.data.y), number_forest.forest.n_trees
    assert report.leaf_diameters.shape == (n, trees)
    counts = report.predictors_per_split
    assert counts.sum() == (number_forest.n_leaves - 1).sum()
    assert evidence["splits on one predictor"] == counts[0] / counts.sum()


@pytest.mark.parametrize("response", ["y", "np.exp(10 * y)"])
def test_a_summary_tells_the_test_of_the_tails_and_concludes_nothing(table, response):
    report = odrf.odrf(f"{response} ~ a + b", table, n_trees=20, seed=1).consistency()
    evidence = report.evidence
    (note,) = [text for text in report.summary().notes if "tails" in text]
    assert note == (
        "Tested: are the tails of the residuals heavier than those of a normal distribution? "
        f"Hill's tail index of the largest 5 % of |residuals| is {evidence['tail index']:.3g}, p = "
        f"{evidence['tail p']:.2g} by 400 normal samples."
    )


def test_classes_have_no_tails(class_tree):
    report = class_tree.consistency()
    assert "tail index" not in report.evidence
    with pytest.raises(InputError, match="classes have no tails"):
        _ = report.normal_quantiles
    assert not any("tails" in text for text in report.summary().notes)


@pytest.mark.parametrize("rule", [root, None])
@pytest.mark.parametrize("response", ["y", "c"])
def test_drawing(table, rule, response):
    tree = odrf.odt(f"{response} ~ a + b + f", table, max_leaves=rule, seed=1)
    panels = tree.consistency().plot()
    assert len(panels) == 4
    assert bool(panels[0].lines) == (rule is not None)
    assert bool(panels[1].lines) == (response == "y")
    given = plt.subplots(1, 4)[1]
    assert list(tree.consistency().plot(ax=given)) == list(given)
    with pytest.raises(InputError, match="ax holds 2 axes"):
        tree.consistency().plot(ax=given[:2])


def test_a_tree_without_splits(number_tree):
    report = number_tree.prune(leaves=1).consistency()
    assert report.evidence["leaf diameter, median"] == pytest.approx(1)
    assert "splits on one predictor" not in report.evidence
    assert len(report.plot()) == 4


def test_rules_are_known_after_pickling(table):
    tree = odrf.odt(FORMULA, table, max_leaves=lambda n: n**0.5, seed=1)
    again = pickle.loads(pickle.dumps(tree))
    assert again.consistency().table.equals(tree.consistency().table)


def test_a_function_that_fails_for_large_n(table):
    sizes = {120: 9}
    report = odrf.odt(FORMULA, table, max_leaves=lambda n: sizes[n], seed=1).consistency()
    assert "cannot be judged: its function of n fails for many rows" in report.conclusion


def test_families_that_no_theorem_covers(table):
    sparse = odrf.odt("y ~ a + b", table, projection="sparse", max_leaves=root, seed=1)
    assert "not those of sparse" in sparse.consistency().conclusion
    assert "Subset size" not in str(sparse.summary())
    mixed = {"sparse": 1, "logistic": 1}
    both = odrf.odt("y ~ a + b", table, projection=mixed, max_leaves=root, seed=1)
    assert both.consistency().conclusion.startswith("Consistent for any continuous")
    assert "Subset size" in str(both.summary())
