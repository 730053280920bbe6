"""Trees and forests of events of several causes: incidence_by_cause, time lost, risks by cause."""

from __future__ import annotations

import warnings

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd
import pytest

import odrf
from lifetimes import incidence_by_cause
from odrf import InputError, simulate
from odrf.fits.survival.validation import KEY, TIMES
from odrf.statistics.survival.discrimination import concordance_of_cause, unos_c
from odrf.statistics.survival.pseudo_values import RowwiseEstimate
from odrf.statistics.survival.scores import brier_scores

FORMULA = "Surv(time, event) ~ ."
PROBLEM = simulate.competing_risks(p=4)
CAUSES = ["relapse", "death"]


def renamed(data: pd.DataFrame) -> pd.DataFrame:
    codes = data["event"].astype(str).map({"censored": 0, "1": 1, "2": 2})
    event = pd.Categorical.from_codes(codes, ["censored", *CAUSES])
    return data.assign(event=event)


@pytest.fixture(scope="module")
def data() -> pd.DataFrame:
    return renamed(PROBLEM.sample(300, seed=1))


@pytest.fixture(scope="module")
def new() -> pd.DataFrame:
    return renamed(PROBLEM.sample(400, seed=2))


@pytest.fixture(scope="module")
def forest(data):
    return odrf.odrf(FORMULA, data, n_trees=60, seed=1)


def codes_of(data):
    return data["event"].cat.codes.to_numpy(np.int64)


@pytest.mark.parametrize("truncated", [False, True], ids=["from 0", "late entries"])
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weights"])
def test_a_tree_of_one_leaf_is_the_estimate_of_aalen_and_johansen(data, truncated, weighted):
    rng = np.random.default_rng(3)
    # whole weeks, so that events of both causes are at the same time
    time = np.ceil(data["time"].to_numpy() * 10)
    start = np.floor(time * rng.uniform(0, 0.9, len(time))) if truncated else None
    weights = rng.uniform(0.5, 2, len(time)) if weighted else None
    rows = data.assign(
        time=time, start=0.0 if start is None else start, w=1.0 if weights is None else weights
    )
    left = "Surv(start, time, event)" if truncated else "Surv(time, event)"
    tree = odrf.odt(f"{left} ~ x1 + x2", rows, max_leaves=1, weights="w" if weighted else None)
    twins = incidence_by_cause(time, codes_of(data), weights, start)
    at = np.array([0.5, 1, 3, 3.5, 8, 1000])
    found = tree.predict(type="incidence", times=at)
    assert found.columns.names == ["cause", "time"]
    for number, cause in enumerate(CAUSES, start=1):
        expected = twins[number].curve(at)
        np.testing.assert_allclose(found[cause], np.tile(expected, (len(rows), 1)), atol=1e-12)
        lost = tree.predict(type="lost", cause=cause, times=at)
        areas = twins[number].curve.integral(at)
        np.testing.assert_allclose(lost, np.tile(areas, (len(rows), 1)), rtol=1e-12)


def test_incidences_and_survival_add_up_to_1(forest, new):
    for rows in (None, new):
        incidence = forest.predict(rows, type="incidence")
        survival = forest.predict(rows, type="survival")
        total = incidence.T.groupby(level="time").sum().T
        np.testing.assert_allclose(total + survival, 1.0, atol=1e-12)
        assert (incidence.to_numpy() >= 0).all()
        assert (np.diff(incidence["death"].to_numpy(), axis=1) >= 0).all()


def test_time_lost_by_all_causes_and_time_without_event_are_the_time(forest, new):
    at = [0.3, 1.0, 2.5]
    lost = forest.predict(new, type="lost", times=at)
    rmst = forest.predict(new, type="rmst", times=at)
    assert lost.columns.names == ["cause", "horizon"]
    total = lost["relapse"] + lost["death"] + rmst
    np.testing.assert_allclose(total, np.tile(at, (len(new), 1)), atol=1e-12)
    by_step = forest.predict(new, type="incidence", cause="death")
    times = forest.event_times
    area = by_step.to_numpy()[:, :-1] @ np.diff(times)
    risk = forest.predict(new, type="risk", cause="death")
    np.testing.assert_allclose(risk, area, rtol=1e-9)
    last = forest.predict(new, type="lost")
    assert list(last.columns) == [(cause, times[-1]) for cause in CAUSES]
    assert last["death", times[-1]].tolist() == risk.tolist()


def test_one_cause_has_the_columns_of_all(forest, new):
    at = [1.0, 0.2, 0.2]
    both = forest.predict(new, type="incidence", times=at)
    for cause in CAUSES:
        one = forest.predict(new, type="incidence", times=at, cause=cause)
        assert one.columns.name == "time"
        assert one.columns.tolist() == at
        assert one.to_numpy().tolist() == both[cause].to_numpy().tolist()


def test_forests_of_events_of_one_kind_take_them_as_the_only_cause(data, new):
    happened = data.assign(event=data["event"] != "censored")
    forest = odrf.odrf(FORMULA, happened, n_trees=20, seed=1)
    survival = forest.predict(new, type="survival")
    for cause in (None, "event"):
        incidence = forest.predict(new, type="incidence", cause=cause)
        assert incidence.columns.equals(survival.columns)
        np.testing.assert_allclose(incidence, 1 - survival, atol=1e-12)


def test_what_holds_for_all_causes_is_not_divided(forest, new):
    mortality = forest.predict(new, type="risk")
    hazard = forest.predict(new, type="hazard")
    np.testing.assert_allclose(mortality, hazard.sum(axis=1), rtol=1e-9)


def test_causes_that_pull_in_opposite_directions_are_both_predicted(forest, data, new):
    """Better than the incidences of all rows, out of bag and for new rows."""
    at = np.quantile(data["time"], [0.2, 0.4, 0.6])
    whole = incidence_by_cause(data["time"].to_numpy(), codes_of(data))
    for rows, table in ((None, data), (new, new)):
        time, event = table["time"].to_numpy(), codes_of(table)
        for number, cause in enumerate(CAUSES, start=1):
            risk = forest.predict(rows, type="risk", cause=cause).to_numpy()
            assert concordance_of_cause(time, event, risk, number).estimate > 0.68
            found = forest.predict(rows, type="incidence", cause=cause, times=at).to_numpy()
            model = brier_scores(time, event, found, at, cause=number).integrated.estimate
            same = whole[number].curve(at)[np.newaxis]
            null = brier_scores(time, event, same, at, cause=number).integrated.estimate
            assert model < 0.96 * null


def test_predictions_are_near_the_truth(forest, new):
    at = [0.3, 0.8]
    for cause, name in (("1", "relapse"), ("2", "death")):
        truth = PROBLEM.cumulative_incidence(new, at, cause=cause)
        found = forest.predict(new, type="incidence", times=at, cause=name).to_numpy()
        error = np.sqrt(((found - truth) ** 2).mean())
        assert error < 0.6 * truth.std(axis=0).mean()


def test_threads_change_no_bit(data, forest):
    again = odrf.odrf(FORMULA, data, n_trees=60, seed=1, n_jobs=2)
    found = [each.predict(type="incidence").to_numpy().tobytes() for each in (again, forest)]
    assert found[0] == found[1]


def test_causes_by_numbers_and_without_rows(data):
    event = codes_of(data)
    rows = data.assign(event=pd.Categorical(event, [0, 1, 2, 7]))
    forest = odrf.odrf(FORMULA, rows, n_trees=30, seed=1)
    found = forest.predict(type="incidence", times=1.0)
    assert list(found.columns) == [("1", 1.0), ("2", 1.0)]
    one = forest.predict(type="incidence", times=1.0, cause=2)
    assert one[1.0].tolist() == found["2", 1.0].tolist()


def test_saved_and_loaded(forest, new, tmp_path):
    forest.save(tmp_path / "forest")
    again = odrf.load(tmp_path / "forest")
    assert again.predict(new, type="lost").equals(forest.predict(new, type="lost"))


def test_refused(forest, data):
    with pytest.raises(InputError, match="cause='x' is not known: use one of 'relapse', 'death'"):
        forest.predict(type="incidence", cause="x")
    with pytest.raises(InputError, match="cause= is for the types"):
        forest.predict(type="survival", cause="death")
    with pytest.raises(InputError, match="times= is for the types"):
        forest.predict(type="risk", cause="death", times=1.0)
    with pytest.raises(InputError, match="use finite numbers of at least 0"):
        forest.predict(type="lost", times=-1.0)
    boosted = odrf.odbt(FORMULA, data.assign(event=data["event"] == "death"), seed=1)
    with pytest.raises(InputError, match="incidence"):
        boosted.predict(type="incidence")


def test_trees_are_pruned_by_the_deviance_of_all_causes():
    """A predictor that moves events from one cause to the other leaves all-cause hazards alone."""
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (500, 3))
    first = rng.random(500) < 1 / (1 + np.exp(-6 * x[:, 0]))
    cause = np.where(rng.random(500) < 0.8, np.where(first, "a", "b"), "none")
    rows = pd.DataFrame(x, columns=["u", "v", "w"]).assign(
        time=rng.exponential(size=500), event=pd.Categorical(cause, ["none", "a", "b"])
    )
    tree = odrf.odt(FORMULA, rows, alpha="1se", seed=1)
    assert 1 < tree.n_leaves < 12
    lowest = rows.assign(u=-0.9, v=0.0, w=0.0).head(1)
    highest = lowest.assign(u=0.9)
    found = [tree.predict(row, type="incidence", times=3.0).iloc[0] for row in (lowest, highest)]
    assert found[0]["a", 3.0] < 0.2 < 0.6 < found[1]["a", 3.0]
    assert tree.nodes["relative_hazard"].iloc[0] == pytest.approx(1.0)
    by_rows = tree.parent.pruning_path(newdata=rows.head(100))
    assert by_rows.best("min").n_leaves > 1
    together = odrf.odt(FORMULA, rows.assign(event=cause != "none"), alpha="1se", seed=1)
    assert together.n_leaves == 1


MELANOMA = odrf.load_data("melanoma")


@pytest.fixture(scope="module")
def one_cause():
    """Events of one cause, of a column that names two; and the same without the other name."""
    declared = MELANOMA[MELANOMA["event"] != "other"].reset_index(drop=True)
    return declared, declared.assign(event=declared["event"].cat.remove_unused_categories())


@pytest.mark.parametrize("grow", [odrf.odt, odrf.odrf, odrf.odbt])
def test_causes_without_events_are_left_out(one_cause, grow):
    few = {} if grow is odrf.odt else {"n_trees": 5}
    fit, expected = (grow("Surv(time, event) ~ .", rows, seed=1, **few) for rows in one_cause)
    assert fit.fit.design.response.causes == ("melanoma",)
    assert fit.predict(type="risk").equals(expected.predict(type="risk"))
    assert fit.score().equals(expected.score())
    assert fit.score(one_cause[0]).equals(expected.score(one_cause[1]))


def test_incidences_are_those_of_causes_with_events(one_cause, tmp_path):
    fit, expected = (odrf.odt("Surv(time, event) ~ .", rows, seed=1) for rows in one_cause)
    assert fit.rules() == expected.rules()
    found = fit.predict(type="incidence", times=[1000.0])
    assert found.equals(expected.predict(type="incidence", times=[1000.0]))
    fit.save(tmp_path / "tree.odrf")
    again = odrf.load(tmp_path / "tree.odrf").predict(type="incidence", times=[1000.0])
    assert again.equals(found)


def test_the_first_category_means_censored_if_no_row_is(one_cause):
    events = MELANOMA[MELANOMA["event"] == "melanoma"]
    fit = odrf.odt("Surv(time, event) ~ .", events, seed=1)
    assert fit.fit.design.response.causes == ("melanoma",)
    assert fit.fit.times.n_events == len(events)


def test_a_cause_without_events_is_none_to_ask_for(one_cause):
    named = odrf.odrf("Surv(time, event) ~ .", one_cause[0], n_trees=5, seed=1, cause="melanoma")
    assert named.predict().equals(
        odrf.odrf("Surv(time, event) ~ .", one_cause[1], n_trees=5, seed=1).predict()
    )
    message = "cause='other' is not known: use one of 'melanoma', of which the training rows have"
    with pytest.raises(InputError, match=message):
        odrf.odt("Surv(time, event) ~ .", one_cause[0], seed=1, cause="other")
    with pytest.raises(InputError, match=message):
        named.predict(type="incidence", cause="other")
    with pytest.raises(
        InputError, match="has causes that no training row has: 'other'; leave such"
    ):
        named.score(MELANOMA)


@pytest.fixture(scope="module", params=[None, "death"], ids=["all causes", "one cause"])
def some_tree(data, request):
    return odrf.odt(FORMULA, data, cause=request.param, max_leaves=4, seed=1)


def incidence_of_leaf(tree, data, node: int, cause: int):
    rows = tree.predict(type="leaf")[0].to_numpy() == node
    time, event = data["time"].to_numpy()[rows], codes_of(data)[rows]
    return incidence_by_cause(time, event)[cause], event


def test_nodes_count_the_events_of_each_cause(some_tree, data):
    nodes = some_tree.nodes
    for node in nodes.index[nodes["leaf"]]:
        for code, cause in enumerate(CAUSES, start=1):
            curve, event = incidence_of_leaf(some_tree, data, node, code)
            assert nodes.loc[node, f"events({cause})"] == (event == code).sum()
            assert nodes.loc[node, f"incidence({cause})"] == pytest.approx(curve.incidence[-1])
    assert nodes.loc[0, "events(death)"] == (codes_of(data) == 2).sum()


def test_times_of_a_tree_of_one_cause_are_those_of_its_incidence(data):
    tree = odrf.odt(FORMULA, data, cause="death", max_leaves=4, seed=1)
    nodes = tree.nodes
    for node in nodes.index[nodes["leaf"]]:
        curve, _ = incidence_of_leaf(tree, data, node, 2)
        reached = curve.times[curve.incidence >= 0.5]
        assert nodes.loc[node, "median"] == (reached[0] if len(reached) else np.inf)
    assert "events of 'death'" in tree.rules().splitlines()[1]
    assert "median" not in tree.rules() and "incidence = " in tree.rules()
    (leaves,) = (t for name, t in tree.summary().sections.items() if name.startswith("Leaves"))
    assert list(leaves) == ["count", "events", "rate", "incidence(death)", "relative_hazard"]


def test_events_of_all_causes_are_told_by_cause(data):
    tree = odrf.odt(FORMULA, data, max_leaves=3, seed=1)
    of_root = f"relapse: {(codes_of(data) == 1).sum()}, death: {(codes_of(data) == 2).sum()}"
    assert f"events = {(codes_of(data) > 0).sum()} ({of_root})" in tree.rules()
    (leaves,) = (t for name, t in tree.summary().sections.items() if name.startswith("Leaves"))
    assert {"events(relapse)", "events(death)"} <= set(leaves)
    ax = tree.plot()
    written = {text.get_text() for text in ax.texts}
    for node in leaves.index:
        assert {f"{cause}: {leaves.loc[node, f'events({cause})']:.0f}" for cause in CAUSES} <= (
            written
        )
    plt.close(ax.figure)


@pytest.mark.parametrize("cause", CAUSES)
def test_leaves_of_a_tree_of_one_cause_show_its_incidence(data, cause):
    about, code = (
        odrf.odt(FORMULA, data, cause=cause, max_leaves=3, seed=1),
        1 + CAUSES.index(cause),
    )
    asked = odrf.odt(FORMULA, data, max_leaves=3, seed=1)
    for tree, ax in ((about, about.plot()), (asked, asked.plot(cause=cause))):
        written = {text.get_text() for text in ax.texts}
        drawn = [panel.lines[1].get_ydata() for panel in ax.child_axes]
        for node in tree.nodes.index[tree.nodes["leaf"]]:
            curve, event = incidence_of_leaf(tree, data, node, code)
            assert f"n = {len(event)}, {cause}: {(event == code).sum()}" in written
            expected = [0.0, *curve.incidence, curve.incidence[-1]]
            assert any(len(y) == len(expected) and np.allclose(y, expected) for y in drawn)
        assert f"incidence of {cause}" in " ".join(written)
        plt.close(ax.figure)
    with pytest.raises(InputError, match="cause="):
        asked.plot("importance", cause=cause)
    with pytest.raises(InputError, match="are about"):
        about.plot(cause=CAUSES[2 - code])
    ax = asked.plot(cause=cause)
    hazards = asked.fit.hazards.of_cause[:, code - 1]
    written = {text.get_text() for text in ax.texts}
    for node in asked.nodes.index[asked.nodes["leaf"]]:
        assert f"relative hazard {hazards[node] / hazards[0]:.3g}" in written
    plt.close(ax.figure)


@pytest.mark.parametrize("truncated", [False, True], ids=["from 0", "late entries"])
def test_groups_of_risk_of_one_cause_are_drawn_by_incidence(data, truncated):
    rows = data.assign(start=data["time"] / 3 if truncated else 0.0)
    left = "Surv(start, time, event)" if truncated else "Surv(time, event)"
    asked = odrf.odrf(f"{left} ~ .", rows, n_trees=20, seed=1)
    about = odrf.odrf(f"{left} ~ .", rows, cause="death", n_trees=20, seed=1)
    for ax in (asked.plot("curves", cause="death"), about.plot("curves")):
        assert ax.get_ylabel().startswith("incidence of death")
        for line in ax.lines:
            assert line.get_ydata()[0] == 0 and (np.diff(line.get_ydata()) > -1e-12).all()
        plt.close(ax.figure)
    assert asked.plot("curves").lines[0].get_ydata()[0] == 1
    with pytest.raises(InputError, match="cause"):
        asked.plot("error", cause="death")
    plt.close("all")


def test_observed_incidence_of_groups_of_risk(forest, data):
    ax = forest.plot("curves", cause="death")
    risk = forest.predict(type="risk", cause="death").to_numpy()
    counts = [text for text in ax.texts if text.get_ha() == "center" and text.xy[0] == 0]
    lowest = risk <= np.sort(risk)[int(counts[0].get_text()) - 1]
    curve = incidence_by_cause(data["time"].to_numpy()[lowest], codes_of(data)[lowest])[2]
    np.testing.assert_allclose(ax.lines[0].get_ydata()[1:], curve.incidence)
    times = ax.lines[1].get_xdata()
    found = forest.predict(type="incidence", cause="death", times=times).to_numpy()
    np.testing.assert_allclose(ax.lines[1].get_ydata(), found[lowest].mean(axis=0), atol=1e-12)
    plt.close(ax.figure)


def test_curves_of_one_cause_are_its_incidences(forest, data, new):
    rows = new.head(3)
    curves = forest.curves(rows, cause="death")
    found = forest.predict(rows, type="incidence", cause="death")
    pd.testing.assert_frame_equal(curves.table, found)
    reached = (found.to_numpy() >= 0.25).argmax(axis=1)
    assert curves.quartiles[0.25].tolist() == forest.event_times[reached].tolist()
    assert "Incidence of 'death' by time" in str(curves.summary())
    ax = curves.plot()
    assert ax.get_ylabel() == "predicted incidence of death"
    assert all(line.get_ydata()[0] == 0 for line in ax.lines[:3])
    plt.close(ax.figure)
    about = odrf.odrf(FORMULA, data, cause="death", n_trees=20, seed=1)
    found = about.predict(rows, type="incidence", cause="death", times=[1, 2])
    pd.testing.assert_frame_equal(about.curves(rows, times=[1, 2]).table, found)
    assert about.curves(rows, times=[0.01]).quartiles.shape == (3, 3)


# ------------------------------------------------------------------------------------------------
# Importances of survival forests against a slow twin; more trees, and the trees of two forests.
# ------------------------------------------------------------------------------------------------


def table_with_a_factor():
    data = odrf.simulate.proportional_hazards(p=3, relevant=2).sample(220, seed=1)
    data["place"] = pd.Categorical(np.random.default_rng(1).choice(list("abcdefgh"), len(data)))
    return data.assign(constant=1.0)


DATA = table_with_a_factor()


@pytest.fixture(scope="module")
def forest_of_survival_importances():
    return odrf.odrf(FORMULA, DATA, n_trees=30, seed=1)


def out_of_bag_by_hand(forest, data, grid):
    """Risks and survival of rows, by the trees that did not draw them, tree by tree."""
    unseen = forest.fit.draws.all_unseen()
    risk, survival = np.zeros(len(data)), np.zeros((len(data), len(grid)))
    for b in range(forest.forest.n_trees):
        tree = forest.tree(b)
        risk[unseen[b]] += tree.predict(data).to_numpy()[unseen[b]]
        survival[unseen[b]] += tree.predict(data, type="survival", times=grid)[unseen[b]]
    votes = unseen.sum(axis=0)
    return risk / votes, survival / votes[:, None]


def test_permutation_importance_is_that_of_the_twin(forest_of_survival_importances):
    time, event = DATA["time"].to_numpy(), DATA["event"].to_numpy()
    rows = forest_of_survival_importances._evaluated_training.rows
    until = rows.last_time()
    grid, n = rows.grid(until, TIMES), len(DATA)

    def scores(data):
        risk, survival = out_of_bag_by_hand(forest_of_survival_importances, data, grid)
        C = unos_c(time, event, risk, np.nextafter(until, np.inf))
        return C, brier_scores(time, event, 1 - survival, grid).integrated

    before = scores(DATA)
    found = forest_of_survival_importances.importance()
    repeats = 10
    for name in ("x1", "place"):
        j = list(forest_of_survival_importances.design.predictors).index(name)
        rng, falls, rises = (
            np.random.default_rng((forest_of_survival_importances.seed, KEY, j)),
            [],
            [],
        )
        for _ in range(repeats):
            permuted = DATA.assign(**{name: DATA[name].to_numpy()[rng.permutation(np.arange(n))]})
            if name == "place":
                permuted[name] = pd.Categorical(permuted[name], DATA[name].cat.categories)
            after = scores(permuted)
            falls.append(
                (before[0].estimate - after[0].estimate, before[0].influence - after[0].influence)
            )
            rises.append(after[1].estimate - before[1].estimate)
        line = found.loc[name]
        mean = RowwiseEstimate(
            float(np.mean([fall for fall, _ in falls])), np.mean([one for _, one in falls], axis=0)
        )
        assert line["importance"] == pytest.approx(mean.estimate)
        assert line["brier_rise"] == pytest.approx(np.mean(rises))
        drawn = np.std([fall for fall, _ in falls], ddof=1) / np.sqrt(repeats)
        assert line["monte_carlo_error"] == pytest.approx(drawn)
        assert line["std_error"] == pytest.approx(np.hypot(mean.std_error, drawn))


def test_importances_tell_what_matters(forest_of_survival_importances):
    table = forest_of_survival_importances.importance()
    assert set(table.index[:2]) == {"x1", "x2"}
    assert (table.loc[["x1", "x2"], "conf_low"] > 0).all()
    assert (table.loc["constant"] == 0).all()
    assert table["importance"].is_monotonic_decreasing
    pd.testing.assert_frame_equal(table, odrf.odrf(FORMULA, DATA, n_trees=30, seed=1).importance())


def test_impurity_adds_up_to_shares(forest_of_survival_importances):
    table = forest_of_survival_importances.importance("impurity")
    assert table["share"].sum() == pytest.approx(1)
    assert set(table.index[:2]) == {"x1", "x2"}
    gains = forest_of_survival_importances.forest
    split = gains.is_split()
    root = np.repeat(gains.root[:-1], np.diff(gains.root))
    removed = (gains.weight * gains.gain)[split] / gains.weight[root][split]
    assert table["importance"].sum() == pytest.approx(removed.sum() / gains.n_trees)


def test_one_cause_has_importances_of_its_own():
    data = odrf.simulate.competing_risks(p=4).sample(400, seed=1)
    fit = odrf.odrf(FORMULA, data, n_trees=60, seed=1)
    by_cause = [fit.importance(cause=cause) for cause in fit.design.response.causes]
    assert not by_cause[0]["importance"].equals(by_cause[1]["importance"])
    assert by_cause[0].columns.tolist() == fit.importance().columns.tolist()
    assert "Scores by cause (out of bag)" in fit.summary().sections


@pytest.mark.parametrize("options", [{"blend": False}, {"blend": True}])
def test_more_trees_are_those_that_would_have_been_grown(options):
    few, all_at_once = (
        odrf.odrf(FORMULA, DATA, n_trees=trees, seed=1, **options) for trees in (60, 75)
    )
    grown = few.grow(15)
    pd.testing.assert_series_equal(grown.predict(DATA), all_at_once.predict(DATA), check_exact=True)
    for one, other in zip(grown.fit.curves, all_at_once.fit.curves, strict=True):
        np.testing.assert_array_equal(one, other)
    pd.testing.assert_frame_equal(grown.oob_scores, all_at_once.oob_scores)
    assert grown.call.endswith(".grow(15)")


def test_the_trees_of_two_forests_predict_their_mean():
    one, other = (odrf.odrf(FORMULA, DATA, n_trees=20, seed=seed) for seed in (1, 2))
    both = one.combine(other)
    mean = (one.predict(DATA) + other.predict(DATA)) / 2
    np.testing.assert_allclose(both.predict(DATA), mean)
    curves = [fit.predict(DATA, type="survival", times=[0.5]) for fit in (one, other, both)]
    np.testing.assert_allclose(curves[2], (curves[0] + curves[1]) / 2)


def test_the_forest_is_the_mean_of_its_trees(forest_of_survival_importances):
    trees = [
        forest_of_survival_importances.tree(b)
        for b in range(forest_of_survival_importances.forest.n_trees)
    ]
    mean = sum(tree.predict(DATA, type="survival", times=[0.3, 0.9]) for tree in trees) / len(trees)
    np.testing.assert_allclose(
        forest_of_survival_importances.predict(DATA, type="survival", times=[0.3, 0.9]), mean
    )
    assert set(forest_of_survival_importances.splits["tree"]) == set(range(len(trees)))
    assert trees[0].score().index.name == "out of bag"


def test_kinds_tell_how_the_trees_of_a_blend_were_grown():
    fit = odrf.odrf(FORMULA, DATA, n_trees=60, blend=True, seed=1)
    assert fit.kinds["trees"].sum() == 60
    for told in (fit, fit.estimand("rmst", time=1.0)):
        assert "sum of Brier scores at nine times" in " ".join(str(told.summary()).split())
    with pytest.raises(odrf.InputError, match="one kind"):
        odrf.odrf(FORMULA, DATA, n_trees=5, blend=False, seed=1).kinds  # noqa: B018


# ------------------------------------------------------------------------------------------------
# Predictions after the end of all observation, of which the training rows know nothing.
# ------------------------------------------------------------------------------------------------

DATA_OF_LATER_TIMES = odrf.load_data("melanoma")
LAST = DATA_OF_LATER_TIMES["time"].max()
FORMULA_OF_LATER_TIMES = "Surv(time, event) ~ thickness + age"
ASKED = [
    lambda fit, times: fit.predict(DATA_OF_LATER_TIMES.head(2), type="survival", times=times),
    lambda fit, times: fit.predict(DATA_OF_LATER_TIMES.head(2), type="rmst", times=times),
    lambda fit, times: fit.predict(DATA_OF_LATER_TIMES.head(2), type="lost", times=times),
    lambda fit, times: fit.curves(DATA_OF_LATER_TIMES.head(2), times=times),
    lambda fit, times: fit.bands(DATA_OF_LATER_TIMES.head(2), times=times),
]


@pytest.fixture(scope="module")
def forest_of_later_times():
    return odrf.odrf(
        FORMULA_OF_LATER_TIMES, DATA_OF_LATER_TIMES, n_trees=400, inference=True, seed=1
    )


@pytest.mark.parametrize("asked", ASKED)
def test_times_after_all_observation_warn(forest_of_later_times, asked):
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        asked(forest_of_later_times, [100, float(LAST)])
    with pytest.warns(UserWarning, match=f"30000 is after {LAST}, the end of the observation"):
        asked(forest_of_later_times, [100, 30000])


def test_a_curve_with_a_law_goes_on():
    death = "Surv(time, event != 'censored') ~ thickness + age"
    by_law = odrf.odbt(death, DATA_OF_LATER_TIMES, loss="weibull", n_trees=5, seed=1)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        later = by_law.predict(DATA_OF_LATER_TIMES, type="survival", times=[LAST, 30000])
    assert (later[30000] < later[LAST]).all()
    with pytest.warns(UserWarning, match="30000 is after"):
        odrf.odbt(death, DATA_OF_LATER_TIMES, n_trees=5, seed=1).predict(
            DATA_OF_LATER_TIMES, type="hazard", times=30000
        )
