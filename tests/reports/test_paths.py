"""The pruning path of a tree."""

from __future__ import annotations

from functools import lru_cache

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.engine.oob import out_of_bag
from odrf.engine.resamples import draw_counts
from odrf.engine.trees.routing import predict
from odrf.fits.pruning import grown_without
from odrf.fits.responses import folds_asked
from odrf.pruning.validation import losses_of


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
        assert tree.n_leaves == row["leaves"]
        assert tree.training_error == pytest.approx(row["error"])
        assert tree.parent is number_tree
        assert tree.path is path


def test_copied_calls_give_the_same_tree(number_tree):
    path = number_tree.pruning_path(cv=None)
    tree = path.tree(len(path.table) - 2)
    alpha = float(tree.call.rsplit("alpha=", 1)[1].rstrip(")"))
    assert number_tree.prune(alpha=alpha).n_leaves == tree.n_leaves


def test_rules_of_choice(path):
    table = path.table
    least = path.best("min")
    assert table["xerror"][path.row("min")] == table["xerror"].min()
    limit = table["xerror"].min() + table["xstd"][path.row("min")]
    assert path.best("1se").n_leaves == table["leaves"][table["xerror"] <= limit].min()
    assert path.best("1se").n_leaves <= least.n_leaves
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
    return table[table["leaves"] <= tree.n_leaves].reset_index(drop=True)


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
        assert found.tree(0).n_leaves == small.n_leaves
        assert found.tree(0).prune(alpha=0.0).n_leaves == small.n_leaves
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
    assert again.n_leaves == of_parent["leaves"].iloc[::-1].iloc[best]


def test_a_tree_of_a_pruned_forest_has_the_end_of_the_path(number_forest):
    pruned = number_forest.prune(rule="oob")
    whole, small = number_forest.tree(0), pruned.tree(0)
    pd.testing.assert_frame_equal(small.pruning_path(cv=3).table, end_of(whole, small, cv=3))


def test_folds_cannot_evaluate_a_tree_that_was_cut_in_another_way(number_tree, table):
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


# ------------------------------------------------------------------------------------------------
# Errors along the growth against pruning, predicting and evaluating size by size.
# ------------------------------------------------------------------------------------------------

ALONG = ["leaves", "depth"]
FORMULA = {"number": "y ~ a + b + f", "class": "c ~ a + b + f"}


@pytest.fixture(params=["number", "class"])
def kind(request):
    return request.param


@pytest.fixture
def tree(request, kind):
    return request.getfixturevalue(f"{kind}_tree")


@pytest.fixture
def forest(request, kind):
    return request.getfixturevalue(f"{kind}_forest")


def stopped(forest, along, size):
    if along == "depth":
        return forest.keeping(forest.depth() < size)
    return forest.keeping((forest.order > 0) & (forest.order < size))


def weighed(loss, weights):
    """The mean loss of rows and its standard error."""
    mean = np.average(loss, weights=weights)
    return mean, np.sqrt(np.sum((weights * (loss - mean)) ** 2)) / weights.sum()


def assert_errors(path, stage_values, y, weights):
    """The test error of each row of the table is that of the values (n, K) of its size."""
    for _, row in path.table.iterrows():
        value = stage_values(int(row[path.along]))
        seen = ~np.isnan(value[:, 0])
        mean, error = weighed(losses_of(value[seen], y[seen]), weights[seen])
        assert row["test"] == pytest.approx(mean, abs=1e-12)
        assert row["std_error"] == pytest.approx(error, rel=1e-5, abs=1e-7)


def unseen_values(fit, forest):
    data = fit.data
    return out_of_bag(forest, data.X, data.y, fit.draws).value


@pytest.mark.parametrize("along", ALONG)
def test_columns(tree, forest, along):
    errors = ["train", "test", "std_error"]
    own = ["leaves"] if along == "leaves" else ["depth", "leaves"]
    assert list(tree.growth_path(along=along, cv=3).table) == own + errors
    table = forest.growth_path(along=along).table
    assert list(table) == [along, "mean_leaves", *errors]
    assert table["mean_leaves"].iloc[-1] == pytest.approx(forest.n_leaves.mean())
    assert table["mean_leaves"].is_monotonic_increasing


@pytest.mark.parametrize("along", ALONG)
def test_training_errors_are_those_of_the_stopped_trees(tree, forest, along):
    for fit in (tree, forest):
        path = fit.growth_path(along=along)
        for size, error in zip(path.table[along], path.table["train"], strict=True):
            value = predict(stopped(fit.forest, along, size), fit.fit.data.X, 1)
            assert error == pytest.approx(losses_of(value, fit.fit.data.y).mean())


@pytest.mark.parametrize("along", ALONG)
def test_every_split_lowers_the_squared_error_of_a_tree_s_rows(number_tree, along):
    table = number_tree.growth_path(along=along, cv=2).table
    assert (table["train"].diff()[1:] < 0).all()
    assert table["train"].iloc[-1] == pytest.approx(number_tree.training_error)


@pytest.mark.parametrize("along", ALONG)
def test_new_rows(tree, forest, table, along):
    rows = table.iloc[30:80]
    for fit in (tree, forest):
        path = fit.growth_path(rows, along)
        X, y = fit.design.labelled(rows)
        assert_errors(
            path, lambda s, f=fit.forest, X=X: predict(stopped(f, along, s), X, 1), y, np.ones(50)
        )
        assert path.by == "50 new rows"


@pytest.mark.parametrize("along", ALONG)
def test_out_of_bag_rows(forest, along):
    fit = forest.fit
    path = forest.growth_path(along=along)
    assert_errors(
        path, lambda s: unseen_values(fit, stopped(fit.forest, along, s)), fit.data.y,
        fit.data.weights,
    )  # fmt: skip
    assert path.table["test"].iloc[-1] == forest.oob_error


@pytest.mark.parametrize("along", ALONG)
def test_folds(tree, along):
    path = tree.growth_path(along=along, cv=4, seed=7)
    growth, folds = grown_without(tree.fit, folds_asked(tree.fit, 4, 7, ""), 1, False)

    def by_folds(size):
        value = np.empty((120, tree.forest.value.shape[1]))
        for grown, out in folds:
            X = np.ascontiguousarray(growth.X[:, out])
            value[out] = predict(stopped(grown, along, size), X, 1)
        return value

    assert_errors(path, by_folds, growth.y, growth.weights)
    assert path.by == "4-fold cross-validation"


def test_a_forest_stopped_is_the_one_grown_with_so_many_leaves(kind, table):
    options = {"n_trees": 8, "blend": False, "seed": 3}
    path = odrf.odrf(FORMULA[kind], table, **options).growth_path()
    for leaves in (1, 2, 5):
        small = odrf.odrf(FORMULA[kind], table, max_leaves=leaves, **options)
        row = path.table.set_index("leaves").loc[leaves]
        assert row["test"] == pytest.approx(small.oob_error)
        assert row["mean_leaves"] == small.n_leaves.mean()


def test_a_tree_at_a_size_is_that_of_prune(number_tree, table):
    path = number_tree.growth_path(table)
    growth = number_tree.pruning_path("growth", cv=None)
    for leaves in (1, 4, path.size):
        small = number_tree.prune(leaves=leaves, path=growth)
        assert small.training_error == pytest.approx(path.table["train"][leaves - 1])
        assert path.table["test"][leaves - 1] == pytest.approx(small.training_error)


@pytest.mark.parametrize("along", ALONG)
def test_weights(table, along):
    weights = np.random.default_rng(1).integers(0, 4, 120)
    forest = odrf.odrf("y ~ a + b", table, weights=weights, n_trees=8, seed=1)
    fit, path = forest.fit, forest.growth_path(along=along)
    assert_errors(
        path,
        lambda s: unseen_values(fit, stopped(fit.forest, along, s)),
        fit.data.y,
        fit.data.weights,
    )
    tree = odrf.odt("y ~ a + b", table, weights=weights, alpha=None, seed=1)
    assert tree.growth_path(cv=3).table["train"].iloc[-1] == pytest.approx(tree.training_error)


@pytest.mark.parametrize("along", ALONG)
def test_threads_change_nothing(tree, forest, table, along):
    for fit in (tree, forest):
        for rows in (None, table):
            one, three = (fit.growth_path(rows, along, n_jobs=jobs).table for jobs in (1, 3))
            pd.testing.assert_frame_equal(one, three, check_exact=True)


def test_choices(tree, forest):
    for path in (tree.growth_path(), forest.growth_path()):
        table = path.table
        least = table["test"].min()
        assert path.best_size("min") == table["leaves"][table["test"] == least].min()
        limit = least + table["std_error"][path.row("min")]
        assert path.best_size("1se") == table["leaves"][table["test"] <= limit].min()
        assert path.best_size() == table["leaves"][path.row("1se")]
        with pytest.raises(InputError, match="rule='2se' is not known"):
            path.row("2se")


@pytest.mark.parametrize("along", ALONG)
def test_a_pruned_fit_shows_its_place_in_the_whole_growth(tree, forest, along):
    for fit in (tree, forest):
        small = fit.prune(rule="1se")
        whole, path = fit.growth_path(along=along), small.growth_path(along=along)
        pd.testing.assert_frame_equal(path.table, whole.table)
        assert path.size < whole.size == whole.table[along].iloc[-1]
        assert path.grown is fit.fit
        one, several = ("leaf", "leaves") if along == "leaves" else ("level", "levels")
        unit = one if path.size == 1 else several
        assert f"{path.size} {unit}" in str(path.summary())


def test_a_blend(kind, table):
    forest = odrf.odrf(FORMULA[kind], table, n_trees=30, blend=True, seed=1)
    path = forest.growth_path()
    assert path.table["test"].iloc[-1] == forest.oob_error
    fit = forest.fit
    value = unseen_values(fit, stopped(fit.forest, "leaves", 5))
    seen = ~np.isnan(value[:, 0])
    assert path.table["test"][4] == pytest.approx(losses_of(value[seen], fit.data.y[seen]).mean())


def test_a_tree_of_a_forest(forest):
    one = forest.tree(2)
    path = one.growth_path(cv=3)
    assert path.size == one.n_leaves
    assert path.table["train"].iloc[-1] == pytest.approx(one.training_error)


@pytest.mark.parametrize("along", ALONG)
def test_a_tree_without_splits(table, along):
    stump = odrf.odt("y ~ a + b", table, max_leaves=1, seed=1)
    path = stump.growth_path(along=along, cv=3)
    assert len(path.table) == 1
    assert path.best_size("min") == path.best_size() == path.size
    assert path.size == {"leaves": 1, "depth": 0}[along]


def test_words(tree, forest):
    text = str(tree.growth_path(cv=5).summary())
    assert "5-fold cross-validation" in text
    assert "1-SE rule" in text
    path = forest.growth_path()
    assert "out-of-bag rows" in str(path.summary())
    assert repr(path).startswith(f"Growth path of {len(path.table)} sizes, along the {path.along}")
    assert len(path.summary().tables[1]) <= 27


@pytest.mark.parametrize("fit", ["class_tree", "class_forest"])
@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda rows: rows.drop(columns="c"), "lacks column 'c' of the response 'c'"),
        (lambda rows: rows.drop(columns="a"), "lacks column 'a'"),
        (lambda rows: rows.assign(c="huge"), "classes that no training row has: 'huge'"),
        (lambda rows: rows.iloc[:0], "newdata= has no complete rows"),
    ],
)
def test_invalid_test_rows(request, table, fit, change, message):
    with pytest.raises(InputError, match=message):
        request.getfixturevalue(fit).growth_path(change(table))


def test_bad_options(number_tree, number_forest):
    for fit in (number_tree, number_forest):
        with pytest.raises(InputError, match=r"along='leafs' is not known.*'leaves'"):
            fit.growth_path(along="leafs")
        with pytest.raises(InputError, match="n_jobs=0"):
            fit.growth_path(n_jobs=0)
    with pytest.raises(InputError, match=r"cv=1 is not a number of folds.*or give newdata="):
        number_tree.growth_path(cv=1)


def test_no_rows_out_of_bag(table):
    whole = odrf.odrf("y ~ a + b", table, n_trees=3, resample="none", seed=1)
    with pytest.raises(InputError, match=r'without newdata= need .* resample="none" leaves none'):
        whole.growth_path()
    assert whole.growth_path(table).table["test"].iloc[-1] == pytest.approx(
        ((whole.fittedvalues - table["y"]) ** 2).mean()
    )
    every = odrf.odrf(
        "y ~ a + b", table, n_trees=3, resample="subsample", sample_fraction=1.0, seed=1
    )
    with pytest.raises(InputError, match="sample_fraction=1 leaves none"):
        every.growth_path()
    forests = (odrf.odrf("y ~ a", table[:3], n_trees=1, seed=seed) for seed in range(100))
    by_chance = next(one for one in forests if not one.fit.draws.all_unseen().any())
    with pytest.raises(InputError, match=r"every tree sampled every row.*give newdata="):
        by_chance.growth_path()
    with pytest.raises(InputError, match="no row is out of bag: each tree sampled all rows"):
        by_chance.pruning_path()


# ------------------------------------------------------------------------------------------------
# Pruning a forest: at a common α, and each tree by its out-of-bag rows.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(params=["number_forest", "class_forest"])
def forest_of_forest_path(request):
    return request.getfixturevalue(request.param)


def test_table_of_forest_path(forest_of_forest_path):
    table = forest_of_forest_path.pruning_path().table
    assert list(table.columns) == ["alpha", "leaves", "error", "std_error"]
    assert table["alpha"].is_monotonic_increasing
    assert table["leaves"].is_monotonic_decreasing
    assert (table["alpha"].iloc[0], table["leaves"].iloc[-1]) == (0, 1)
    assert table["leaves"].iloc[0] == forest_of_forest_path.prune(0.0).n_leaves.mean()


def test_rows_are_the_forests_at_their_alphas(forest_of_forest_path):
    path = forest_of_forest_path.pruning_path()
    for k in (0, len(path.table) // 2, len(path.table) - 1):
        pruned = path.forest(k)
        assert pruned.oob_error == pytest.approx(path.table["error"][k])
        assert pruned.n_leaves.mean() == pytest.approx(path.table["leaves"][k])
        assert pruned.parent is forest_of_forest_path
    with pytest.raises(InputError, match="k=99 is not a row of the table"):
        path.forest(99)


def test_choices_of_forest_path(forest_of_forest_path):
    path = forest_of_forest_path.pruning_path("growth")
    table = path.table
    assert path.best("min").n_leaves.mean() == table["leaves"][path.row("min")]
    assert path.best("min").oob_error >= table["error"].min() - 1e-12
    limit = table["error"].min() + table["std_error"][path.row("min")]
    assert table["error"][path.row("1se")] <= limit
    small = forest_of_forest_path.prune(rule="1se", path=path)
    assert small.n_leaves.mean() == pytest.approx(table["leaves"][path.row("1se")])
    assert small.control.pruning == "growth"


def test_standard_error_is_that_of_the_rows_losses(number_forest):
    table = number_forest.pruning_path().table
    loss = (number_forest.prune(0.0).oob_prediction - number_forest.fit.data.y) ** 2
    assert table["std_error"][0] == pytest.approx(loss.std(ddof=0) / loss.count() ** 0.5)


def test_each_tree_by_the_rows_that_it_has_not_drawn(forest_of_forest_path):
    pruned = forest_of_forest_path.prune(rule="oob")
    fit = forest_of_forest_path.fit
    for b in range(0, 12, 4):
        unseen = draw_counts(fit.streams[b].copy(), fit.data.weights, fit.samplings[b]) == 0
        X = np.ascontiguousarray(fit.data.X[:, unseen])

        def loss(tree, X=X, y=fit.data.y[unseen]):
            return losses_of(predict(tree.forest, X, 1), y).mean()

        path = forest_of_forest_path.tree(b).pruning_path(cv=None)
        losses = [loss(path.tree(k)) for k in range(len(path.table))]
        assert loss(pruned.tree(b)) == pytest.approx(min(losses))
        smallest = len(losses) - 1 - int(np.argmin(losses[::-1]))
        assert pruned.n_leaves[b] == path.table["leaves"][smallest]


@pytest.mark.parametrize("rule", ["min", "1se"])
def test_each_row_is_evaluated_by_the_alpha_that_other_rows_choose(forest_of_forest_path, rule):
    path, y = forest_of_forest_path.pruning_path(), forest_of_forest_path.fit.data.y
    grown = [path.forest(k) for k in range(len(path.table))]
    losses = np.array([losses_of(each._oob_value, y) for each in grown])
    evaluated = path.best(rule)
    fold = evaluated.fit.pruning.choice.fold
    assert sorted(set(fold)) == [0, 1, 2, 3, 4]
    for f in range(5):
        of_others = losses[:, (fold != f) & forest_of_forest_path.oob_prediction.notna()]
        mean, n = of_others.mean(axis=1), of_others.shape[1]
        best = np.flatnonzero(mean <= mean.min() + 1e-12)[-1]
        limit = mean[best] + (of_others[best].std() / n**0.5 if rule == "1se" else 0) + 1e-12
        k = np.flatnonzero(mean <= limit)[-1]
        np.testing.assert_array_equal(
            evaluated._oob_value[fold == f], grown[k]._oob_value[fold == f]
        )
    known = forest_of_forest_path.oob_prediction.notna()
    error = losses_of(evaluated._oob_value[known], y[known]).mean()
    assert evaluated.oob_error == pytest.approx(error)
    assert evaluated.error_path.iloc[-1] == evaluated.oob_error


def test_out_of_bag_each_tree_is_pruned_by_the_other_rows(forest_of_forest_path):
    evaluated, fit = forest_of_forest_path.prune(rule="oob"), forest_of_forest_path.fit
    choice = evaluated.fit.pruning.choice
    for b in range(0, 12, 4):
        unseen = draw_counts(fit.streams[b].copy(), fit.data.weights, fit.samplings[b]) == 0
        path = forest_of_forest_path.tree(b).pruning_path(cv=None)
        trees = [path.tree(k) for k in range(len(path.table))]
        for f in range(5):
            rows = unseen & (choice.fold != f)
            X, y = np.ascontiguousarray(fit.data.X[:, rows]), fit.data.y[rows]
            losses = [losses_of(predict(tree.forest, X, 1), y).mean() for tree in trees]
            least = np.flatnonzero(losses <= min(losses) + 1e-12)[-1]
            apart = forest_of_forest_path.tree(b).prune(float(choice.alphas[f, b]))
            assert apart.n_leaves == trees[least].n_leaves


@lru_cache
def grown_on_noise(seed):
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.random((120, 6))).add_prefix("x")
    data["y"] = np.where(np.arange(120) % 2, "a", "b")
    return odrf.odrf("y ~ .", data, n_trees=40, blend=False, seed=seed)


@pytest.mark.parametrize("rule", ["min", "1se", "oob"])
def test_on_noise_a_pruned_forest_is_not_better_than_chance(rule):
    errors = [grown_on_noise(seed).prune(rule=rule).oob_error for seed in range(8)]
    # if the rows evaluate their own choice: .476, .506 and .393
    assert np.mean(errors) > 0.495


@pytest.mark.parametrize("alpha", ["oob", "1/sqrt(n)"])
def test_an_alpha_found_during_the_fit_is_evaluated_in_the_same_way(table, alpha):
    fit = odrf.odrf("y ~ a + b", table, n_trees=12, blend=False, alpha=alpha, seed=1)
    choice = fit.fit.pruning.choice
    assert choice.alphas.shape == (5, 1)
    apart = [fit.parent.prune(float(a)) for a in choice.alphas[:, 0]]
    for f, other in enumerate(apart):
        rows = choice.fold == f
        np.testing.assert_array_equal(fit._oob_value[rows], other._oob_value[rows])


def test_the_summary_shows_the_choices(forest_of_forest_path):
    pruned = forest_of_forest_path.prune(rule="oob")
    text = str(pruned.summary())
    assert f"from {forest_of_forest_path.n_leaves.mean():.1f} (" in text
    assert str(forest_of_forest_path.prune(rule="oob").summary()) == text
    assert pruned.call.endswith('.prune(rule="oob")')
    assert "each fifth of the rows is evaluated by the choice of the others" in " ".join(
        text.split()
    )
    assert "each fifth" not in str(forest_of_forest_path.summary())
    path = str(forest_of_forest_path.pruning_path().summary())
    assert "1-SE rule" in path
    assert "weakest link" in path


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({}, "exactly one"),
        ({"alpha": 0.1, "rule": "oob"}, "exactly one"),
        ({"rule": "cv"}, "rule='cv' is not known: use one of 'oob', 'min', '1se'"),
        ({"alpha": -1}, "alpha=-1"),
    ],
)
def test_bad_pruning(number_forest, options, message):
    with pytest.raises(InputError, match=message):
        number_forest.prune(**options)


def test_unknown_rules(number_forest):
    with pytest.raises(InputError, match="pruning='weakest' is not known"):
        number_forest.pruning_path("weakest")
    with pytest.raises(InputError, match="rule='best' is not known"):
        number_forest.pruning_path().best("best")


def test_no_rows_out_of_bag_of_forest_path(table):
    forest = odrf.odrf("y ~ a + b", table, n_trees=3, resample="none", seed=1)
    for ask in (forest.pruning_path, lambda: forest.prune(rule="oob")):
        with pytest.raises(InputError, match='resample="none" leaves none'):
            ask()


def test_a_blend_is_pruned_too(table, few_pilots):
    forest = odrf.odrf("c ~ a + b + f", table, n_trees=30, blend=True, seed=1)
    path = forest.pruning_path()
    # rows that did not choose may evaluate it a little less well: here by up to four of the rows
    assert path.best("1se").oob_error <= path.table["error"][path.row("1se")] + 4.5 / len(table)
    assert (forest.prune(rule="oob").n_leaves <= forest.n_leaves).all()
