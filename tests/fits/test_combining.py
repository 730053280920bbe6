"""One forest of the trees of two, and what the two must share."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from forests import same_bits
from odrf import InputError
from odrf.engine.resamples import draw_counts

quick = settings(deadline=None, max_examples=6)
REGRESSION, CLASSES = "y ~ a + b + f", "c ~ a + b + f"


def fit(table, seed, n_trees=5, formula=CLASSES, **options):
    return odrf.odrf(formula, table, n_trees=n_trees, seed=seed, n_jobs=1, **options)


def error_by_hand(parts, data):
    """The error of each row's mean over the trees of all parts that did not draw it."""
    total, votes = 0.0, 0
    for part in parts:
        for i, stream in enumerate(part.fit.streams):
            tree = part.tree(i)
            sampling = tree.control.sampling
            unseen = draw_counts(stream.copy(), part.fit.data.weights, sampling) == 0
            predicted = tree.predict(type="response" if part.kind == "regression" else "prob")
            total = total + predicted.to_numpy().reshape(len(unseen), -1) * unseen[:, None]
            votes = votes + unseen
    known = votes > 0
    mean = total[known] / votes[known, None]
    y = parts[0].fit.data.y[known]
    if parts[0].kind == "regression":
        return np.mean((mean[:, 0] - y) ** 2)
    return np.mean(mean.argmax(axis=1) != y)


@quick
@given(st.lists(st.integers(1, 6), min_size=3, max_size=3), st.sampled_from([REGRESSION, CLASSES]))
def test_associative_and_commutative(table, sizes, formula):
    a, b, c = (fit(table, seed, B, formula) for seed, B in enumerate(sizes))
    left, right = a.combine(b).combine(c), a.combine(b.combine(c))
    assert same_bits(left.forest, right.forest)
    assert left.fit.streams.tobytes() == right.fit.streams.tobytes()
    assert left.control == right.control
    assert left.fit.further_seeds == right.fit.further_seeds == (1, 2)
    kind = "response" if formula == REGRESSION else "prob"
    assert left.predict(type=kind).equals(right.predict(type=kind))
    assert left.oob_error == right.oob_error
    turned = c.combine(b).combine(a)
    np.testing.assert_allclose(turned.predict(type=kind), left.predict(type=kind), atol=1e-12)
    np.testing.assert_allclose(turned.oob_error, left.oob_error, atol=1e-12)


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
@pytest.mark.parametrize(
    "options",
    [{}, {"honest": True}, {"resample": "subsample", "projection": "rotation"}],
    ids=lambda options: ", ".join(options) or "default",
)
def test_the_trees_of_both_each_judged_on_rows_it_has_not_drawn(table, formula, options):
    a, b = fit(table, 1, 7, formula, **options), fit(table, 2, 4, formula, **options)
    both = a.combine(b)
    for i in range(11):
        of_part = a.tree(i) if i < 7 else b.tree(i - 7)
        assert same_bits(both.tree(i).forest, of_part.forest)
    assert both.oob_error == pytest.approx(error_by_hand([a, b], table), rel=1e-12)
    assert both.error_path.iloc[6] == a.oob_error
    assert both.control.n_trees == both.fit.request.n_trees == 11
    text = str(both.summary())
    assert "1, 2" in text
    assert both.call == f"{a.call}.combine({b.call})"


def test_blends(table):
    rows = pd.concat([table] * 5, ignore_index=True)
    a, b = (fit(rows, seed, B, REGRESSION, blend=True) for seed, B in [(1, 20), (2, 30)])
    both = a.combine(b)
    assert both.oob_error == pytest.approx(error_by_hand([a, b], rows), rel=1e-12)
    assert (both.kinds["trees"] == a.kinds["trees"] + b.kinds["trees"]).all()
    for column in ("weight", "pilot_error"):
        mean = 0.4 * a.kinds[column] + 0.6 * b.kinds[column]
        np.testing.assert_allclose(both.kinds[column], mean)
    assert both.kinds["weight"].sum() == pytest.approx(1)
    assert "Kinds of trees" in str(both.summary())


def test_forests_pruned_by_their_option_are_pruned_anew(table):
    a, b = fit(table, 1, alpha=0.02), fit(table, 2, alpha=0.02)
    both = a.combine(b)
    assert same_bits(both.tree(7).forest, b.tree(2).forest)
    assert (both.n_leaves < both.parent.n_leaves).any()
    a, b, c = (fit(table, seed, alpha="oob") for seed in (1, 2, 3))
    left, right = a.combine(b).combine(c), a.combine(b.combine(c))
    assert same_bits(left.forest, right.forest)
    assert left.control.alpha == right.control.alpha
    assert left.control.alpha == pytest.approx(left.parent.prune(rule="min").control.alpha)


def test_after_growing_and_from_disk(table, tmp_path):
    a, b = fit(table, 1, 3).grow(2), fit(table, 2, 5)
    b.save(tmp_path / "b.odrf")
    both = a.combine(odrf.load(tmp_path / "b.odrf"))
    assert same_bits(both.forest, fit(table, 1, 5).combine(b).forest)
    both.save(tmp_path / "both.odrf")
    assert odrf.load(tmp_path / "both.odrf").oob_error == both.oob_error


def test_importances_and_intervals_take_all_trees(table):
    a, b = fit(table, 1, 60, REGRESSION), fit(table, 2, 60, REGRESSION)
    both = a.combine(b)
    permuted = [forest.importance("permutation")["importance"] for forest in (a, b, both)]
    np.testing.assert_allclose(permuted[2], ((permuted[0] + permuted[1]) / 2)[permuted[2].index])
    interval = both.predict(interval="prediction", level=0.9)
    assert interval["conf_low"].lt(interval["conf_high"]).all()


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
def test_guided_forests(table, formula):
    a, b, c = (
        odrf.graf(formula, table, n_trees=B, subspace=2, seed=B, n_jobs=1) for B in (3, 5, 4)
    )
    left, right = a.combine(b).combine(c), a.combine(b.combine(c))
    assert same_bits(left.guided, right.guided)
    assert left.predict().equals(right.predict())
    leaves = [part.predict(type="leaf").to_numpy() for part in (a, b, c)]
    assert (left.predict(type="leaf") == np.hstack(leaves)).all(axis=None)
    assert "3, 5" in str(a.combine(b).summary())
    with pytest.raises(InputError, match="min_split=, 2 and 9"):
        a.combine(odrf.graf(formula, table, n_trees=2, subspace=2, min_split=9, seed=1))
    with pytest.raises(InputError, match="3 random streams are in both"):
        left.combine(a)
    with pytest.raises(InputError, match="several seeds"):
        left.grow(2)


@pytest.fixture(scope="module")
def one(table):
    return fit(table, 1)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda data: data.assign(c=data["c"].str.upper()), r"the classes of 'c', \['low'"),
        (
            lambda data: data.assign(f=data["f"].replace("z", "y")),
            r"columns, 'f\[z\]' being in .*first",
        ),
        (lambda data: data[:100], "number of rows, 120 and 100: out-of-bag results"),
        (lambda data: data.assign(c=data["c"].to_numpy()[::-1]), "of the response 'c' in row"),
        (lambda data: data.assign(b=2 * data["b"]), "the range of 'b', by which it is scaled"),
        (lambda data: data.assign(a=data["a"].to_numpy()[::-1]), "the values of 'a' in row 0 and"),
    ],
)
def test_other_data_are_refused(table, one, change, message):
    with pytest.raises(InputError, match=message):
        one.combine(fit(change(table), 2))


@pytest.mark.parametrize(
    ("formula", "message"),
    [
        (REGRESSION, "response, 'c' and 'y': trees of different responses"),
        ("c ~ a + b", "predictors, 'f' being in the first only: both forests must have the same"),
        ("c ~ a + b + f + a:b", "predictors, 'a:b' being in the second only"),
        ("c ~ f + b + a", "predictors, which come in another order"),
    ],
)
def test_other_formulas_are_refused(table, one, formula, message):
    with pytest.raises(InputError, match=message):
        one.combine(fit(table, 2, formula=formula))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"weights": np.arange(120) + 1.0}, "case weights in row 1 and 118 more"),
        ({"missing": "drop"}, "missing=, 'split' and 'drop'"),
        ({"unseen": "raise"}, "unseen=, 'missing' and 'raise': only one of them predicts"),
        ({"projection": "axis"}, r"projection=, .* of Logistic\(\) and 2 of Axis\(\)"),
        ({"n_projections": 7}, r"projection=, .* 7 of Logistic\(\)"),
        ({"min_leaf": 7}, "min_leaf=, 2 and 7: a combined forest has one set of options"),
        ({"honest": True}, "honest=, False and True"),
        ({"resample": "none"}, "resample=, 'bootstrap' and 'none'"),
        ({"alpha": 0.1}, "alpha=, None and 0.1"),
        ({"max_leaves": lambda n: 20}, "max_leaves=, None and 20"),
        ({"n_trees": 20, "blend": True}, "blend=, False and True"),
    ],
)
def test_other_options_are_refused(table, one, options, message):
    with pytest.raises(InputError, match=message):
        one.combine(fit(table, 2, **options))


def test_how_options_are_spelled_does_not_matter(table, one):
    other = fit(table, 2, projection=odrf.projections.Logistic(), min_leaf=2, resample="bootstrap")
    assert one.combine(other).forest.n_trees == 10


def test_kinds_of_numbers_are_told_apart(table):
    whole = table.assign(c=(table["c"] == "low").astype(int))
    with pytest.raises(InputError, match="kind, classification and regression"):
        fit(whole, 1, kind="classification").combine(fit(whole, 2, kind="regression"))


def test_the_same_trees_do_not_count_twice(table, one):
    for other in (one, fit(table, 1), one.grow(3), fit(table, 2).combine(one)):
        with pytest.raises(InputError, match="5 random streams are in both"):
            one.combine(other)


def test_pruned_by_hand(one, table):
    for pair in ((one.prune(0.1), fit(table, 2)), (fit(table, 2), one.prune(0.1))):
        with pytest.raises(InputError, match=r"combine\(\) cannot take a forest that prune"):
            pair[0].combine(pair[1])


@pytest.mark.parametrize("other", [None, "forest"])
def test_something_else(one, other):
    with pytest.raises(InputError, match="forests of one function, and this is ODRFResults"):
        one.combine(other)


def test_forests_of_another_function(one, table):
    guided = odrf.graf(CLASSES, table, n_trees=2, seed=1)
    with pytest.raises(InputError, match="other=GRAFResults"):
        one.combine(guided)
    with pytest.raises(InputError, match="this is GRAFResults"):
        guided.combine(one)


def test_several_seeds_have_no_next_tree(one, table):
    with pytest.raises(InputError, match="several seeds: grow the forests"):
        one.combine(fit(table, 2)).grow(1)
