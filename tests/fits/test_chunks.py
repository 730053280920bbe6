"""Forests on rows in chunks: the same bits for any chunks, and errors of rows not drawn."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from odrf.engine.chunks import draw_keys
from odrf.engine.factors import indicated
from odrf.engine.trees.forest import ARRAYS
from odrf.errors import InputError
from odrf.options.chunks import share_of_rows
from reference.hashed_draws import draws_row
from reference.importance import evaluated_by_definition, own_response

TREES = 4


@pytest.fixture(autouse=True)
def small_blocks(monkeypatch):
    """Blocks of a few rows, so that small tables have several."""
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 32)


def table(seed: int = 1, n: int = 150) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    data["f"] = rng.choice([f"level {i}" for i in range(8)], n)
    score = data["a"] + data["b"] * (data["f"] > "level 3") + rng.normal(size=n) / 2
    data["y"] = score
    data["k"] = pd.cut(score, [-np.inf, -0.5, 0.5, np.inf], labels=["low", "mid", "high"])
    data["k"] = data["k"].cat.as_unordered()
    data["w"] = rng.integers(0, 4, n)
    data.loc[::11, "a"] = np.nan
    return data


def cut(data: pd.DataFrame, cuts: list[int]) -> list[pd.DataFrame]:
    return [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)])]


def same(one, other) -> bool:
    names = ARRAYS
    a, b = one.forest, other.forest
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in names)


@settings(max_examples=8)
@given(
    cuts=st.lists(st.integers(0, 150), max_size=4),
    n_jobs=st.integers(1, 3),
    memory=st.sampled_from([1.0, 1e5, None]),
    response=st.sampled_from(["y", "k"]),
    options=st.sampled_from(
        [{}, {"honest": True}, {"projection": "sparse"}, {"sample_fraction": 0.3, "weights": "w"}]
    ),
)
def test_chunks_threads_and_memory_change_no_bit(cuts, n_jobs, memory, response, options):
    data, formula = table(), f"{response} ~ a + b + c + f"
    whole = odrf.odrf(formula, [data], n_trees=TREES, seed=2, n_jobs=1, **options)
    chunks = odrf.Chunks(cut(data, cuts), memory=memory)
    fit = odrf.odrf(formula, chunks, n_trees=TREES, seed=2, n_jobs=n_jobs, **options)
    assert same(fit, whole)
    assert fit.error_path.equals(whole.error_path)
    assert fit.oob_scores.equals(whole.oob_scores)
    assert fit.importance().equals(whole.importance())


def without_weight_0(data: pd.DataFrame) -> pd.DataFrame:
    """Rows of weight 0 are not read: the others are numbered as if these were not there."""
    return data[data["w"] > 0].reset_index(drop=True)


def unseen_values(fit, data: pd.DataFrame, fraction: float) -> tuple[np.ndarray, np.ndarray]:
    """Mean values (n, K) of the trees that did not draw a row, and how many they are (B, n)."""
    keys = draw_keys(fit.seed, 0, TREES).tolist()
    unseen = np.array([[not draws_row(key, i, fraction) for i in range(len(data))] for key in keys])
    kind = "response" if fit.kind == "regression" else "prob"
    values = []
    for b in range(TREES):
        value = np.asarray(fit.tree(b).predict(data, kind), dtype=float).reshape(len(data), -1)
        values.append(np.where(unseen[b][:, np.newaxis], value, 0.0))
    counts = unseen.cumsum(axis=0)
    return np.cumsum(values, axis=0) / np.maximum(counts, 1)[:, :, np.newaxis], counts


@pytest.mark.parametrize("weights", [None, "w"])
def test_out_of_bag_errors_of_numbers_are_those_of_rows_not_drawn(weights):
    data, fraction = table(), 0.6
    fit = odrf.odrf(
        "y ~ a + b + f", cut(data, [70]), n_trees=TREES, sample_fraction=fraction, seed=4,
        weights=weights,
    )  # fmt: skip
    data = data if weights is None else without_weight_0(data)
    means, counts = unseen_values(fit, data, fraction)
    w = np.ones(len(data)) if weights is None else data["w"].to_numpy(dtype=float)
    y = data["y"].to_numpy()
    for b in range(TREES):
        known = (counts[b] > 0) & (w > 0)
        loss = np.average((means[b, known, 0] - y[known]) ** 2, weights=w[known])
        assert fit.error_path.iloc[b] == pytest.approx(loss, rel=1e-12)
    variance = np.average((y - np.average(y, weights=w)) ** 2, weights=w)
    assert fit.r_squared == pytest.approx(1 - fit.oob_error / variance, rel=1e-9)
    assert fit.oob_scores["rows"] == ((counts[-1] > 0) & (w > 0)).sum()


@pytest.mark.parametrize("options", [{}, {"class_weights": "balanced"}])
def test_out_of_bag_scores_of_classes(options):
    data, fraction = table(), 0.6
    fit = odrf.odrf(
        "k ~ a + b + f", cut(data, [70]), n_trees=TREES, sample_fraction=fraction, seed=4, **options
    )
    shares, counts = unseen_values(fit, data, fraction)
    known = counts[-1] > 0
    shares, codes = shares[-1][known], data["k"].cat.codes.to_numpy()[known]
    w = np.ones(len(data))
    if options:
        sizes = data["k"].value_counts()
        w = (len(data) / 3 / data["k"].map(sizes).astype(float)).to_numpy()
    w = w[known]
    of_class = shares[np.arange(len(codes)), codes]
    scores = fit.oob_scores
    assert scores["error"] == pytest.approx(np.average(shares.argmax(axis=1) != codes, weights=w))
    log_loss = -np.log(np.maximum(of_class, 2.0**-52))
    assert scores["log_loss"] == pytest.approx(np.average(log_loss, weights=w))
    squares = ((shares - np.eye(3)[codes]) ** 2).sum(axis=1)
    assert scores["brier"] == pytest.approx(np.average(squares, weights=w))
    matrix = fit.confusion_matrix
    expected = np.zeros((3, 3))
    np.add.at(expected, (codes, shares.argmax(axis=1)), w)
    order = [list(data["k"].cat.categories).index(name) for name in matrix.index]
    assert np.allclose(matrix.iloc[:, :3], expected[np.ix_(order, order)])
    assert matrix["error"].iloc[0] == pytest.approx(
        1 - matrix.iloc[0, 0] / matrix.iloc[0, :3].sum()
    )


@pytest.mark.parametrize(("response", "weights"), [("y", None), ("y", "w"), ("k", "w")])
def test_out_of_bag_importances_are_their_definition(response, weights):
    data, fraction = table().drop(columns="a"), 0.6
    fit = odrf.odrf(
        f"{response} ~ b + c + f", cut(data, [40, 90]), n_trees=TREES, sample_fraction=fraction,
        seed=4, weights=weights,
    )  # fmt: skip
    data = data if weights is None else without_weight_0(data)
    w = np.ones(len(data)) if weights is None else data["w"].to_numpy(dtype=float)
    X, y = fit.design.labelled(data)
    target = own_response(fit.forest, y)
    centred, X = target - np.average(target, axis=0, weights=w), indicated(X)
    expected = np.zeros(3)
    for b, key in enumerate(draw_keys(4, 0, TREES).tolist()):
        rows = [i for i in range(len(data)) if w[i] > 0 and not draws_row(key, i, fraction)]
        tree = fit.forest.tree(b)
        expected += evaluated_by_definition(
            tree, X, centred, w, rows, fit.design.first, tree.value, lambda _: slice(None)
        )
    found = fit.importance()["importance"].reindex(list(fit.design.predictors))
    np.testing.assert_allclose(found, expected / TREES, rtol=1e-6, atol=1e-12)
    assert fit.importance("out_of_bag").equals(fit.importance())
    assert fit.importance("impurity")["share"].sum() == pytest.approx(1)


def test_a_tree_knows_the_rows_that_it_drew():
    data = table()
    fit = odrf.odrf("y ~ a + b", [data], n_trees=TREES, sample_fraction=0.5, seed=9)
    keys = draw_keys(9, 0, TREES).tolist()
    drawn = [sum(draws_row(key, i, 0.5) for i in range(len(data))) for key in keys]
    assert fit.forest.count[fit.forest.root[:-1]].tolist() == drawn


def test_options_prune_before_the_rows_evaluate():
    data = table()
    arguments = {"n_trees": TREES, "seed": 1}
    full = odrf.odrf("y ~ a + b + f", [data], **arguments)
    fit = odrf.odrf("y ~ a + b + f", [data], alpha=0.05, **arguments)
    assert fit.n_leaves.mean() < full.n_leaves.mean()
    assert fit.oob_error != full.oob_error
    assert np.array_equal(fit.parent.n_leaves, full.n_leaves)
    assert np.array_equal(full.prune(0.05).n_leaves, fit.n_leaves)


def test_the_usual_share():
    assert share_of_rows(1000) == 0.632
    assert share_of_rows(500_000) == pytest.approx(0.4)
    sizes = [10.0**k for k in range(3, 13)]
    shares = [share_of_rows(int(n)) for n in sizes]
    rows = [share * n for share, n in zip(shares, sizes, strict=True)]
    assert shares == sorted(shares, reverse=True)
    assert rows == sorted(rows)
    assert shares[-1] < 0.02


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"blend": True}, "blend=True with rows in chunks"),
        ({"resample": "bootstrap"}, "sampled once or not at all"),
        ({"resample": "none"}, "sampled once or not at all"),
        ({"sample_fraction": 1.0}, "would have all rows in memory"),
        ({"sample_fraction": 1e-9}, "tree 0 samples no row"),
        ({"sample_fraction": 2.0}, "sample_fraction=2.0"),
        ({"alpha": "oob"}, "alpha='oob' with rows in chunks"),
        ({"alpha": "log6/n"}, "use a number, or a function of n"),
        ({"groups": "f"}, "groups= with rows in chunks"),
        ({"order": "a"}, "order= with rows in chunks"),
        ({"strata": "f"}, "strata= with rows in chunks"),
        ({"weights": np.ones(150)}, "make them a column of the chunks"),
        ({"missing": "median"}, "all values of a column at once"),
        ({"missing": "surrogate"}, "single trees"),
        ({"objective": "brier"}, "objective"),
        ({"split_scale": "auto"}, "split_scale"),
        ({"projection": "nothing"}, "projection"),
        ({"colour": 1}, "no argument 'colour'"),
    ],
)
def test_options_that_need_all_rows_are_refused(options, words):
    with pytest.raises((InputError, TypeError), match=words):
        odrf.odrf("y ~ a + b", [table()], n_trees=2, **options)


def test_a_tree_that_takes_more_memory_than_there_is(monkeypatch):
    monkeypatch.setattr("odrf.engine.memory.SMALL", 0)
    monkeypatch.setattr("odrf.engine.memory.available_memory", lambda: 1000.0)
    with pytest.raises(MemoryError, match="growing a tree of 95 rows"):
        odrf.odrf("y ~ a + b", [table()], n_trees=2)


@pytest.mark.parametrize("free", [float("inf"), 1e5])
def test_any_free_memory_gives_the_same_forest(monkeypatch, free):
    whole = odrf.odrf("y ~ a + b", [table()], n_trees=TREES, seed=1)
    monkeypatch.setattr("odrf.fits.chunks.available_memory", lambda: free)
    assert same(odrf.odrf("y ~ a + b", [table()], n_trees=TREES, seed=1), whole)


def test_functions_of_n_and_inference():
    fit = odrf.odrf(
        "y ~ a + b", [table()], n_trees=TREES, seed=1, max_leaves=lambda n: n**0.5,
        sample_fraction=lambda n: n**-0.3,
    )  # fmt: skip
    assert fit.n_leaves.max() <= 13
    assert fit.control.sample_fraction == pytest.approx(150**-0.3)
    usual = odrf.odrf("y ~ a + b", [table()], n_trees=TREES, seed=1, inference=True)
    assert usual.control.sample_fraction == 0.3


@pytest.mark.parametrize("empty", [None, np.nan, pd.NA])
@pytest.mark.parametrize("column", ["x", "y"])
def test_a_column_may_be_empty_in_the_first_blocks(monkeypatch, column, empty):
    """A query gives a column without values as objects."""
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 32)
    data = pd.DataFrame(np.random.default_rng(1).normal(size=(100, 3)), columns=list("xyz"))
    parts = [data[:40].assign(**{column: empty}), data[40:]]
    whole = data.assign(**{column: data[column].where(data.index >= 40)})
    fit, expected = (odrf.odrf("y ~ x + z", each, n_trees=3, seed=1) for each in (parts, [whole]))
    assert fit.predict(data).equals(expected.predict(data))
