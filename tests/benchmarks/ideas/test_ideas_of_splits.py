"""The benchmarks of ideas for splits, and of what a forest is behind by, on small tables."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd
import pytest

from benchmarks.ideas import ideas_behind, ideas_of_boundaries, ideas_of_powers, ideas_of_splits
from benchmarks.ideas.ideas import Grower
from benchmarks.ideas.ideas_of_nodes import (
    Bounded,
    draw_in,
    robust_forest,
    select,
    within_three_columns,
)
from benchmarks.ideas.ideas_of_weights import Pilots, weights_near_boundaries
from benchmarks.shared.protocol import Partition
from blends import with_few_pilots
from odrf.engine.randomness import streams

FEW = "300 sparse directions if predictors are few"


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    data["f"] = rng.choice(["p", "q", "r"], 90)
    score = data["a"] + data["b"] ** 2 + (data["f"] == "p") + rng.normal(size=90)
    data.assign(y=np.where(score > 1, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["sides", "score"], "task": ["classification", "regression"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def ran(script, folder, capsys, monkeypatch, *words):
    """Run the script on the tables of the folder; return its csv and what it told."""
    out, name = folder / "out.csv", f"{script.__name__}.py"
    start = [name, "--data", str(folder), "--trees", "20", "--out", str(out)]
    monkeypatch.setattr("sys.argv", [*start, *words])
    with with_few_pilots():
        assert script.main() == 0
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [name, "--report", str(out)])
    assert script.main() == 0
    assert capsys.readouterr().out == told
    return pd.read_csv(out), told


def test_each_idea_has_a_loss_and_is_the_default_where_it_grows_nothing(
    folder, capsys, monkeypatch
):
    lines, told = ran(ideas_of_splits, folder, capsys, monkeypatch)
    losses = lines.pivot_table(index="table", columns="idea", values="loss")
    assert losses.shape == (2, 1 + len(ideas_of_splits.IDEAS))
    assert losses.loc["score"].between(0, 2).all() and losses.loc["sides"].between(0, 60).all()
    assert losses.at["sides", FEW] == losses.at["sides", "default"]
    assert losses.at["score", FEW] != losses.at["score", "default"]
    assert FEW in told


def test_the_ideas_can_be_chosen(folder, capsys, monkeypatch):
    lines, _ = ran(ideas_of_splits, folder, capsys, monkeypatch, "--ideas", FEW)
    assert lines["idea"].tolist() == 2 * ["default", FEW]


def test_what_a_forest_is_behind_by(folder, capsys, monkeypatch):
    words = ["--tables", "sides", "--repeats", "2"]
    lines, told = ran(ideas_behind, folder, capsys, monkeypatch, *words)
    assert len(lines) == 2 * lines["forest"].nunique()
    assert lines["loss"].between(0, 60).all()
    kinds = lines[lines["forest"].str.endswith(" alone") & (lines["partition"] == 0)]
    of_default = kinds[~kinds["forest"].str.contains(" on ")]
    assert of_default["weight"].sum() == pytest.approx(1, abs=1e-5)
    assert "axis on indicators" in told and "random forest of scikit-learn" in told


def test_weights_of_rows_near_boundaries(folder, capsys, monkeypatch):
    lines, told = ran(ideas_of_boundaries, folder, capsys, monkeypatch)
    assert lines["table"].unique().tolist() == ["sides"]  # numbers have no boundaries
    assert lines["idea"].is_unique and len(lines) == 6
    assert lines["loss"].between(0, 60).all()
    assert "half of the rows" in told


def test_only_rows_near_a_boundary_decide():
    rng = np.random.default_rng(4)
    y, unseen = np.repeat([0, 1], 100), [rng.random((200, 30)) < 0.5 for _ in range(2)]
    near = np.arange(200) % 2 == 0

    def found(share, certain):
        """Return the weights if the second kind is so certain of rows that are far away."""
        first = np.random.default_rng(5).uniform(0.4, 0.6, (2, 200, 30))
        for kind, probability in enumerate((0.9, certain)):
            of_true = np.where(y == 0, probability, 1 - probability)
            first[kind, ~near] = of_true[~near, None]
        values = [np.stack([of_kind, 1 - of_kind], axis=2) for of_kind in first]
        pilots = Pilots(["a", "b"], values, unseen, y, np.ones(200))
        return weights_near_boundaries(pilots, np.ones(2) / 2, share)

    np.testing.assert_array_equal(found(0.5, 0.9), found(0.5, 0.99))
    assert abs(found(1.0, 0.9) - found(1.0, 0.99)).max() > 1e-3


def test_weights_to_a_power(folder, capsys, monkeypatch):
    lines, told = ran(ideas_of_powers, folder, capsys, monkeypatch)
    assert lines["table"].unique().tolist() == ["sides"]
    assert lines["idea"].tolist() == [
        "default",
        "log loss to a power",
        "half of it",
        "if clearly better",
    ]
    assert lines["loss"].between(0, 60).all() and "if clearly better" in told


def test_a_kind_that_is_right_but_too_moderate_has_the_weight():
    rng = np.random.default_rng(6)
    y = rng.integers(0, 2, 400)
    of_true = np.empty((2, 2, 400))  # halves, kinds, rows
    of_true[:, 0] = np.where(rng.random(400) < 0.85, 0.95, 0.05)  # sure, and often wrong
    of_true[:, 1] = 0.55 + 0.02 * rng.normal(size=400)  # right, but for few rows
    halves = np.stack([np.where(y == k, of_true, 1 - of_true) for k in range(2)], axis=3)
    weights = ideas_of_powers.weights_to_a_power(halves, y)
    assert weights.sum() == pytest.approx(1) and weights.min() >= 0
    assert weights[1] > 0.7
    power, plain = np.log(np.array([0.55, 0.45]) + 0.02), np.zeros(2)
    plain[1] = 1
    found = ideas_of_powers.log_losses(
        plain, 1.0, np.full((2, 2, 1, 2), [0.55, 0.45]), np.zeros(1, int)
    )
    assert found == pytest.approx(np.logaddexp(*power) - power[0])


@pytest.mark.parametrize(
    "script", [ideas_of_splits, ideas_behind, ideas_of_boundaries, ideas_of_powers]
)
def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch, script):
    monkeypatch.setattr("sys.argv", ["script.py", "--data", str(tmp_path)])
    assert script.main() == 0
    assert "nothing to do" in capsys.readouterr().err


def test_numbers_stand_for_the_levels_of_factors():
    frame = pd.DataFrame({"x1": [1.0, 2.0, 3.0], "x2": pd.Categorical(list("aba")), "y": [0, 1, 0]})
    plain = ideas_behind.with_indicators(Partition(frame, frame))
    np.testing.assert_array_equal(plain.train.drop(columns="y"), [[1, 1, 0], [2, 0, 1], [3, 1, 0]])
    assert plain.test["y"].tolist() == [0, 1, 0]


def test_a_place_among_sorted_values():
    rng = np.random.default_rng(1)
    for m in (1, 2, 3, 10, 57):
        values = rng.integers(0, 12, m).astype(float)
        for place in range(m):
            y = np.r_[-9.0, values, 99.0]
            assert select(y, 1, m, place) == np.sort(values)[place]
            assert y[0] == -9 and y[-1] == 99


class SomeRows:
    """As much of the rows of a tree as `draw_in` uses."""

    def __init__(self, at):
        self.at, self.y = np.array(at), np.zeros(len(at))


def test_responses_are_drawn_in_around_the_median_of_a_node():
    y = np.array([5.0, 1.0, 2.0, 3.0, 4.0, 100.0])
    rows = SomeRows([0, 1, 2, 3, 4, 5])
    draw_in.py_func(None, rows, 1, 5, Bounded(y, 2.0), None, None)
    most = 2 * 1.4826 * 1  # the median is 3, deviations from it are 2, 1, 0, 1, 97
    np.testing.assert_allclose(rows.y, [0, -2, -1, 0, 1, most])


def test_trees_that_draw_nothing_in_are_the_usual_ones():
    rng = np.random.default_rng(2)
    data = pd.DataFrame(rng.normal(size=(150, 3)), columns=list("abc"))
    data["y"] = data["a"] + data["b"] ** 2 + rng.normal(size=150)
    data.loc[:3, "y"] += 1000
    grower = Grower(Partition(data[:100], data[100:]), "regression", 10, 1, 5)
    kind = grower.kinds["best"]
    usual = grower.grown(kind).predicted
    unbounded = grower.grown(kind, grow=robust_forest(np.inf)).predicted
    bounded = grower.grown(kind, grow=robust_forest()).predicted
    # sums of responses less a median have other rounding errors, which can decide between equals
    assert np.abs(unbounded - usual).mean() < 0.2 * np.abs(bounded - usual).mean()


def test_directions_of_three_columns_are_distinct_and_uniform():
    state, seen = streams(0, 0, 1)[0], Counter()
    X = np.zeros((2, 5))
    for _ in range(2000):
        index, coef = within_three_columns(X, X[:, 0], X[:, 0], state)
        assert len(set(index.tolist())) == 3 == len(coef)
        seen[tuple(sorted(index.tolist()))] += 1
    assert len(seen) == 10 and min(seen.values()) > 140
