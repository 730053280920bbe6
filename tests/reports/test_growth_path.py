"""Errors along the growth against pruning, predicting and judging size by size."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf import InputError
from odrf.engine.oob import out_of_bag
from odrf.engine.trees.routing import predict
from odrf.fits.pruning import grown_without
from odrf.fits.responses import folds_asked
from odrf.pruning.validation import losses_of

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
    assert path.size == one.n_leaves[0]
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
    with pytest.raises(InputError, match=r"every tree drew every row.*give newdata="):
        by_chance.growth_path()
    with pytest.raises(InputError, match="no row is out of bag: each tree drew all rows"):
        by_chance.pruning_path()
