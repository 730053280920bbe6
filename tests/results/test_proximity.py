"""Proximities against counts of shared leaves, and what follows from them."""

import numpy as np
import pandas as pd
import pytest
import scipy

import odrf
from odrf import InputError
from odrf.statistics.proximity import covering_rows, outlier_scores


def pairs(leaves, used):
    """The share of the trees that two rows use in which they are in one leaf, by counting."""
    n = len(leaves)
    out = np.zeros((n, n))
    for i in range(n):
        for j in range(n):
            together = used[i] & used[j]
            if together.any():
                out[i, j] = (leaves[i] == leaves[j])[together].mean()
    return out


pytestmark = pytest.mark.filterwarnings("ignore:every tree sampled")


@pytest.fixture(scope="module")
def guided(table):
    return odrf.graf("c ~ a + b + f", table, n_trees=6, seed=1)


def test_plain_proximities_are_shares_of_shared_leaves(
    number_forest, class_forest, number_tree, guided, table
):
    for fit in (number_forest, class_forest, number_tree, guided):
        leaves = np.atleast_2d(fit.predict(table, type="leaf").to_numpy().T).T
        expected = pairs(leaves, np.ones(leaves.shape, dtype=bool))
        found = fit.proximity().matrix.toarray()
        np.testing.assert_allclose(found, expected, atol=1e-12)
        assert (np.diagonal(found) == 1).all()
        new = fit.proximity(table.iloc[:7])
        np.testing.assert_allclose(new.matrix.toarray(), expected[:7], atol=1e-12)
        assert new.to_frame().index.equals(table.index[:7])


def test_out_of_bag_proximities_are_of_trees_that_drew_neither(class_forest):
    leaves = class_forest.predict(type="leaf").to_numpy()
    expected = pairs(leaves, class_forest.fit.draws.all_unseen().T)
    found = class_forest.proximity(type="oob").matrix.toarray()
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"honest": True},
        {"resample": "subsample", "max_leaves": 4},
        {"weights": np.arange(120) % 3.0},
    ],
)
def test_weights_reproduce_predictions(table, options):
    fit = odrf.odrf("y ~ a + b + f", table, n_trees=12, seed=1, **options)
    for rows in (None, table):
        near = fit.proximity(rows, type="weights")
        weights, y = near.matrix, fit.fit.data.y
        predicted = fit.predict(rows)[near.rows].to_numpy()
        known = ~np.isnan(predicted)
        np.testing.assert_allclose((weights @ y)[known], predicted[known], rtol=1e-9)
        np.testing.assert_allclose(np.asarray(weights.sum(axis=1)).ravel()[known], 1.0)


def test_weights_reproduce_probabilities_of_forests_trees_and_pruned_trees(
    class_forest, class_tree, table
):
    for fit in (class_forest, class_tree, class_tree.prune(leaves=3)):
        indicators = np.array([table["c"] == label for label in fit.classes], dtype=float).T
        weights = fit.proximity(table, type="weights").matrix
        expected = fit.predict(table, type="prob").to_numpy()
        np.testing.assert_allclose(weights @ indicators, expected, atol=1e-9)


def test_nearest_rows_are_in_order_and_others(class_forest, table):
    near = class_forest.proximity().nearest(3, k=4)
    full = class_forest.proximity().to_frame().iloc[3].drop(table.index[3])
    assert near.tolist() == full.sort_values(ascending=False).head(4).tolist()
    assert table.index[3] not in near.index


def test_prototypes_of_blocks_are_one_of_each():
    block = np.repeat(np.arange(3), [5, 3, 2])
    proximity = scipy.sparse.csr_array((block[:, None] == block).astype(float))
    assert sorted(block[covering_rows(proximity, np.ones(10), 3)]) == [0, 1, 2]
    assert block[covering_rows(proximity, np.ones(10), 1)] == [0]


def test_prototypes_are_training_rows_of_every_class(class_forest, table):
    found = class_forest.prototypes(2)
    assert found["c"].tolist() == ["low", "low", "mid", "mid", "top", "top"]
    assert found["rows"].sum() <= len(table)
    np.testing.assert_allclose(found["a"], table.loc[found.index, "a"], atol=1e-5)
    assert found["f"].tolist() == table.loc[found.index, "f"].tolist()


def test_outlier_scores_are_breimans(class_forest, table):
    found = class_forest.outliers()
    P = class_forest.proximity(type="oob").matrix.toarray()
    for label in class_forest.classes:
        inside = (table["c"] == label).to_numpy()
        squares = (P[np.ix_(inside, inside)] ** 2).sum(axis=1)
        raw = inside.sum() / np.maximum(squares, 12.0**-2)
        off = raw - np.median(raw)
        expected = pd.Series(off / np.abs(off).mean(), index=table.index[inside])
        np.testing.assert_allclose(found.loc[expected.index, "score"], expected, rtol=1e-6)
    assert found["score"].is_monotonic_decreasing


def test_equal_rows_have_no_outlier():
    ones = scipy.sparse.csr_array(np.ones((4, 4)))
    assert outlier_scores(ones, np.zeros(4, dtype=np.int64), 1e-9).tolist() == [0.0] * 4


def test_the_map_is_classical_scaling(class_forest, number_forest):
    for fit in (class_forest, number_forest):
        P = fit.proximity().matrix.toarray()
        centre = np.eye(len(P)) - 1 / len(P)
        value, vector = np.linalg.eigh(centre @ P @ centre / 2)
        plane = fit.map()
        at = plane.table[["first", "second"]].to_numpy()
        expected = vector[:, ::-1][:, :2] * np.sqrt(value[::-1][:2])
        np.testing.assert_allclose(np.abs(at), np.abs(expected), atol=1e-6)
        np.testing.assert_allclose(plane.explained, value[::-1][:2] / value.sum(), rtol=1e-6)
        assert fit.map().table.equals(plane.table)


def test_rows_that_share_all_leaves_are_at_one_place(table):
    stump = odrf.odrf("y ~ a", table, n_trees=3, max_leaves=1, seed=1)
    assert (stump.map().table[["first", "second"]] == 0).all(axis=None)
    assert stump.map().explained == (0.0, 0.0)
    halves = odrf.odrf("y ~ a", table, n_trees=3, max_leaves=2, seed=1).map()
    assert np.isfinite(halves.table[["first", "second"]]).all(axis=None)


def test_a_column_may_be_called_as_an_argument_of_a_method():
    data = pd.DataFrame({"self": np.arange(40.0), "y": np.arange(40.0)})
    fit = odrf.odrf("y ~ self", data, n_trees=3, seed=1)
    holes = data.assign(y=data["y"].where(data.index % 9 > 0))
    holes["self"] = holes["y"]
    filled = fit.impute(holes)
    assert filled["self"].notna().all()
    assert filled["y"].isna().any() and holes["self"].isna().any()


def test_empty_cells_are_filled_by_near_rows():
    rng = np.random.default_rng(1)
    a = rng.normal(size=150)
    full = pd.DataFrame({"a": a, "b": 2 * a + rng.normal(size=150) / 5, "y": a})
    full["f"] = np.where(a > 0, "high", "low")
    fit = odrf.odrf("y ~ a + b + f", full, n_trees=12, seed=1)
    holes = full.assign(other=np.where(np.arange(150) % 2, 1.0, np.nan))
    holes.iloc[::9, 1] = np.nan
    holes.iloc[::11, 3] = None
    filled = fit.impute(holes)
    assert not filled[["a", "b", "f"]].isna().any(axis=None)
    pd.testing.assert_series_equal(filled["other"], holes["other"])
    empty = holes["b"].isna()
    pd.testing.assert_series_equal(filled.loc[~empty, "b"], holes.loc[~empty, "b"])
    # much nearer to what was there than the median is
    off, usual = (
        (guess - full.loc[empty, "b"]).abs().mean()
        for guess in (filled.loc[empty, "b"], full["b"].median())
    )
    assert off < usual / 2
    assert (filled["f"] == full["f"]).mean() > 0.98


def test_variables_of_training_rows_are_filled_by_default(table):
    holes = table.assign(b=table["b"].mask(np.arange(120) % 5 == 0))
    fit = odrf.odrf("y ~ a + b", holes, n_trees=6, seed=1)
    assert not fit.impute().isna().any(axis=None)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda fit, data: fit.proximity(type="near"), "type='near' is not known"),
        (lambda fit, data: fit.proximity(data, type="oob"), "is for the training rows"),
        (lambda fit, data: fit.proximity().nearest(1000), "none of the 120 rows"),
        (lambda fit, data: fit.prototypes(0), "k=0"),
        (lambda fit, data: fit.impute(rounds=0), "rounds=0"),
        (lambda fit, data: fit.impute(data.drop(columns="a")), "lacks column 'a'"),
    ],
)
def test_bad_arguments_are_named(number_forest, table, call, message):
    with pytest.raises(InputError, match=message):
        call(number_forest, table)


def test_what_a_kind_of_fit_has_not_is_said(number_tree, guided, table):
    with pytest.raises(InputError, match="Proximities out of bag need"):
        number_tree.proximity(type="oob")
    for type in ("oob", "weights"):
        with pytest.raises(InputError, match='use type="plain"'):
            guided.proximity(type=type)
    boosted = odrf.odbt("y ~ a + b + f", table, n_trees=6, seed=1)
    with pytest.raises(AttributeError, match="does not mean to be near"):
        boosted.proximity()


def test_too_many_pairs_are_refused(number_forest, monkeypatch):
    monkeypatch.setattr("odrf.fits.proximity.MOST_PAIRS", 100)
    with pytest.raises(InputError, match="pairs of rows share a leaf"):
        number_forest.proximity()


def test_a_response_or_variable_named_like_a_column_of_the_tables_is_beside_it(table):
    named = table.rename(columns={"y": "score", "a": "rows"})
    fit = odrf.odrf("score ~ rows + b + f", named, n_trees=12, seed=1)
    plain = odrf.odrf("y ~ a + b + f", table, n_trees=12, seed=1)
    found, expected = fit.outliers(), plain.outliers()
    assert list(found.columns) == ["score", "score_"]
    assert found["score"].equals(expected["score"])
    assert found["score_"].equals(expected["y"].rename("score_"))
    found, expected = fit.prototypes(4), plain.prototypes(4)
    assert list(found.columns) == ["score", "rows", "rows_", "b", "f"]
    assert found["rows"].equals(expected["rows"])
    assert found["rows_"].tolist() == expected["a"].tolist()
    places = odrf.odrf("first ~ b", table.rename(columns={"y": "first"}), n_trees=4, seed=1).map()
    assert list(places.table.columns) == ["first", "second", "first_"]
    assert places.plot() is not None
