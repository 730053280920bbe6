"""The ensemble of the trials of a random search."""

from __future__ import annotations

from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.methods import tuned
from benchmarks.methods.methods import Setting
from benchmarks.methods.tuned import STEPS, greedy_weights


def plain(left_out, y):
    """Forty times the trial is added that makes the mean of all those added best."""
    added = []
    for _ in range(STEPS):
        losses = []
        for t in range(len(left_out)):
            mean = np.mean([left_out[s] for s in [*added, t]], axis=0)
            if mean.shape[1] == 1:
                losses.append(np.mean((mean[:, 0] - y) ** 2))
            else:
                losses.append(-np.mean([np.log(row[k]) for row, k in zip(mean, y, strict=True)]))
        added.append(int(np.argmin(losses)))
    return np.bincount(added, minlength=len(left_out)) / STEPS


@pytest.mark.parametrize("K", [1, 3])
def test_weights_are_those_of_greedy_selection(K):
    rng = np.random.default_rng(K)
    if K == 1:
        y = rng.normal(size=50)
        left_out = y[None, :, None] + rng.normal(size=(4, 50, 1)) * [[[1.0]], [[1.1]], [[2]], [[9]]]
    else:
        y = rng.integers(K, size=50)
        left_out = rng.dirichlet(np.ones(K), size=(4, 50)) + np.eye(K)[y] / 3
        left_out /= left_out.sum(axis=2, keepdims=True)
    found = greedy_weights(left_out, y)
    assert found.sum() == pytest.approx(1) and (found > 0).sum() > 1
    np.testing.assert_allclose(found, plain(left_out, y), atol=1e-12)


class Model:
    """A model whose options are its seed; it predicts the mean plus the seed, or class shares."""

    def __init__(self, name, **options):
        self.name, self.options = name, options

    def fit(self, X, y):
        self.mean, self.classes_ = np.mean(y), np.unique(y)
        self.share = np.array([np.mean(y == k) for k in self.classes_])
        return self

    def predict(self, rows):
        return np.full(len(rows), self.mean + self.options["random_state"])

    def predict_proba(self, rows):
        return np.tile(self.share, (len(rows), 1))


@pytest.mark.parametrize("task", ["regression", "classification"])
def test_trials_go_on_as_long_as_there_is_time(task, monkeypatch):
    made, clock = [], SimpleNamespace(now=0.0)

    def class_of(module, name, task):
        def make(**options):
            clock.now += 1
            made.append(Model(name, **options))
            return made[-1]

        return make

    monkeypatch.setattr(tuned, "class_of", class_of)
    monkeypatch.setattr(tuned, "time", SimpleNamespace(process_time=lambda: clock.now))
    train = pd.DataFrame({"x1": np.arange(40.0), "y": np.arange(40.0)})
    if task == "classification":
        train["y"] = np.where(np.arange(40) % 4 == 0, "u", "v")
    predict = tuned.tuned("Some", 17.0, train, task, Setting(10, 0, 1))
    assert [model.name for model in made] == ["Some_TD_"] * 5 + ["Some_HPO_"] * 10
    assert [model.options["random_state"] for model in made] == [0] * 5 + [1] * 5 + [2] * 5
    found = predict(train[["x1"]])
    if task == "regression":
        assert found.shape == (40,)
        np.testing.assert_allclose(found, train["y"].mean(), atol=0.5)
    else:
        np.testing.assert_allclose(found, np.tile([0.25, 0.75], (40, 1)), atol=1e-9)
