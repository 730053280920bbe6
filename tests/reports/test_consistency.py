"""The consistency report of a fit."""

from __future__ import annotations

import pickle
import re
from functools import partial

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from tests.users import of_python

FORMULA = "y ~ a + b + f"
VERDICTS = {
    "holds", "does not hold", "cannot be evaluated", "assumed", "differs", "contradicted",
}  # fmt: skip


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
        (
            odrf.odt,
            {"alpha": "1se"},
            "cannot be evaluated: α was chosen by 10-fold cross-validation",
        ),
        (odrf.odt, {"alpha": lambda n: 1 / np.log(n)}, "by [Z] Theorem 3."),
        (odrf.odt, {"max_leaves": lambda n: np.log(n)}, "by [Z] Theorem 1."),
        (odrf.odt, {"max_leaves": root, "max_depth": 2}, "cannot be evaluated: max_depth=2 does"),
        (
            odrf.odt,
            {"alpha": "1/sqrt(n)", "max_leaves": 4},
            "cannot be evaluated: max_leaves=4 does",
        ),
        (odrf.odt, {"max_leaves": root, "penalty": "bic"}, 'not with penalty="bic"'),
        (odrf.odt, {"max_leaves": root, "n_thresholds": 1}, "not random ones"),
        (odrf.odt, {"max_leaves": 9}, "cannot be evaluated"),
        (odrf.odt, {}, "cannot be evaluated"),
        (odrf.odt, {"alpha": None}, "No result of [Z] applies"),
        (odrf.odt, {"max_leaves": root, "subset_size": 2}, "functions of 2 variables each"),
        (odrf.odrf, {"n_trees": 5, "max_leaves": root}, "by [Z] Theorem 4."),
        (odrf.odrf, {"n_trees": 5, "alpha": lambda n: n**-0.5}, "by [Z] Theorem 5."),
        (odrf.odrf, {"n_trees": 5, "alpha": "1/sqrt(n)"}, "by [Z] Theorem 5."),
        (
            odrf.odrf,
            {"n_trees": 5, "projection": "axis", "max_leaves": root},
            "where the regression function is a sum of functions of one variable each if Y is",
        ),
    ],
)
def test_which_theorem_covers_a_fit(table, function, options, words):
    report = function(FORMULA, table, seed=1, **options).consistency()
    assert words in report.conclusion
    assert report.conclusion in " ".join(repr(report).split())
    assert report.conclusion in " ".join(str(report.summary()).split())
    assert set(report.table["verdict"]) <= VERDICTS


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
        ({"projection": of_python}, "cannot be evaluated"),
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
    set_here = "cannot be evaluated: prune() has set α, not a rule in n"
    assert set_here in tree.prune(alpha=0.5).consistency().conclusion
    assert set_here in tree.prune(rule="1se").consistency().conclusion
    unchanged = tree.prune(alpha=0.0)
    assert unchanged.consistency().conclusion == tree.consistency().conclusion
    chosen = "cannot be evaluated: prune() has set the leaves, not a rule in n"
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
    assert "cannot be evaluated: its function of n fails for many rows" in report.conclusion


def test_families_that_no_theorem_covers(table):
    sparse = odrf.odt("y ~ a + b", table, projection="sparse", max_leaves=root, seed=1)
    assert "not those of sparse" in sparse.consistency().conclusion
    assert "Subset size" not in str(sparse.summary())
    mixed = {"sparse": 1, "logistic": 1}
    both = odrf.odt("y ~ a + b", table, projection=mixed, max_leaves=root, seed=1)
    assert both.consistency().conclusion.startswith("Consistent for any continuous")
    assert "Subset size" in str(both.summary())


def sampled(noise, n=400):
    """Rows of a smooth truth with noise of a law, of which most are near 0."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.random((n, 3)), columns=["u", "v", "w"])
    return data.assign(y=3 * data["u"] + np.sin(6 * data["v"]) + noise(rng, n))


def cauchy(rng, n):
    return rng.standard_cauchy(n)


def normal(rng, n):
    return rng.normal(size=n)


def verdict(report, condition):
    return report.table.set_index("condition").loc[condition, "verdict"]


@pytest.mark.parametrize("model", [odrf.odt, partial(odrf.odrf, n_trees=20)])
@pytest.mark.parametrize("options", [{"max_leaves": root}, {"alpha": "1/sqrt(n)"}])
def test_heavy_tails_contradict_a_condition(model, options):
    report = model("y ~ .", sampled(cauchy), seed=1, **options).consistency()
    assert report.conclusion.startswith("No conclusion: by [Z] Theorem")
    index = report.evidence["tail index"]
    assert f"the data contradict a condition: Y sub-Gaussian (tail index {index:.3g}, p" in (
        report.conclusion
    )
    assert verdict(report, "Y sub-Gaussian") == "contradicted"
    report = model("y ~ .", sampled(normal), seed=1, **options).consistency()
    assert report.conclusion.startswith("Consistent for any continuous regression function if Y is")
    assert verdict(report, "Y sub-Gaussian") == "assumed"


def test_tails_of_residuals_alone_contradict_nothing():
    # a bounded response, but for a few rows far better predicted than those
    data = sampled(lambda rng, n: 0 * rng.random(n))
    report = odrf.odt("y ~ .", data, max_leaves=root, seed=1).consistency()
    assert verdict(report, "Y sub-Gaussian") == "assumed"


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_leaves": root}, "2 leaves, t_n = 20, min_leaf=150"),
        ({"alpha": "1/sqrt(n)"}, "2 leaves, ln n = 5.99, min_leaf=150"),
    ],
)
def test_trees_that_cannot_grow_contradict_a_condition(options, words):
    report = odrf.odt("y ~ .", sampled(normal), min_leaf=150, seed=1, **options).consistency()
    assert f"the data contradict a condition: splits until t_n leaves ({words})." in (
        report.conclusion
    )
    assert verdict(report, "splits until t_n leaves") == "contradicted"


def test_pure_leaves_are_as_many_as_there_can_be():
    data = sampled(normal).assign(k=lambda rows: np.where(rows["u"] > 0.5, "high", "low"))
    report = odrf.odt("k ~ u", data, max_leaves=root, seed=1).consistency()
    assert report.leaf_sizes.size == 2
    assert report.conclusion.startswith("Consistent for any continuous P(class | x) if")


def test_cuts_are_all_tried_where_the_search_is_exact():
    exact, binned = (
        odrf.odt("y ~ .", sampled(normal, n), max_leaves=root, seed=1, **how).consistency()
        for n, how in [(400, {"split_search": "exact"}), (20_000, {})]
    )
    assert verdict(exact, "best cut of a direction") == "holds"
    table = binned.table.set_index("condition").loc["best cut of a direction"]
    most = binned.fit.control.settings.exact_rows
    assert table["quantity"] == f"between bins in nodes of more than {most} rows"
    assert table["verdict"] == "differs"
    few = odrf.odt("y ~ .", sampled(normal, 60), max_leaves=root, seed=1).consistency()
    assert verdict(few, "best cut of a direction") == "holds"


@pytest.mark.parametrize(
    "options",
    [
        {"n_thresholds": 1},
        {"n_thresholds": 1, "alpha": None},
        {"n_thresholds": 1, "max_depth": 3},
        {"max_leaves": 9, "penalty": "bic"},
        {"max_leaves": 9, "max_depth": 2, "alpha": "1/sqrt(n)"},
        {"projection": "extra"},
        {"projection": "sparse", "max_leaves": root},
        {"alpha": "1se", "max_depth": 4},
    ],
)
@pytest.mark.parametrize("response", ["y", "k"])
def test_what_would_do_does(options, response):
    data = sampled(normal).assign(k=lambda rows: np.where(rows["y"] > 2, "high", "low"))
    if response == "k":
        options = {"criterion": "entropy"} | options
    formula = f"{response} ~ u + v + w"
    said = odrf.odt(formula, data, seed=1, **options).consistency().conclusion
    assert not said.startswith("Consistent")
    if options.get("projection") == "sparse":
        assert "would do" not in said
        return
    ways = said.rpartition("; ")[2].removesuffix(" would do.")
    for way in re.split(r", | and ", ways.replace(" or alpha=lambda n: n**-0.5", "")):
        name, _, value = way.partition("=")
        options = {**options, name: eval(value)}
    mended = odrf.odt(formula, data, seed=1, **options).consistency().conclusion
    assert mended.startswith("Consistent")


def test_a_blend_would_be_covered_without_blending(table):
    for response in ("y", "c"):
        blend = odrf.odrf(
            f"{response} ~ a + b", table, n_trees=40, blend=True, max_leaves=root, seed=1
        )
        said = blend.consistency().conclusion
        if "would do" in said:
            options = {"blend": False} | ({"criterion": "gini"} if "criterion" in said else {})
            mended = odrf.odrf(
                f"{response} ~ a + b", table, n_trees=40, max_leaves=root, seed=1, **options
            )
            assert mended.consistency().conclusion.startswith("Consistent")


def test_factors_have_no_density(table):
    forest = odrf.odrf("c ~ a + b + f", table, seed=1, **THEORY)
    report = forest.consistency()
    assert verdict(report, "density between ε and 1/ε") == "differs"
    assert "what differs does no harm, by [P] Theorem 2." in report.conclusion


def test_a_depth_without_bound_is_no_rule_of_boosted_trees():
    data = pd.DataFrame({"y": np.arange(30.0), "a": np.arange(30.0)})
    fit = odrf.odbt("y ~ a", data, n_trees=2, max_depth=5000, seed=1)
    assert fit.consistency().conclusion
