"""Hazards and deviances of nodes, and subtrees evaluated by rows that were held out."""

from __future__ import annotations

from dataclasses import fields

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.design.response import Response
from odrf.design.survival_times import SurvivalTimes
from odrf.engine.trees.routing import predict
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit
from odrf.fits.predicting import rows_of
from odrf.fits.survival import validation
from odrf.fits.survival.boosted import BoostedSurvivalFit
from odrf.fits.survival.curves import predict_survival
from odrf.fits.survival.hazards import hazard_scale
from odrf.pruning.event_deviance import event_losses


def rows(n=160, seed=3, starts=False):
    """Times of rows with two predictors that matter, one that does not, and a factor."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.random((n, 3)), columns=["a", "b", "c"])
    x["g"] = pd.Categorical(rng.choice(["u", "v", "w"], n))
    death = rng.exponential(1 / np.exp(2 * x["a"] - 1.5 * (x["b"] > 0.6) + (x["g"] == "u")))
    end = rng.exponential(1.2, n)
    time = np.minimum(death, end) + 0.01
    begin = {"start": time * rng.random(n) * 0.5} if starts else {}
    return x.assign(time=time, event=death <= end, **begin)


def deviance(event, exposure, weights, hazard):
    """Twice the log-likelihood that a hazard of its own for each row has more than this one."""
    total = 0.0
    for d, e, w in zip(event, exposure, weights, strict=True):
        expected = hazard * e
        total += 2 * w * ((d * np.log(d / expected) if d else 0.0) - (d - expected))
    return total


def exposure_of(data, weights=None):
    times = SurvivalTimes(data["time"].to_numpy(float), data["event"].to_numpy(int))
    weights = np.ones(len(data)) if weights is None else weights
    return hazard_scale(times, weights).exposure(times)


@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
@pytest.mark.parametrize("weighted", [False, True])
def test_nodes_tell_events_and_hazards_of_their_rows(criterion, weighted):
    data = rows()
    weights = np.random.default_rng(1).integers(1, 5, len(data)) / 2
    given = weights if weighted else None
    tree = odrf.odt(
        "Surv(time, event) ~ .", data, criterion=criterion, weights=given, alpha=None, max_leaves=6,
        seed=1,
    )  # fmt: skip
    w = weights if weighted else np.ones(len(data))
    exposure, event = exposure_of(data, w), data["event"].to_numpy()
    leaf, nodes = tree.predict(type="leaf")[0].to_numpy(), tree.nodes
    for node in nodes.index:
        below, waiting = [], [node]
        while waiting:
            at = waiting.pop()
            of = nodes.loc[at]
            below += [at] if of["leaf"] else []
            waiting += [] if of["leaf"] else [of["left"], of["right"]]
        here = np.isin(leaf, below)
        D, E = (w * event)[here].sum(), (w * exposure)[here].sum()
        hazard, own = (D + 1) / (E + 1), nodes.loc[node]
        assert own["count"] == here.sum() and own["weight"] == pytest.approx(w[here].sum())
        assert own["events"] == pytest.approx(D)
        person_time = (w * data["time"])[here].sum()
        assert own["person_time"] == pytest.approx(person_time)
        assert own["rate"] == pytest.approx(D / person_time)
        assert own["relative_hazard"] == pytest.approx(hazard, rel=1e-9)
        expected = deviance(event[here], exposure[here], w[here], hazard)
        assert own["weight"] * own["impurity"] == pytest.approx(expected, rel=1e-9)


def test_the_hazard_of_all_rows_is_one():
    for starts in (False, True):
        data = rows(starts=starts)
        left = "Surv(start, time, event)" if starts else "Surv(time, event)"
        tree = odrf.odt(f"{left} ~ a + b", data, max_leaves=3, seed=1)
        assert tree.nodes["relative_hazard"][0] == pytest.approx(1.0)
        assert tree.fit.hazards.expected[0] == pytest.approx(data["event"].sum())


def test_a_time_of_zero_counts_as_half_of_the_shortest():
    data = rows(60)
    data["time"] -= data["time"].min()
    data.loc[data["time"].idxmin(), "event"] = True
    tree = odrf.odt("Surv(time, event) ~ a + b", data, criterion="exponential", seed=1)
    later = data.assign(
        time=data["time"].where(data["time"] > 0, data["time"].nsmallest(2).iloc[1] / 2)
    )
    other = odrf.odt("Surv(time, event) ~ a + b", later, criterion="exponential", seed=1)
    hazards = tree.nodes["relative_hazard"], other.nodes["relative_hazard"]
    np.testing.assert_allclose(*hazards)


@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
def test_folds_evaluate_by_the_deviance_of_the_hazards_of_the_others(criterion):
    data = rows()
    fold = np.arange(len(data)) % 4
    tree = odrf.odt("Surv(time, event) ~ .", data, criterion=criterion, alpha=None, seed=1)
    table = tree.pruning_path(cv=fold).table
    exposure, event = exposure_of(data), data["event"].to_numpy()
    losses = np.empty(len(data))
    for f in range(4):
        rest, out = fold != f, fold == f
        D, E = event[rest].sum(), exposure[rest].sum()
        # of one leaf, the prior has the same hazard
        y = np.column_stack([event, exposure])[out].astype(float)
        losses[out] = event_losses(np.full((out.sum(), 1), D / E), y)
    root = table["error"].iloc[-1]
    assert table["xerror"].iloc[-1] == pytest.approx(losses.mean() / root)
    assert table["xstd"].iloc[-1] == pytest.approx(losses.std() / np.sqrt(len(data)) / root)
    assert table["xerror"].min() < table["xerror"].iloc[-1]


def test_new_rows_evaluate_by_the_scale_of_the_training_rows():
    data = rows()
    tree = odrf.odt("Surv(time, event) ~ .", data, alpha=None, seed=1)
    on_itself, path = tree.pruning_path(newdata=data).table, tree.pruning_path(cv=None).table
    np.testing.assert_allclose(on_itself["xerror"], path["relative_error"])
    with pytest.raises(odrf.InputError, match="lacks column 'time'"):
        tree.pruning_path(newdata=data.drop(columns="time"))
    with pytest.raises(odrf.InputError, match="no complete rows"):
        tree.pruning_path(newdata=data.head(0))


def test_weights_count_as_rows():
    data = rows(90)
    twice = pd.concat([data, data.iloc[:30]], ignore_index=True)
    weights = np.where(np.arange(90) < 30, 2.0, 1.0)
    options = {"alpha": 0.02, "projection": "axis", "min_leaf": 1, "seed": 1}
    options["split_search"] = "exact"
    for criterion in ("log_rank", "exponential"):
        one = odrf.odt("Surv(time, event) ~ a + b", twice, criterion=criterion, **options)
        other = odrf.odt(
            "Surv(time, event) ~ a + b", data, criterion=criterion, weights=weights, **options
        )
        for column in ("weight", "events", "impurity", "relative_hazard", "median", "person_time"):
            np.testing.assert_allclose(one.nodes[column], other.nodes[column], err_msg=column)


def test_an_event_where_none_is_expected_has_a_finite_deviance():
    losses = event_losses(np.array([[0.0], [0.0]]), np.array([[1.0, 2.0], [0.0, 2.0]]))
    assert np.isfinite(losses).all() and losses[0] > 1000 and losses[1] < 1e-12


# ------------------------------------------------------------------------------------------------
# One number of the curves of a survival forest, as a regression forest of the same trees.
# ------------------------------------------------------------------------------------------------

DATA = odrf.simulate.hazard_jump(p=3).sample(150, seed=1)
ESTIMANDS = {"survival": "S(0.4)", "rmst": "RMST(0.4)", "hazard": "H(0.4)"}


@pytest.fixture(scope="module")
def forest():
    return odrf.odrf("Surv(time, event) ~ .", DATA, n_trees=20, seed=1)


@pytest.mark.parametrize("estimand", ESTIMANDS)
def test_predictions_are_those_of_the_curves(forest, estimand):
    fit = forest.estimand(estimand, time=0.4)
    for newdata in (DATA, None):
        expected = forest.predict(newdata, type=estimand, times=0.4)[0.4]
        np.testing.assert_allclose(fit.predict(newdata), expected, rtol=1e-12)
    assert fit.design.response.name == ESTIMANDS[estimand]
    assert (fit.estimand, fit.time) == (estimand, 0.4)
    assert fit.call == f"{forest.call}.estimand({estimand!r}, time=0.4)"
    assert fit.predict(DATA, type="leaf").equals(forest.predict(DATA, type="leaf"))


def test_nodes_above_leaves_have_means_of_leaves(forest):
    trees = forest.estimand("survival", time=0.4).forest
    for i in np.flatnonzero(trees.left >= 0):
        children = slice(trees.left[i], trees.left[i] + 2)
        mean = np.average(trees.value[children, 0], weights=trees.weight[children])
        assert trees.value[i, 0] == pytest.approx(mean)


def test_whole_times_are_named_without_a_point():
    data = DATA.assign(time=DATA["time"] * 1000)
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    assert forest.estimand("rmst", time=365).design.response.name == "RMST(365)"
    assert forest.estimand("survival", time=36.5).design.response.name == "S(36.5)"


def test_responses_are_pseudo_values(forest):
    fit = forest.estimand("survival", time=0.4)
    seen = (DATA["time"] > 0.4) | DATA["event"]
    # of a row that nobody was lost before, they say what happened
    assert np.corrcoef(fit.fit.data.y[seen], DATA["time"][seen] > 0.4)[0, 1] > 0.9
    known = fit.predict().notna()
    error = ((fit.fit.data.y - fit.predict())[known] ** 2).mean()
    assert fit.oob_error == pytest.approx(error)


def test_several_causes_are_one_event():
    data = odrf.simulate.competing_risks().sample(150, seed=1)
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=5, seed=1)
    time = float(data["time"].median())
    values = forest.estimand("survival", time=time).predict(data)
    np.testing.assert_allclose(values, forest.predict(data, type="survival", times=time)[time])


@pytest.mark.parametrize(
    ("estimand", "time", "message"),
    [
        ("mean", 1.0, "^estimand='mean' is not known"),
        ("survival", "soon", "^time='soon': use a number above 0"),
        ("survival", -1, "^time=-1: use a number above 0"),
        ("survival", float("inf"), "^time=inf: use a number above 0"),
        ("survival", 1e-9, "^time=1e-09: the first event is at .*: use a later time"),
        ("hazard", 1e9, "^time=1000000000.0: the last row was observed until .*earlier"),
        ("survival", float(DATA["time"].max()), "is the same for all .*: use an earlier time"),
    ],
)
def test_times_without_an_answer(forest, estimand, time, message):
    if "is the same" in message:
        data = DATA.assign(event=DATA["event"] | (DATA["time"] == DATA["time"].max()))
        forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    with pytest.raises(InputError, match=message):
        forest.estimand(estimand, time=time)


def test_a_restricted_mean_up_to_the_first_event_is_that_of_all(forest):
    first = float(forest.event_times[0])
    with pytest.raises(InputError, match="all rows have the same curve until then"):
        forest.estimand("rmst", time=first)
    assert forest.estimand("survival", time=first).oob_error > 0


def test_times_after_the_last_event_warn():
    data = DATA.assign(event=DATA["event"] & (DATA["time"] < DATA["time"].max()))
    forest = odrf.odrf("Surv(time, event) ~ .", data, n_trees=2, seed=1)
    with pytest.warns(UserWarning, match="curves stay as they are"):
        late = forest.estimand("survival", time=float(data["time"].max()))
    np.testing.assert_array_equal(
        late.predict(data), forest.predict(data, type="survival").iloc[:, -1]
    )


# ------------------------------------------------------------------------------------------------
# The numbers of leaves as a prediction of survival fits.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("n_trees", [1, 3])
def test_a_row_that_is_not_predicted_has_no_leaf(n_trees):
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=60), "b": rng.normal(size=60)})
    data["y"] = data["a"] + rng.normal(size=60)
    # how the trees were grown is of no matter here
    forest = odrf.odrf("y ~ a + b", data, n_trees=n_trees, blend=False, missing="drop", seed=1)
    new = data[:4].assign(a=[0.0, np.nan, 1.0, -1.0])
    found = predict_survival(rows_of(forest.fit, new), None, "leaf", None, None, None, False)
    assert found.shape == (4, n_trees)
    assert found.isna().any(axis=1).tolist() == [False, True, False, False]
    own = forest.predict(new, type="leaf")
    assert found.equals(own.to_frame(0) if n_trees == 1 else own)


# ------------------------------------------------------------------------------------------------
# New validation rows a survival fit, with missing values that no training row has.
# ------------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(1)
    a = rng.exponential(size=80)
    return pd.DataFrame({"a": a, "b": rng.normal(size=80), "y": a + rng.normal(size=80) / 9})


@pytest.fixture
def evaluated(monkeypatch):
    """What is handed over to `evaluated_rows`."""
    found = []
    times = SurvivalTimes(np.ones(5), np.ones(5, dtype=np.int64))
    monkeypatch.setattr(Response, "times", lambda response, rows: times)
    monkeypatch.setattr(
        validation, "evaluated_rows", lambda fit, predicted, *_: found.append(predicted)
    )
    return found


def test_forests_fill_them_as_for_predictions(data, evaluated):
    forest = odrf.odrf("y ~ a + b", data, n_trees=5, blend=False, seed=1)
    new = data[:5].assign(a=np.nan)
    validation.evaluated_new(forest.fit, new)
    found = predict(evaluated[0].fit.forest, evaluated[0].X, 1)[:, 0]
    np.testing.assert_array_equal(found, forest.predict(new))


def test_boosted_trees_fill_them_as_for_predictions(data, evaluated):
    boosted = odrf.odbt("y ~ a + b", data, n_trees=5, seed=1)
    known = {each.name: getattr(boosted.fit, each.name) for each in fields(BoostedFit)}
    fit = BoostedSurvivalFit(**known, curves=None, event_times=np.empty(0), evaluated="training")
    new = data[:5].assign(a=np.nan)
    validation.evaluated_new(fit, new)
    np.testing.assert_array_equal(evaluated[0].scores, boosted.predict(new))
