"""Which kinds of boosted runs are tried for a stack, go on, and are added."""

from __future__ import annotations

from dataclasses import dataclass, replace
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

import odrf
from odrf.fits.responses import forest_out_of_bag
from odrf.fits.stack import growing as module
from odrf.fits.stack.growing import (
    FEWEST_IN_TURN,
    FEWEST_ROWS,
    FOLDS,
    SAMPLE_FRACTION,
    ForestsOnFew,
    further_runs,
    importance_of_folds,
    quick_importance,
)
from odrf.fits.stack.smoothers import FoldImportance
from odrf.fits.stack.weights import (
    LEAST_GAIN,
    put_together,
    stack_rows,
    stacking_weights,
)

N = 300


@dataclass(frozen=True)
class Options:
    """Options of runs whose prediction is known: of few runs, and of all."""

    few: np.ndarray
    all: np.ndarray
    n_runs: int = 10

    def with_runs(self, n_runs):
        return Options(self.few, self.few, n_runs)


@pytest.fixture
def clock(monkeypatch):
    """Seconds that pass with each fit."""
    clock = SimpleNamespace(now=0.0, grown=[])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: clock.now))
    monkeypatch.setattr(module, "_value", lambda fit: fit.value)

    def grow(options):
        clock.now += options.n_runs
        clock.grown.append(options.n_runs)
        return SimpleNamespace(control=options, value=options.all)

    clock.grow = grow
    return clock


def problem(n_classes=1, weights=None):
    rng = np.random.default_rng(0)
    parts = rng.normal(size=(3, N))
    y = parts.sum(axis=0)
    if n_classes == 2:
        y = (y > 0).astype(float)
    data = SimpleNamespace(y=y, weights=np.ones(N) if weights is None else weights)

    def value(*known):
        score = sum((parts[k] for k in known), np.zeros(N))
        if n_classes == 1:
            return score[:, None]
        p = 1 / (1 + np.exp(-2 * score))
        return np.column_stack([1 - p, p])

    return data, value


@pytest.mark.parametrize("n_classes", [1, 2])
def test_what_helps_is_added_and_noise_is_not(clock, n_classes):
    data, value = problem(n_classes)
    noise = np.random.default_rng(1).normal(size=N) / 100
    alike = value(0) + (noise[:, None] if n_classes == 1 else 0)
    kinds = {
        "alike": Options(alike, alike),
        "other": Options(value(1), value(0, 1)),
        "another": Options(value(2), value(0, 2)),
    }
    added, trials = further_runs(kinds, clock.grow, [value(0)], data, 1e9)
    assert list(added) in (["other", "another"], ["another", "other"])
    assert [trial.name for trial in trials] == list(kinds)
    assert [trial.outcome for trial in trials] == ["behind others", "added", "added"]
    assert [trial.runs for trial in trials] == [3, 10, 10]
    assert clock.grown == [3, 3, 3, 10, 10]
    assert all(trial.gain > LEAST_GAIN * trial.std_error > 0 for trial in trials[1:])


def test_the_gain_is_the_mean_difference_of_losses(clock):
    weights = np.random.default_rng(2).uniform(0, 2, N)
    weights[:20] = 0
    data, value = problem(weights=weights)
    kinds = {"other": Options(value(1), value(0, 1))}
    _, (trial,) = further_runs(kinds, clock.grow, [value(0)], data, 1e9)
    losses = []
    for values in ([value(0)], [value(0), value(0, 1)]):
        share, power = stacking_weights(stack_rows(values, data))
        losses.append((put_together(values, list(share), power)[:, 0] - data.y) ** 2)
    total = gain = 0.0
    for i in range(N):
        total += weights[i]
        gain += weights[i] * (losses[0][i] - losses[1][i])
    gain /= total
    variance = sum((w * (a - b - gain)) ** 2 for w, a, b in zip(weights, *losses, strict=True))
    assert trial.gain == pytest.approx(gain)
    assert trial.std_error == pytest.approx(np.sqrt(variance) / total)


def test_a_single_kind_is_fitted_once(clock):
    data, value = problem()
    kinds = {"other": Options(value(1), value(0, 1))}
    added, (trial,) = further_runs(kinds, clock.grow, [value(0)], data, 1e9)
    assert clock.grown == [10] and list(added) == ["other"]
    assert (trial.runs, trial.outcome) == (10, "added")


def test_a_gain_within_noise_is_not_added(clock):
    data, value = problem()
    noise = np.random.default_rng(1).normal(size=(N, 1))
    kinds = {"noise": Options(value(0) + value(1) / 50 + noise, value(0) + noise / 9)}
    added, (trial,) = further_runs(kinds, clock.grow, [value(0, 1)], data, 1e9)
    assert not added and trial.outcome in ("within noise", "behind others")


def test_no_fit_begins_that_would_end_too_late(clock):
    data, value = problem()
    kinds = {name: Options(value(1), value(0, 1)) for name in "abcd"}
    added, trials = further_runs(kinds, clock.grow, [value(0)], data, 7.0)
    assert not added and clock.grown == [3, 3, 3]
    outcomes = [trial.outcome for trial in trials]
    assert outcomes == ["no time left", "no time left", "behind others", "no time left"]
    assert trials[3].runs == 0 and np.isnan(trials[3].gain)
    clock.now, clock.grown[:] = 0.0, []
    added, trials = further_runs(kinds, clock.grow, [value(0)], data, 25.0)
    assert list(added) == ["a"] and clock.grown == [3, 3, 3, 3, 10]
    assert [trial.outcome for trial in trials][1] == "no time left"


def test_rows_that_no_model_knows_do_not_count(clock):
    data, value = problem()
    unknown = value(0, 1)
    unknown[1:] = np.nan
    _, (trial,) = further_runs(
        {"few": Options(unknown, unknown)}, clock.grow, [value(0)], data, 1e9
    )
    assert (trial.gain, trial.std_error, trial.runs) == (0.0, 0.0, 10)


# ------------------------------------------------------------------------------------------------
# Forests on the predictors that matter.
# ------------------------------------------------------------------------------------------------

HOW = {"n_trees": 40, "seed": 1, "blend": False}


def table(n=240, noise=30):
    rng = np.random.default_rng(3)
    data = pd.DataFrame(rng.normal(size=(n, noise)), columns=[f"x{j}" for j in range(noise)])
    data["f"] = rng.choice(["u", "v", "w"], n)
    signal = data["x1"] + np.abs(data["x4"]) * 2 + 1.5 * (data["f"] == "v")
    data["y"] = signal + rng.normal(size=n) / 9
    data["c"] = np.where(data["y"] > 0.5, "over", "below")
    return data


def fit_of(response, data):
    predictors = [name for name in data if name not in ("y", "c")]
    return odrf.odrf(f"{response} ~ {' + '.join(predictors)}", data, **HOW).fit


def few_of(fit, by_fold):
    known = forest_out_of_bag(fit).value
    return ForestsOnFew("", fit.design, fit.data, fit.request, by_fold, False).best(known)


def evaluated_of(fit):
    return importance_of_folds(fit.design, fit.data, fit.request, 1)


def evaluated_by_hand(fit, names):
    """Importances of 1 for predictors of these names, and of 0 for the others."""
    matter = [name in names for name in fit.design.predictors]
    of_columns = np.repeat(np.where(matter, 1.0, 0.0), np.diff(fit.design.first))
    return FoldImportance(np.arange(len(fit.data.y)) % 5, [of_columns] * 6)


@pytest.mark.parametrize("response", ["y", "c"])
def test_rows_are_predicted_by_forests_without_their_fold(response, monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.LEAST_GAIN", 0.0)
    data = table()
    fit = fit_of(response, data)
    found = few_of(fit, evaluated_by_hand(fit, ("x1", "x4", "f")))
    assert found.fit.design.predictors == ("x1", "x4", "f")
    assert [fit.design.columns[j] for j in found.columns][:2] == ["x1", "x4"]
    assert found.fit.forest.n_trees == 20
    for f in range(5):
        held = np.arange(240) % 5 == f
        # the columns are scaled by the range of all rows, which are the ends of a factor and cells
        some = data[~held]
        again = odrf.odrf(f"{response} ~ x1 + x4 + f", some, **{**HOW, "n_trees": 20})
        kind = "response" if response == "y" else "prob"
        expected = np.reshape(again.predict(data[held], kind).to_numpy(), (held.sum(), -1))
        off = np.abs(found.left_out[held] - expected).mean()
        assert off < 0.2 * np.std(expected)


def test_a_fold_has_no_part_in_its_predictions(monkeypatch):
    monkeypatch.setattr("odrf.fits.stack.growing.ORDERS", (2,))
    fit = fit_of("y", table())
    by_fold = evaluated_of(fit)
    found = few_of(fit, by_fold)
    assert {"x1", "x4", "f"} <= set(found.fit.design.predictors)
    held = by_fold.fold == 2
    y = fit.data.y + np.where(held, np.sin(np.arange(240)) / 5, 0.0)
    changed = replace(fit, training=replace(fit.data, y=y))
    other = few_of(changed, evaluated_of(changed))
    np.testing.assert_array_equal(other.left_out[held], found.left_out[held])
    assert (other.left_out[~held] != found.left_out[~held]).any()


def test_it_is_better_than_the_forest_where_few_predictors_matter():
    fit = fit_of("y", table())
    found = few_of(fit, evaluated_of(fit))
    known = forest_out_of_bag(fit).value
    errors = [np.mean((fit.data.y - value[:, 0]) ** 2) for value in (found.left_out, known)]
    assert errors[0] < 0.6 * errors[1]


def test_there_is_none_if_more_than_half_of_the_predictors_matter_or_none_does():
    fit = fit_of("y", table(noise=5))
    assert few_of(fit, evaluated_by_hand(fit, ("x1", "x4", "f", "x0"))) is None
    assert few_of(fit, evaluated_by_hand(fit, ("x1", "x4", "f"))) is not None
    nothing = FoldImportance(np.arange(240) % 5, [np.zeros(len(fit.design.columns))] * 6)
    assert few_of(fit, nothing) is None


def test_there_is_none_if_it_tells_nothing_more_on_the_first_fold():
    fit = fit_of("y", table())
    assert few_of(fit, evaluated_by_hand(fit, ("x7", "x8"))) is None


# ------------------------------------------------------------------------------------------------
# Importances of columns from a small forest.
# ------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("response", ["y", "c"])
def test_they_are_the_held_out_importances_of_a_small_forest_on_these_rows(response):
    rng = np.random.default_rng(4)
    data = pd.DataFrame(rng.normal(size=(150, 2)), columns=list("ab"))
    data["f"] = rng.choice(["u", "v", "w"], 150)
    data["y"] = np.abs(data["a"]) + (data["f"] == "u") + rng.normal(size=150) / 5
    data["c"] = np.where(data["y"] > 0.9, "over", "below")
    formula = f"{response} ~ a + b + f"
    rows = np.arange(100)
    fit = odrf.odrf(formula, data, n_trees=30, seed=3).fit
    found = quick_importance(fit.design, fit.data, fit.request, rows[::-1])
    assert found.shape == (len(fit.design.columns),) and (found >= 0).all()
    of_predictors = [found[b] for b in fit.design.first[:-1]]
    assert found[0] > 2 * found[1] and len(set(found[2:])) == 1
    how = {"resample": "subsample", "sample_fraction": SAMPLE_FRACTION, "blend": False}
    small = odrf.odrf(formula, data[:100], n_trees=FEWEST_IN_TURN, seed=3, **how)
    expected = small.importance()["importance"].reindex(["a", "b", "f"]).clip(lower=0)
    # a fit to these rows alone scales columns by their own range
    np.testing.assert_allclose(of_predictors, expected, rtol=0.3, atol=0.02)
    changed = fit.data.y.copy()
    changed[100:] = changed[100:][::-1]
    other = quick_importance(
        fit.design, fit.data.__class__(**{**vars(fit.data), "y": changed}), fit.request, rows
    )
    np.testing.assert_array_equal(other, found)


def test_where_nothing_can_be_split_they_are_0():
    data = pd.DataFrame({"a": np.arange(30.0), "y": np.repeat(1.0, 30)})
    data.loc[29, "y"] = 2.0
    fit = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1).fit
    assert quick_importance(fit.design, fit.data, fit.request, np.arange(29)).tolist() == [0.0]


def test_those_without_a_fold_are_of_the_other_rows():
    rng = np.random.default_rng(1)
    data = pd.DataFrame(rng.normal(size=(60, 2)), columns=list("ab"))
    data["y"] = data["a"] + rng.normal(size=60) / 5
    fit = odrf.odrf("y ~ .", data, n_trees=20, seed=3).fit
    found = importance_of_folds(fit.design, fit.data, fit.request, 5)
    # each five rows in order are in five folds
    assert (np.sort(found.fold.reshape(-1, FOLDS)) == np.arange(FOLDS)).all()
    assert len({tuple(five) for five in found.fold.reshape(-1, FOLDS)}) > 3
    assert len(found.importance) == FOLDS + 1
    for f, importance in enumerate(found.importance):
        rows = np.flatnonzero(found.without(f))
        assert len(rows) == (48 if f < FOLDS else 60)
        again = quick_importance(fit.design, fit.data, fit.request, rows)
        np.testing.assert_array_equal(importance, again)


def test_many_rows_are_in_folds_and_few_have_none(monkeypatch):
    data = pd.DataFrame({"a": np.arange(60.0), "y": np.arange(60) % 7})
    fit = odrf.odrf("y ~ a", data, n_trees=20, blend=False, seed=1, kind="regression").fit
    monkeypatch.setattr(module, "MOST_ROWS", 30)
    found = importance_of_folds(fit.design, fit.data, fit.request, 5)
    assert sorted(set(found.fold)) == list(range(FOLDS))
    few = fit.data.keeping(np.arange(60) < FEWEST_ROWS - 1)
    assert importance_of_folds(fit.design, few, fit.request, 5) is None
