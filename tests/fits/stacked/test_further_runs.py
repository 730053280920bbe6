"""Which kinds of boosted runs are tried for a stack, go on, and are added."""

from __future__ import annotations

from dataclasses import dataclass
from types import SimpleNamespace

import numpy as np
import pytest

from odrf.fits.stack import growing as module
from odrf.fits.stack.growing import further_runs
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
