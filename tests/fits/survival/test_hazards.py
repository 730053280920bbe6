"""Trees whose splits are about one cause are pruned and evaluated by the deviance of this cause."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.pruning.event_deviance import event_losses
from odrf.statistics.survival.observation import subdistribution_scale

TOLD = ["events", "rate", "relative_hazard", "impurity", "gain", "log_rank", "weight", "count"]


def rows(n=220, seed=3, starts=False):
    """Times of two causes, each with a predictor of its own, and a factor."""
    rng = np.random.default_rng(seed)
    x = pd.DataFrame(rng.random((n, 3)), columns=["a", "b", "c"])
    x["g"] = pd.Categorical(rng.choice(["u", "v", "w"], n))
    first = rng.exponential(1 / np.exp(2 * x["a"] + (x["g"] == "u")))
    second = rng.exponential(1 / np.exp(2.5 * x["b"] - 0.5))
    end = rng.exponential(1.2, n)
    cause = np.select([end < np.minimum(first, second), first < second], ["no", "one"], "two")
    time = np.minimum(np.minimum(first, second), end) + 0.01
    begin = {"start": time * rng.random(n) * 0.5} if starts else {}
    return x.assign(time=time, event=pd.Categorical(cause, ["no", "one", "two"]), **begin)


def recoded(data, cause="one"):
    return data.assign(event=(data["event"] == cause).astype(int))


@pytest.mark.parametrize("starts", [False, True], ids=["", "late rows"])
@pytest.mark.parametrize("criterion", ["log_rank", "exponential"])
def test_it_is_the_tree_of_the_event_recoded(criterion, starts):
    data, new = rows(starts=starts), rows(150, 8, starts=starts)
    formula = "Surv(start, time, event) ~ ." if starts else "Surv(time, event) ~ ."
    options = {"criterion": criterion, "alpha": None, "seed": 1}
    about = odrf.odt(formula, data, cause="one", **options)
    alone = odrf.odt(formula, recoded(data), **options)
    assert len(about.nodes) == len(alone.nodes) > 20
    pd.testing.assert_frame_equal(about.nodes[TOLD], alone.nodes[TOLD])
    pd.testing.assert_frame_equal(about.importance(), alone.importance())
    for loss in ("error", "log_rank"):
        for held in ({"cv": np.arange(len(data)) % 5}, {"cv": None}):
            paths = (tree.pruning_path(loss=loss, **held).table for tree in (about, alone))
            pd.testing.assert_frame_equal(*paths)
        held_out = (
            about.pruning_path(loss=loss, newdata=new),
            alone.pruning_path(loss=loss, newdata=recoded(new)),
        )
        pd.testing.assert_frame_equal(*(path.table for path in held_out))


def test_without_a_cause_the_deviances_of_all_are_added_up():
    data = rows()
    tree = odrf.odt("Surv(time, event) ~ .", data, alpha=None, max_leaves=5, seed=1)
    assert tree.nodes["events"][0] == (data["event"] != "no").sum()
    assert tree.fit.hazards.of_cause.shape == (len(tree.fit.forest.left), 2)


@pytest.mark.parametrize("weighted", [False, True])
def test_splits_by_incidence_are_evaluated_by_subdistribution_hazards(weighted):
    data = rows()
    weights = np.random.default_rng(1).integers(1, 5, len(data)) / 2
    w = weights if weighted else np.ones(len(data))
    tree = odrf.odt(
        "Surv(time, event) ~ .", data, cause="one", criterion="gray", alpha=None, max_leaves=6,
        weights=weights if weighted else None, seed=1,
    )  # fmt: skip
    time, code = data["time"].to_numpy(), data["event"].cat.codes.to_numpy().astype(int)
    exposure = subdistribution_scale(time, code, 1, w).exposure(time, code == 2)
    own = (code == 1).astype(float)
    assert np.sum(w * exposure) == pytest.approx(np.sum(w * own))
    leaf, nodes = tree.predict(type="leaf")[0].to_numpy(), tree.nodes
    for node in nodes.index[nodes["leaf"]]:
        here = leaf == node
        D, E = (w * own)[here].sum(), (w * exposure)[here].sum()
        hazard = (D + 1) / (E + 1)
        losses = event_losses(
            np.full((here.sum(), 1), hazard), np.column_stack([own, exposure])[here]
        )
        assert nodes["events"][node] == pytest.approx(D)
        assert nodes["relative_hazard"][node] == pytest.approx(hazard)
        deviance = nodes["weight"][node] * nodes["impurity"][node]
        assert deviance == pytest.approx(np.sum(w[here] * losses))


def test_folds_and_new_rows_evaluate_incidences_by_the_scale_of_the_training_rows():
    data = rows()
    options = {"cause": "one", "criterion": "gray", "alpha": None, "seed": 1}
    tree = odrf.odt("Surv(time, event) ~ .", data, **options)
    on_itself, path = tree.pruning_path(newdata=data).table, tree.pruning_path(cv=None).table
    np.testing.assert_allclose(on_itself["xerror"], path["relative_error"])
    fold = np.arange(len(data)) % 4
    table = tree.pruning_path(cv=fold).table
    time, code = data["time"].to_numpy(), data["event"].cat.codes.to_numpy().astype(int)
    y = np.column_stack([
        code == 1, subdistribution_scale(time, code, 1).exposure(time, code == 2)
    ]).astype(float)  # fmt: skip
    losses = np.empty(len(data))
    for f in range(4):
        D, E = y[fold != f].sum(axis=0)
        losses[fold == f] = event_losses(np.full((np.sum(fold == f), 1), D / E), y[fold == f])
    assert table["xerror"].iloc[-1] == pytest.approx(losses.mean() / table["error"].iloc[-1])


def test_a_predictor_of_the_other_cause_is_pruned_where_it_is_censored_and_kept_where_it_counts():
    rng = np.random.default_rng(2)
    n = 3000
    b = rng.random(n)
    first, second = rng.exponential(1.0, n), rng.exponential(np.where(b > 0.5, 0.2, 5.0))
    cause = np.where(first < second, "one", "two")
    data = pd.DataFrame({"b": b, "time": np.minimum(first, second), "event": cause})
    data["event"] = pd.Categorical(data["event"], ["no", "one", "two"])
    options = {"cause": "one", "alpha": "1se", "seed": 1}
    hazard = odrf.odt("Surv(time, event) ~ b", data, criterion="log_rank", **options)
    incidence = odrf.odt("Surv(time, event) ~ b", data, criterion="gray", **options)
    assert len(hazard.nodes) == 1
    assert len(incidence.nodes) >= 3


def test_a_tree_of_one_cause_is_loaded_as_it_was_saved(tmp_path):
    data = rows()
    tree = odrf.odt("Surv(time, event) ~ .", data, cause="two", max_leaves=4, seed=1)
    tree.save(tmp_path / "tree.odrf")
    again = odrf.load(tmp_path / "tree.odrf")
    pd.testing.assert_frame_equal(again.nodes, tree.nodes)
