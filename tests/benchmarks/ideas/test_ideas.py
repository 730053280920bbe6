"""The benchmarks of ideas that were tried and not kept, on small tables."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from benchmarks.ideas import ideas, ideas_stacked
from benchmarks.ideas.ideas_of_leaves import (
    PENALTIES,
    Leaves,
    lines_in_leaves,
    local_lines,
    medians,
)
from benchmarks.ideas.ideas_of_weights import (
    Pilots,
    chosen,
    means_of_halves,
    stacked_again,
    weights_by_idea,
)
from blends import with_few_pilots
from odrf.fits.stacking import (
    free_weights,
    mean_products,
    mean_relations,
    products_of_rows,
    relations_of_rows,
)

KINDS = ["best", "random", "sparse"]


@pytest.fixture
def folder(tmp_path):
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(90, 3)), columns=list("abc"))
    score = data["a"] + data["b"] ** 2 + rng.normal(size=90)
    data.assign(y=np.where(score > 1, "high", "low")).to_csv(tmp_path / "sides.csv.gz", index=False)
    data.assign(y=score).to_csv(tmp_path / "score.csv.gz", index=False)
    index = {"name": ["sides", "score"], "task": ["classification", "regression"]}
    pd.DataFrame(index).to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


@pytest.mark.parametrize("script", [ideas, ideas_stacked])
def test_a_run_and_its_report(folder, capsys, monkeypatch, script):
    out, name = folder / "out.csv", f"{script.__name__}.py"
    words = [name, "--data", str(folder), "--trees", "20", "--out", str(out)]
    monkeypatch.setattr("sys.argv", words)
    with with_few_pilots():
        assert script.main() == 0
    lines = pd.read_csv(out)
    assert lines["table"].unique().tolist() == ["sides", "score"]
    what, loss = ("idea", "loss") if script is ideas else ("model", "rpe")
    of_numbers = lines[lines["table"] == "score"].set_index(what)[loss]
    assert of_numbers.between(0, 2).all()
    assert of_numbers.index.is_unique and len(of_numbers) >= 5
    told = capsys.readouterr().out
    monkeypatch.setattr("sys.argv", [name, "--report", str(out)])
    assert script.main() == 0
    assert capsys.readouterr().out == told
    assert "squares and products" in told and "lines" in told


@pytest.mark.parametrize("script", [ideas, ideas_stacked])
def test_without_tables_there_is_nothing_to_do(tmp_path, capsys, monkeypatch, script):
    monkeypatch.setattr("sys.argv", ["script.py", "--data", str(tmp_path)])
    assert script.main() == 0
    assert "nothing to do" in capsys.readouterr().err


def pilots(seed=0, n=60, b=12, K=3):
    """Trees of which the third kind is right more often than the others."""
    rng = np.random.default_rng(seed)
    y = rng.integers(0, K, n)
    values = []
    for strength in (0.2, 0.2, 2.0):
        scores = rng.gumbel(size=(n, b, K)) + strength * np.eye(K)[y][:, None]
        values.append(np.exp(scores) / np.exp(scores).sum(axis=2, keepdims=True))
    unseen = [rng.random((n, b)) < 0.6 for _ in KINDS]
    return Pilots(KINDS, values, unseen, y, rng.uniform(0.5, 2, n))


def test_weights_of_every_idea_are_shares():
    given = pilots()
    for idea, weights in weights_by_idea(given, np.full(3, 1 / 3)).items():
        assert weights.min() >= 0, idea
        assert weights.sum() == pytest.approx(1), idea
    found = weights_by_idea(given, np.eye(3)[0])
    assert found["logistic loss"].argmax() == found["best kind if labels say so"].argmax() == 2
    assert found["equal weights of randomised kinds"].tolist() == [0, 0.5, 0.5]


def test_stacking_again_is_what_the_package_does():
    given = pilots(1)
    values, target = given.values, np.eye(3)[given.y]
    shares = given.weights @ target / given.weights.sum()
    off = [of_kind - shares for of_kind in values]
    products, rows = mean_products(products_of_rows(off, given.unseen), given.unseen, given.weights)
    related = relations_of_rows(off, given.unseen, target - shares)
    relations = mean_relations(related, given.unseen, given.weights)
    square = given.weights @ np.sum((target - shares) ** 2, axis=1) / given.weights.sum()
    expected = free_weights(
        products, relations, np.abs(np.diag(products) - 2 * relations + square), rows
    )
    np.testing.assert_allclose(stacked_again(given, 1.0), expected, atol=1e-12)


def test_halves_are_means_of_as_many_trees_of_each_kind():
    given = pilots(2, n=9, b=6)
    halves, y = means_of_halves(given)
    row = 0
    for i in range(9):
        half = min(int(mask[i].sum()) for mask in given.unseen) // 2
        if half == 0:
            continue
        assert y[row] == given.y[i]
        for g, (values, mask) in enumerate(zip(given.values, given.unseen, strict=True)):
            trees = np.flatnonzero(mask[i])[: 2 * half]
            np.testing.assert_allclose(halves[1, g, row], values[i, trees[0::2]].mean(axis=0))
            np.testing.assert_allclose(halves[0, g, row], values[i, trees[1::2]].mean(axis=0))
        row += 1
    assert row == len(y)


def test_the_first_weights_stay_unless_others_are_clearly_better():
    halves = np.zeros((2, 2, 40, 2))
    halves[:, 0, :, 0] = halves[:, 1, :, 1] = 1.0  # one kind always says 0, the other one 1
    y = np.r_[np.zeros(18), np.ones(22)].astype(int)
    first, second = np.eye(2)
    assert chosen([first, second], halves, y, 0.0) is second
    assert chosen([first, second], halves, y, 1.0) is first
    assert chosen([second, first], halves, y, 0.0) is second


def test_lines_follow_a_line_where_means_and_medians_cannot():
    rng = np.random.default_rng(3)
    Z = rng.uniform(-1, 1, (80, 1))
    y, new = 2 * Z[:, 0], np.linspace(-0.5, 0.5, 7)[:, None]
    leaves = Leaves(np.zeros((80, 4), int), np.zeros((7, 4), int), rng.random((80, 4)) < 0.3)
    known, tested = lines_in_leaves(leaves, y, Z, new)
    assert known.shape == (len(PENALTIES), 80, 4)
    np.testing.assert_allclose(tested[0], 2 * new[:, 0], atol=0.05)
    local = local_lines(leaves, y, Z, new)
    np.testing.assert_allclose(local[1][0], 2 * new[:, 0], atol=0.05)
    out_of_bag = leaves.unseen.any(axis=1)
    assert np.isnan(local[0][:, ~out_of_bag]).all()
    assert np.ptp(medians(leaves, y)[1]) == 0
