"""Fits that go on growing on further rows."""

from __future__ import annotations

import warnings
from dataclasses import replace
from itertools import pairwise

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from forests import same_bits
from odrf import InputError
from odrf.engine.resamples import draw_counts
from odrf.options.sizes import Rule
from reference.honesty import filled
from reference.inference import draws
from resampled import all_counts

REGRESSION, CLASSES = "y ~ a + b + f", "c ~ a + b + f"
quick = settings(deadline=None, max_examples=8)


def forest(table, formula=REGRESSION, **options):
    return odrf.odrf(formula, table, **{"n_trees": 6, "seed": 1, "n_jobs": 1} | options)


@pytest.fixture(scope="module")
def grown(table):
    """A forest that two batches have updated."""
    return forest(table[:60]).update(table[60:90]).update(table[90:])


def require_same(one, other):
    assert same_bits(one.forest, other.forest)
    assert one.predict().equals(other.predict())


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf])
def test_the_rows_are_the_old_ones_then_the_new_ones(table, formula, grow):
    given = {"alpha": None} if grow is odrf.odt else {"n_trees": 5}
    first = grow(formula, table[:70], seed=1, **given)
    before = first.predict(table)
    fit = first.update(table[70:])
    assert first.predict(table).equals(before) and first.nobs == 70
    assert fit.fit.data.index.equals(table.index)
    X, y = first.design.labelled(table)
    assert fit.fit.data.X.tolist() == X.tolist() and fit.fit.data.y.tolist() == y.tolist()
    assert fit.call == f"{first.call}.update(newdata)"
    assert type(fit) is type(first) and fit.design is first.design
    changes = fit.changes
    # of one tree it is a number
    assert changes["leaves"].tolist() == np.atleast_1d(fit.n_leaves).tolist()
    assert changes["leaves_before"].tolist() == np.atleast_1d(first.n_leaves).tolist()
    held = changes["leaves_before"] - changes["withdrawn"]
    assert (changes["revisited"] <= held).all() and (changes["split"] <= changes["revisited"]).all()
    assert "50 rows added: leaves" in str(fit.summary())
    assert fit.predict(table).equals(fit.predict(training="in-bag"))


@quick
@given(st.lists(st.integers(1, 30), max_size=4), st.sampled_from([REGRESSION, CLASSES]))
def test_any_batches_make_a_valid_forest_of_the_same_draws(table, sizes, formula):
    first = forest(table[:50], formula, resample="subsample", honest=True)
    ends = [50, *(50 + np.cumsum(sizes)[np.cumsum(sizes) < 70]).tolist(), 120]
    fit = first
    for begin, end in pairwise(ends):
        fit = fit.update(table[begin:end])
    at_once = first.update(table[50:])
    rows = fit.fit.data
    drawn = draws(rows.weights, fit.fit.samplings, fit.fit.streams)
    others = at_once.fit
    assert drawn.tolist() == draws(rows.weights, others.samplings, others.streams).tolist()
    roots = fit.forest.root[:-1]
    others = at_once.forest
    assert fit.forest.count[roots].tolist() == others.count[others.root[:-1]].tolist()
    leaves = fit.forest.left < 0
    tree = np.repeat(np.arange(6), np.diff(fit.forest.root))
    per_tree = np.bincount(tree[leaves], fit.forest.count[leaves])
    assert per_tree.tolist() == fit.forest.count[roots].tolist()
    assert len(fit.control.batches) == len(ends) - 1


@pytest.mark.parametrize("formula", [REGRESSION, CLASSES])
def test_one_by_one_the_draws_and_the_nodes_are_those_of_all_rows(table, formula):
    first = fit = forest(table[:100], formula)
    for i in range(100, 105):
        fit = fit.update(table[i : i + 1])
    assert fit.call == f"{first.call}.update(…, 5 times, 5 rows)"
    counts, own = all_counts(fit.fit.draws).astype(np.int64), fit.fit
    at_once = first.update(table[100:])
    assert counts.tolist() == all_counts(at_once.fit.draws)[:, :105].tolist()
    for b, tree in enumerate(own.forest.tree(b) for b in range(len(counts))):
        expected = filled(
            tree, own.data.X, own.data.y, own.data.weights, counts[b],
            own.control.settings.criterion, own.control.settings.n_classes,
        )  # fmt: skip
        nodes = [expected[i] for i in range(tree.n_nodes)]
        assert tree.count.tolist() == [node.count for node in nodes]
        for name in ("weight", "value", "impurity"):
            values = [getattr(node, name) for node in nodes]
            np.testing.assert_allclose(getattr(tree, name), values, rtol=1e-9, atol=1e-12)


def test_what_updates_had_says_what_to_use_instead(table, grown):
    with pytest.raises(InputError, match=r"'keep': update\(\) keeps all rows: fit again"):
        grown.update(table[:20], keep=50)
    for fit in (grown, grown.tree(0), odrf.odbt(REGRESSION, table, n_trees=2, seed=1)):
        with pytest.raises(InputError, match=r"'drift_path': compare predict\(newdata\) with"):
            fit.drift_path()


@pytest.mark.parametrize("honest", [False, True])
def test_out_of_bag_is_what_trees_say_of_rows_they_have_not_drawn(table, honest):
    fit = forest(table[:60], CLASSES, n_trees=9, honest=honest).update(table[60:])
    own = fit.fit
    total, votes = np.zeros((120, 3)), np.zeros(120)
    for i, stream in enumerate(own.streams):
        unseen = draw_counts(stream.copy(), own.data.weights, own.samplings[i]) == 0
        total += fit.tree(i).predict(type="prob").to_numpy() * unseen[:, None]
        votes += unseen
    known = votes > 0
    assert 0 < known[60:].sum() <= 60
    wrong = total[known].argmax(axis=1) != own.data.y[known]
    assert fit.oob_error == pytest.approx(wrong.mean(), rel=1e-12)
    assert fit.importance("permutation")["importance"].notna().all()


def test_what_asks_again_which_rows_were_drawn(grown):
    assert grown.growth_path().table["test"].iloc[-1] == grown.oob_error
    quantiles = grown.predict(type="quantile", training="in-bag")
    assert (quantiles[0.05] <= quantiles[0.95]).all()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        ends = grown.predict(interval="confidence")
    known = ends.dropna()
    # two trees that did not draw a row may predict the same
    assert (known["conf_low"] < known["conf_high"]).mean() > 0.95
    assert (known["conf_low"] <= known["conf_high"]).all()
    assert grown.prune(rule="oob").n_leaves.sum() < grown.n_leaves.sum()
    assert grown.prune(rule="min").parent is grown
    assert grown.importance()["share"].clip(lower=0).sum() == pytest.approx(1.0)


def test_threads_and_files_change_no_bit(table, grown, tmp_path):
    first = forest(table[:60])
    one, three = (first.update(table[60:], n_jobs=jobs) for jobs in (1, 3))
    require_same(one, three)
    first.save(tmp_path / "first.odrf")
    again = odrf.load(tmp_path / "first.odrf").update(table[60:])
    require_same(one, again)
    grown.save(tmp_path / "grown.odrf")
    assert odrf.load(tmp_path / "grown.odrf").oob_error == grown.oob_error


def test_rows_of_weight_zero_change_nothing(table):
    weighted = table.assign(w=np.r_[np.ones(80), np.zeros(40)])
    first = forest(weighted[:80], weights="w")
    fit = first.update(weighted[80:])
    assert same_bits(fit.forest, first.forest)
    assert fit.oob_error == first.oob_error and fit.nobs == 80
    among = pd.concat([weighted[80:100].assign(w=0.0), table.assign(w=1.0)[80:]])
    later, at_once = (one.update(among) for one in (fit, first))
    plain = first.update(table.assign(w=1.0)[80:])
    assert same_bits(later.forest, plain.forest) and same_bits(at_once.forest, plain.forest)
    numbers = first.update(among.drop(columns="w"), weights=among["w"])
    assert same_bits(numbers.forest, plain.forest)
    assert at_once.fit.data.n_dropped == 0 and at_once.nobs == 120


def test_weights_of_the_new_rows(table):
    weights = np.linspace(0.5, 2, 120)
    weighted = table.assign(w=weights)
    by_name = forest(weighted[:80], weights="w").update(weighted[80:])
    assert by_name.fit.data.weights.tolist() == weights.tolist()
    first = forest(table[:80], weights=weights[:80])
    by_number = first.update(table[80:], weights=weights[80:])
    require_same(by_name, by_number)
    assert by_number.call.endswith(".update(newdata, weights=…)")
    named = forest(table[:80]).update(weighted[80:], weights="w")
    assert named.call.endswith(".update(newdata, weights='w')")
    assert named.fit.data.weights.tolist() == [*np.ones(80), *weights[80:]]
    for wrong, words in [
        (lambda: first.update(table[80:]), "give weights="),
        (lambda: first.update(table[80:], weights=[1.0]), "length 1"),
        (lambda: first.update(table[80:], weights=-weights[80:]), "negative"),
        (lambda: by_name.update(table[80:]), "'w' is not a column"),
    ]:
        with pytest.raises(InputError, match=words):
            wrong()


def test_missing_values_as_the_fit_says(table):
    gaps = table.copy()
    gaps.loc[["row80", "row95"], "a"] = np.nan
    gaps.loc["row90", "y"] = np.nan
    with pytest.raises(InputError, match="3 of 40 rows have missing values"):
        forest(table[:80], missing="raise").update(gaps[80:])
    updated = forest(table[:80]).update(gaps[80:])
    assert (updated.nobs, updated.fit.data.n_dropped) == (119, 1)
    fit = forest(table[:80], missing="drop").update(gaps[80:])
    require_same(fit, forest(table[:80]).update(gaps[80:].dropna()))
    assert fit.fit.data.n_dropped == 3
    assert "Missing values in the rows dropped: a 2, y 1." in str(fit.summary())
    with pytest.raises(InputError, match="no complete rows"):
        forest(table[:80], missing="drop").update(gaps[80:].assign(b=np.nan))


@pytest.mark.parametrize(
    "rows, words",
    [
        (lambda table: table[80:].assign(c="new"), "classes that no training row has"),
        (lambda table: table[80:].drop(columns="a"), "lacks column 'a'"),
        (lambda table: table[80:].drop(columns="c"), "lacks column 'c'.*need their responses"),
        (lambda table: table[80:].assign(a="text"), "held numbers in training"),
        (lambda table: table[:0], "no complete rows"),
        (lambda table: [1, 2], "must be a data frame"),
    ],
)
def test_rows_that_do_not_fit(table, rows, words):
    with pytest.raises(InputError, match=words):
        forest(table[:80], CLASSES).update(rows(table))


@pytest.mark.parametrize("revise", [-1, 2.5, "many", None])
def test_how_many_rows_settle_a_split_is_a_whole_number(table, revise):
    with pytest.raises(InputError, match="revise="):
        forest(table[:80]).update(table[80:], revise=revise)


def test_splits_stay_or_are_made_anew(table):
    tree = odrf.odt(REGRESSION, table[:60], seed=1)
    assert tree.update(table[60:], revise=0).changes["withdrawn"].sum() == 0
    assert tree.update(table[60:]).changes["withdrawn"].sum() > 0
    first = forest(table[:60])
    assert first.update(table[60:]).changes["withdrawn"].sum() == 0
    anew = first.update(table[60:], revise=100)
    assert (anew.changes["withdrawn"] > 0).all()
    assert len(anew.fit.n_at_split) == anew.forest.n_nodes
    one = anew.tree(3).update(table[:20])
    assert one.nobs == 140


def test_rules_in_n_are_asked_again(table, tmp_path):
    def leaves(n):
        return n / 10

    tree = odrf.odt(REGRESSION, table[:60], max_leaves=leaves, min_leaf=1, seed=1)
    assert tree.n_leaves == 6
    fit = tree.update(table[60:])
    assert fit.n_leaves == 12
    assert fit.control.max_leaves == fit.fit.request.max_leaves == 12
    assert "at n = 120" in str(fit.summary())
    tree.save(tmp_path / "tree.odrf")
    loaded = odrf.load(tmp_path / "tree.odrf")
    assert loaded.predict().equals(tree.predict())
    with pytest.raises(InputError, match=r"max_leaves= was a function of n, .*leaves', which the"):
        loaded.update(table[60:])
    share = forest(table[:60], resample="subsample", sample_fraction=lambda n: 30 / n)
    assert share.update(table[60:]).control.batches[0].fraction == 30 / 120


def test_a_rate_keeps_its_constant(table):
    tree = odrf.odt(REGRESSION, table[:60], max_leaves="sqrt", min_leaf=1, seed=1)
    fit = tree.update(table[60:])
    constant = tree.control.max_leaves_rule.constant
    assert fit.control.max_leaves == round(constant * 120**0.5) == fit.n_leaves
    assert fit.control.max_leaves_rule.constant == constant
    assert fit.control.max_leaves_rule.along[0] == constant * 120**0.5


def test_pruned_by_options_is_pruned_again(table):
    first = forest(table[:60], alpha=lambda n: 1 / n)
    fit = first.update(table[60:])
    require_same(fit.parent, forest(table[:60]).update(table[60:]))
    assert fit.control.alpha == 1 / 120 and first.control.alpha == 1 / 60
    assert fit.n_leaves.sum() < fit.parent.n_leaves.sum()
    assert fit.call == f"{first.call}.update(newdata)" == fit.parent.call
    found = forest(table[:60], alpha="oob").update(table[60:])
    assert found.control.alpha_rule == Rule("oob", found_by="out of bag")
    tree = odrf.odt(REGRESSION, table[:60], alpha="1se", seed=1).update(table[60:])
    assert tree.path is not None and tree.n_leaves < tree.parent.n_leaves
    assert tree.update(table[:5]).nobs == 125


@pytest.mark.parametrize("alpha", ["1se", "1/sqrt(n)"])
def test_alpha_is_kept_on_request(table, alpha):
    first = odrf.odt(REGRESSION, table[:60], alpha=alpha, seed=1)
    fit = first.update(table[60:100], alpha="same")
    expected = {"1se": 1.0, "1/sqrt(n)": 0.6**0.5}[alpha] * first.control.alpha
    assert fit.control.alpha == pytest.approx(expected, rel=1e-12)
    assert fit.control.alpha_rule.constant == first.control.alpha_rule.constant
    again = first.update(table[60:100])
    require_same(fit.parent, again.parent)
    require_same(fit, again.parent.prune(alpha=fit.control.alpha))
    assert "10-fold cross-validation, before update()" in " ".join(str(fit.summary()).split())
    # the next update may choose it again, as if nothing had been kept
    one, other = (each.update(table[100:]) for each in (fit, again))
    require_same(one, other)
    assert one.control.alpha == other.control.alpha
    assert not one.control.alpha_rule.earlier


def test_alpha_of_a_forest_is_kept_on_request(table):
    first = forest(table[:60], alpha="oob")
    fit = first.update(table[60:], alpha="same")
    assert fit.control.alpha == first.control.alpha
    assert "before update()" in " ".join(str(fit.summary()).split())
    with pytest.raises(InputError, match="alpha='keep' is not known: use one of 'again', 'same'"):
        first.update(table[60:], alpha="keep")
    plain = forest(table[:60])
    require_same(plain.update(table[60:], alpha="same"), plain.update(table[60:]))


def test_cut_trees_do_not_go_on(table, grown, number_tree):
    of_forest = grown.prune(0.5).tree(0)
    by_options = forest(table, n_trees=20, alpha="oob").tree(0)
    for cut in (grown.prune(0.02), number_tree.prune(leaves=2), of_forest, by_options):
        with pytest.raises(InputError, match="use its parent"):
            cut.update(table)
    kept = type(of_forest)(replace(of_forest.fit, pruning=None))  # a file of an earlier version
    with pytest.raises(InputError, match="update the fit before pruning"):
        kept.update(table)


def test_blends_keep_their_kinds(table):
    first = forest(table[:70], CLASSES, n_trees=24, blend=True)
    fit = first.update(table[70:])
    assert fit.kinds["trees"].tolist() == first.kinds["trees"].tolist()
    assert fit.fit.blend is first.fit.blend
    assert np.isfinite(fit.oob_error)
    own = draws(fit.fit.data.weights, fit.fit.samplings, fit.fit.streams)
    shares = {name: control.sample_fraction for name, control in fit.fit.kinds.items()}
    for g, share in enumerate(shares.values()):
        drawn = own[fit.fit.blend.of_tree == g][:, 70:]
        assert drawn.max(initial=0) <= 1
        assert drawn.size == 0 or abs(drawn.mean() - share) < 5 * (0.25 / drawn.size) ** 0.5
    one = fit.tree(5)
    assert same_bits(one.forest, fit.forest.tree(5))
    assert one.changes.index.tolist() == [5]


def test_larger_forests(table, grown):
    with pytest.raises(InputError, match="grow\\(\\) the forest first"):
        grown.grow(2)
    first = forest(table[:60])
    parts = [first, forest(table[:60], seed=2)]
    updated = [part.update(table[60:]) for part in parts]
    both = updated[0].combine(updated[1])
    assert same_bits(both.forest, parts[0].combine(parts[1]).update(table[60:]).forest)
    assert both.changes["leaves"].tolist() == both.n_leaves.tolist()
    assert len(both.fit.n_at_split) == both.forest.n_nodes
    apart = parts[1].update(table[60:70]).update(table[70:])
    with pytest.raises(InputError, match=r"batches of update\(\) begin, \[60\] and \[60, 70\]"):
        updated[0].combine(apart)


def test_nothing_has_changed_yet(number_forest):
    with pytest.raises(InputError, match="changes are known only after"):
        _ = number_forest.changes


def test_progress_is_shown_on_request(table, capsys):
    first = forest(table[:60])
    first.update(table[60:])
    assert capsys.readouterr().err == ""
    first.update(table[60:], progress=True)
    assert "6/6" in capsys.readouterr().err


def test_updated_rows_help(table):
    """A forest that knows further rows predicts the function better than before."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.random((900, 3)), columns=["a", "b", "f"])
    data["y"] = np.sin(6 * data["a"]) + data["b"] * data["f"] + rng.normal(size=900) / 10
    first = forest(data[:100], n_trees=20)
    fit = first.update(data[100:400])

    def error(some):
        return float(np.mean((some.predict(data[400:]) - data["y"][400:]) ** 2))

    assert error(fit) < 0.7 * error(first)
    assert fit.oob_error == pytest.approx(error(fit), rel=0.5)


@pytest.mark.parametrize("response", ["number", "two classes", "three classes", "ordered classes"])
@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf])
def test_what_a_leaf_stands_for_outlasts_splits_that_are_given_up(table, grow, response):
    low, top = table["y"].quantile([0.3, 0.6])
    place = np.digitize(table["y"], [low, top])
    levels = np.array(["low", "mid", "top"])
    responses = {
        "number": table["y"],
        "two classes": np.where(place > 0, "yes", "no"),
        "three classes": levels[place],
        "ordered classes": pd.Categorical(levels[place], list(levels), ordered=True),
    }
    data = table[["a", "b", "f"]].assign(r=responses[response])
    given = {"alpha": None} if grow is odrf.odt else {"n_trees": 5}
    first = grow("r ~ .", data[:50], seed=1, **given)
    fit = first.update(data[50:], revise=200)
    assert fit.changes["withdrawn"].sum() > 0
    assert fit.forest.ordered == first.forest.ordered == (response == "ordered classes")
    if response == "ordered classes":
        reached = np.cumsum(fit.predict(data, type="prob").to_numpy(), axis=1) >= 0.5 - 1e-12
        assert (fit.predict(data, type="class") == levels[reached.argmax(axis=1)]).all()


# ------------------------------------------------------------------------------------------------
# One forest of the trees of two, and what the two must share.
# ------------------------------------------------------------------------------------------------

quick_of_combining = settings(deadline=None, max_examples=6)
REGRESSION_OF_COMBINING, CLASSES_OF_COMBINING = "y ~ a + b + f", "c ~ a + b + f"


def fit(table, seed, n_trees=5, formula=CLASSES_OF_COMBINING, **options):
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


@quick_of_combining
@given(
    st.lists(st.integers(1, 6), min_size=3, max_size=3),
    st.sampled_from([REGRESSION_OF_COMBINING, CLASSES_OF_COMBINING]),
)
def test_associative_and_commutative(table, sizes, formula):
    a, b, c = (fit(table, seed, B, formula) for seed, B in enumerate(sizes))
    left, right = a.combine(b).combine(c), a.combine(b.combine(c))
    assert same_bits(left.forest, right.forest)
    assert left.fit.streams.tobytes() == right.fit.streams.tobytes()
    assert left.control == right.control
    assert left.fit.further_seeds == right.fit.further_seeds == (1, 2)
    kind = "response" if formula == REGRESSION_OF_COMBINING else "prob"
    assert left.predict(type=kind).equals(right.predict(type=kind))
    assert left.oob_error == right.oob_error
    turned = c.combine(b).combine(a)
    np.testing.assert_allclose(turned.predict(type=kind), left.predict(type=kind), atol=1e-12)
    np.testing.assert_allclose(turned.oob_error, left.oob_error, atol=1e-12)


@pytest.mark.parametrize("formula", [REGRESSION_OF_COMBINING, CLASSES_OF_COMBINING])
@pytest.mark.parametrize(
    "options",
    [{}, {"honest": True}, {"resample": "subsample", "projection": "rotation"}],
    ids=lambda options: ", ".join(options) or "default",
)
def test_the_trees_of_both_each_evaluated_on_rows_it_has_not_drawn(table, formula, options):
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
    a, b = (
        fit(rows, seed, B, REGRESSION_OF_COMBINING, blend=True) for seed, B in [(1, 20), (2, 30)]
    )
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
    a, b = fit(table, 1, 60, REGRESSION_OF_COMBINING), fit(table, 2, 60, REGRESSION_OF_COMBINING)
    both = a.combine(b)
    permuted = [forest.importance("permutation")["importance"] for forest in (a, b, both)]
    np.testing.assert_allclose(permuted[2], ((permuted[0] + permuted[1]) / 2)[permuted[2].index])
    interval = both.predict(interval="prediction", level=0.9)
    assert interval["conf_low"].lt(interval["conf_high"]).all()


@pytest.mark.parametrize("formula", [REGRESSION_OF_COMBINING, CLASSES_OF_COMBINING])
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
        (REGRESSION_OF_COMBINING, "response, 'c' and 'y': trees of different responses"),
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
    guided = odrf.graf(CLASSES_OF_COMBINING, table, n_trees=2, seed=1)
    with pytest.raises(InputError, match="other=GRAFResults"):
        one.combine(guided)
    with pytest.raises(InputError, match="this is GRAFResults"):
        guided.combine(one)


def test_several_seeds_have_no_next_tree(one, table):
    with pytest.raises(InputError, match="several seeds: grow the forests"):
        one.combine(fit(table, 2)).grow(1)


# ------------------------------------------------------------------------------------------------
# A forest with more trees is the forest that has had them from the start.
# ------------------------------------------------------------------------------------------------

REGRESSION_OF_ENLARGING, CLASSES_OF_ENLARGING = "y ~ a + b + f", "c ~ a + b + f"


@pytest.fixture(scope="module")
def long_table(table):
    """Rows enough for pilots that grow with the forest."""
    rng = np.random.default_rng(5)
    rows = pd.concat([table] * 5, ignore_index=True)
    return rows.assign(a=rows["a"] + rng.normal(size=600), y=rows["y"] + rng.normal(size=600))


def require_same_of_enlarging(larger, at_once):
    assert same_bits(larger.forest, at_once.forest)
    assert larger.fit.streams.tobytes() == at_once.fit.streams.tobytes()
    assert larger.control == at_once.control
    assert larger.fittedvalues.equals(at_once.fittedvalues)
    if larger.control.resample != "none":
        assert larger.error_path.equals(at_once.error_path)
        assert larger.oob_prediction.equals(at_once.oob_prediction)


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"honest": True},
        {"resample": "subsample", "sample_fraction": lambda n: n**-0.1},
        {"resample": "none"},
        {"projection": "rotation"},
        {"projection": {"axis": 1, "sparse": 2}, "criterion": "entropy"},
        {"weights": np.arange(120) % 3, "max_leaves": lambda n: n**0.5},
        {"alpha": 0.02, "pruning": "growth"},
        {"alpha": "oob"},
        {"alpha": "1/sqrt(n)"},
    ],
    ids=lambda options: ", ".join(options) or "default",
)
def test_grown_on_is_grown_at_once(table, options):
    at_once = odrf.odrf(CLASSES_OF_ENLARGING, table, n_trees=9, blend=False, seed=2, **options)
    first = odrf.odrf(CLASSES_OF_ENLARGING, table, n_trees=4, blend=False, seed=2, **options)
    before = first.fittedvalues
    larger = first.grow(5)
    require_same_of_enlarging(larger, at_once)
    assert first.forest.n_trees == 4
    assert first.fittedvalues.equals(before)
    assert (larger.parent is None) == (at_once.parent is None)
    if at_once.parent is not None:
        assert same_bits(larger.parent.forest, at_once.parent.forest)
        assert (larger.n_leaves < larger.parent.n_leaves).any()
    assert larger.call == f"{first.call}.grow(5)"
    assert larger.summary().call == larger.call
    assert "of 9 trees" in repr(larger)


@quick
@given(st.integers(1, 5), st.integers(1, 5), st.integers(1, 5), st.integers(0, 9))
def test_steps_do_not_matter(table, B, k, m, seed):
    start = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=B, seed=seed, n_jobs=1)
    at_once = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=B + k + m, seed=seed, n_jobs=1)
    require_same_of_enlarging(start.grow(k).grow(m), at_once)
    require_same_of_enlarging(start.grow(k + m), at_once)


def test_a_forest_of_one_tree_is_of_trees_that_try_fewer_predictors(table):
    options = {"projection": "axis", "seed": 1}
    start = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=1, **options)
    at_once = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=3, **options)
    assert start.control.mixture != at_once.control.mixture
    require_same_of_enlarging(start.grow(2), at_once)


def test_what_only_a_tree_alone_can_do_is_refused(table):
    tree = odrf.odrf(
        REGRESSION_OF_ENLARGING, table, n_trees=1, resample="none", max_leaves="sqrt", seed=1
    )
    with pytest.raises(InputError, match="max_leaves='sqrt'"):
        tree.grow(1)


def test_a_forest_of_one_kind_stays_so(table):
    at_once = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=100, blend=False, seed=1)
    larger = odrf.odrf(REGRESSION_OF_ENLARGING, table, n_trees=50, seed=1).grow(50)
    require_same_of_enlarging(larger, at_once)
    with pytest.raises(InputError, match="all trees are of one kind"):
        larger.kinds  # noqa: B018
    again = larger.select_variables(drop=0.5).best("min")
    with pytest.raises(InputError, match="all trees are of one kind"):
        again.kinds  # noqa: B018


@pytest.mark.parametrize(("B", "k"), [(20, 3), (20, 8), (25, 40)])
@pytest.mark.parametrize("formula", [REGRESSION_OF_ENLARGING, CLASSES_OF_ENLARGING])
def test_blends_of_enlarging(long_table, formula, B, k):
    options = {"blend": True, "seed": 4, "n_jobs": 1}
    at_once = odrf.odrf(formula, long_table, n_trees=B + k, **options)
    larger = odrf.odrf(formula, long_table, n_trees=B, **options).grow(k)
    require_same_of_enlarging(larger, at_once)
    assert larger.kinds.equals(at_once.kinds)
    assert larger.fit.kinds == at_once.fit.kinds
    assert larger.fit.request == at_once.fit.request


def test_a_blend_keeps_its_trees_where_its_pilots_are_the_same(long_table, monkeypatch):
    start = odrf.odrf(REGRESSION_OF_ENLARGING, long_table, n_trees=20, blend=True, seed=4)
    evaluated = []
    monkeypatch.setattr("odrf.fits.growing.evaluator_of_pilots", lambda *_: evaluated.append)
    larger = start.grow(3)
    assert evaluated == []
    assert larger.forest.n_trees == 23


def test_threads_change_no_bit(table):
    start = odrf.odrf(CLASSES_OF_ENLARGING, table, n_trees=5, seed=1, n_jobs=2)
    one, three = start.grow(7, n_jobs=1), start.grow(7, n_jobs=3)
    require_same_of_enlarging(one, three)
    assert one.control.n_jobs == 2


def test_after_it_has_been_on_disk(table, tmp_path):
    start = odrf.odrf(
        CLASSES_OF_ENLARGING, table, n_trees=5, alpha=lambda n: 1 / n, seed=np.random.default_rng(1)
    )
    start.save(tmp_path / "fit.odrf")
    require_same_of_enlarging(odrf.load(tmp_path / "fit.odrf").grow(4), start.grow(4))


def test_trees_that_the_user_pruned_are_not_joined_by_others(number_forest):
    for pruned in (number_forest.prune(0.02), number_forest.prune(rule="oob")):
        with pytest.raises(InputError, match="use its parent"):
            pruned.grow(2)
        assert pruned.parent.grow(2).prune(0.02).forest.n_trees == 14


def test_a_forest_pruned_by_its_option_and_again_by_the_user(table):
    pruned = odrf.odrf(CLASSES_OF_ENLARGING, table, n_trees=5, alpha=0.01, seed=1).prune(0.05)
    with pytest.raises(InputError, match="use its parent"):
        pruned.grow(2)
    assert pruned.parent.grow(2).control.alpha == 0.01


def test_unpruned_trees_of_a_selection_stay_unpruned(table):
    forest = odrf.odrf(CLASSES_OF_ENLARGING, table, n_trees=10, alpha=0.05, seed=1)
    selected = forest.select_variables(drop=0.5).best("min")
    assert selected.parent is None
    larger = selected.grow(3)
    assert same_bits(larger.tree(4).forest, selected.tree(4).forest)
    assert larger.parent is None


@pytest.mark.parametrize("k", [0, -1, 2.0, "3", True])
def test_how_many_is_a_whole_number(number_forest, k):
    with pytest.raises(InputError, match=r"k=.*: use a whole number of at least 1"):
        number_forest.grow(k)


def test_progress_is_shown_on_request_of_enlarging(number_forest, capsys):
    number_forest.grow(3)
    assert capsys.readouterr().err == ""
    number_forest.grow(3, progress=True)
    assert "3/3" in capsys.readouterr().err


@pytest.mark.parametrize("formula", [REGRESSION_OF_ENLARGING, CLASSES_OF_ENLARGING])
def test_guided_forests_of_enlarging(table, formula):
    options = {"subspace": 2, "seed": 3}
    at_once = odrf.graf(formula, table, n_trees=9, **options)
    start = odrf.graf(formula, table, n_trees=4, n_jobs=1, **options)
    larger = start.grow(2).grow(3, n_jobs=2)
    assert same_bits(larger.guided, at_once.guided)
    assert larger.fit.streams.tobytes() == at_once.fit.streams.tobytes()
    assert larger.predict().equals(at_once.predict())
    assert larger.sensitivity().table.equals(at_once.sensitivity().table)
    assert larger.call == f"{start.call}.grow(2).grow(3)"
    assert larger.control.n_trees == 9
