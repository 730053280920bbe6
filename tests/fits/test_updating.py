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
    assert changes["leaves"].tolist() == fit.n_leaves.tolist()
    assert changes["leaves_before"].tolist() == first.n_leaves.tolist()
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
    assert tree.n_leaves.tolist() == [6]
    fit = tree.update(table[60:])
    assert fit.n_leaves.tolist() == [12]
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
    assert fit.control.max_leaves == round(constant * 120**0.5) == fit.n_leaves[0]
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
