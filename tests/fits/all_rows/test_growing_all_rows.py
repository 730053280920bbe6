"""One tree of all rows in chunks: the same bits for any chunks, its nodes those of the rows."""

from __future__ import annotations

import os
import signal
from dataclasses import fields
from itertools import pairwise
from typing import Any

import numpy as np
import pandas as pd
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import odrf
from apart import begun
from odrf.engine.trees.forest import Forest
from odrf.errors import InputError
from odrf.fits.all_rows import growing_all_rows, row_file
from odrf.fits.all_rows.growing_below import rows_that_fit
from odrf.results.chunks import AllRowsResults

N, FIT = 400, 60


@pytest.fixture(autouse=True)
def little_memory(monkeypatch, tmp_path):
    """Nodes of more than a few rows are split in passes over a file of small stripes."""
    monkeypatch.setattr("odrf.design.blocks.ROWS_PER_BLOCK", 64)
    monkeypatch.setattr(growing_all_rows, "rows_that_fit", lambda stored, classes: FIT)
    monkeypatch.setattr(row_file, "FEWEST", 24)
    monkeypatch.setattr(row_file, "MOST", 24)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))


def table(seed: int = 1, n: int = N) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    data = pd.DataFrame(rng.normal(size=(n, 3)), columns=list("abc"))
    data["f"] = rng.choice([f"level {i}" for i in range(9)], n)
    data["s"] = rng.choice(["x", "y", "z"], n)
    score = data["a"] + data["b"] * (data["f"] > "level 3") + rng.normal(size=n) / 2
    data["y"] = score
    data["k"] = pd.cut(score, [-np.inf, -0.5, 0.5, np.inf], labels=["low", "mid", "high"])
    data["o"] = data["k"]
    data["k"] = data["k"].cat.as_unordered()
    data["two"] = np.where(score > 0, "yes", "no")
    data["w"] = rng.integers(0, 4, n)
    data.loc[::11, "a"] = np.nan
    return data


def cut(data: pd.DataFrame, cuts: list[int]) -> list[pd.DataFrame]:
    return [data[a:b] for a, b in pairwise([0, *sorted(cuts), len(data)])]


def same(one, other) -> bool:
    names = [field.name for field in fields(Forest) if field.name != "surrogates"]
    a, b = one.forest, other.forest
    return all(np.array_equal(getattr(a, n), getattr(b, n), equal_nan=True) for n in names)


ALL = " ~ a + b + c + f + s"
OPTIONS = [
    {"alpha": None},
    {"alpha": 0.01},
    {"alpha": "1se"},
    {"alpha": None, "projection": "sparse", "weights": "w"},
    {"alpha": None, "penalty": "bic"},
    {"max_leaves": 9},
]


@settings(max_examples=10)
@given(
    cuts=st.lists(st.integers(0, N), max_size=4),
    n_jobs=st.integers(1, 3),
    memory=st.sampled_from([1.0, 1e5, None]),
    response=st.sampled_from(["y", "k", "two"]),
    options=st.sampled_from(OPTIONS),
)
def test_chunks_threads_and_memory_change_no_bit(cuts, n_jobs, memory, response, options):
    data, formula = table(), response + ALL
    whole = odrf.odt(formula, [data], seed=2, n_jobs=1, **options)
    chunks = odrf.Chunks(cut(data, cuts), memory=memory)
    fit = odrf.odt(formula, chunks, seed=2, n_jobs=n_jobs, **options)
    assert same(fit, whole)
    assert fit.fit.levels == whole.fit.levels > 0
    if "1se" in options.values():
        assert fit.path.table.equals(whole.path.table)


@pytest.mark.parametrize("response", ["y", "k", "two", "o"])
@pytest.mark.parametrize("weights", [None, "w"])
def test_nodes_are_those_of_the_rows_that_reach_them(response, weights):
    """Counts, values, impurities and gains are those of the rows, by definition."""
    data = table()
    fit = odrf.odt(response + ALL, cut(data, [100]), alpha=None, seed=3, weights=weights)
    w = np.ones(N) if weights is None else data["w"].to_numpy(dtype=float)
    forest, leaf = fit.forest, fit.predict(data, "leaf").to_numpy()
    if response == "y":
        target = data[["y"]].to_numpy(dtype=float)
    else:
        labels = [str(each) for each in fit.classes]
        target = (data[response].astype(str).to_numpy()[:, None] == labels).astype(float)
    reached = np.zeros((forest.n_nodes, N), dtype=bool)
    reached[leaf, np.arange(N)] = w > 0
    for i in range(forest.n_nodes - 1, -1, -1):
        if forest.left[i] >= 0:
            reached[i] = reached[forest.left[i]] | reached[forest.left[i] + 1]
    unit = fit.fit.data.weight_unit
    for i in range(forest.n_nodes):
        rows = reached[i]
        assert forest.count[i] == rows.sum()
        assert forest.weight[i] * unit == pytest.approx(w[rows].sum())
        mean = np.average(target[rows], weights=w[rows], axis=0)
        assert forest.value[i] == pytest.approx(mean, abs=1e-12)
        if response == "y":
            spread = np.average((target[rows] - mean) ** 2, weights=w[rows], axis=0)[0]
        elif response == "o":
            reach = np.cumsum(mean)[:-1]
            spread = np.sum(reach * (1 - reach))
        else:
            spread = 1 - np.sum(mean**2)
        assert forest.impurity[i] == pytest.approx(spread, abs=1e-12)
        if forest.left[i] >= 0:
            sides = forest.left[i] + np.arange(2)
            left = forest.weight[sides] @ forest.impurity[sides] / forest.weight[i]
            assert forest.gain[i] == pytest.approx(forest.impurity[i] - left, abs=1e-9)
            assert forest.count[sides].min() >= 5
    assert list(forest.order[forest.left >= 0]) == list(range(1, int(fit.n_leaves[0])))


@pytest.mark.parametrize("response", ["y", "k"])
@pytest.mark.parametrize("options", [{"alpha": None}, {"alpha": 0.02}, {"max_leaves": 7}])
def test_rows_that_fit_in_memory_give_the_tree_of_a_data_frame(response, options, monkeypatch):
    monkeypatch.setattr(growing_all_rows, "rows_that_fit", rows_that_fit)
    data = table()
    fit = odrf.odt(response + ALL, cut(data, [100]), seed=3, **options)
    assert isinstance(fit, AllRowsResults)
    assert fit.fit.levels == 0
    assert same(fit, odrf.odt(response + ALL, data, seed=3, **options))


def test_the_number_of_rows_that_fit_depends_on_columns_and_classes_alone():
    assert rows_that_fit(20, 1) > rows_that_fit(200, 1) > rows_that_fit(200, 50)
    assert rows_that_fit(20, 1) == 2739137


@pytest.mark.parametrize("leaves", [1, 2, 5, 12, 30])
def test_the_tree_of_few_leaves_is_the_large_one_when_it_had_so_many(leaves):
    data = table()
    small = odrf.odt("y" + ALL, [data], seed=3, max_leaves=leaves)
    large = odrf.odt("y" + ALL, [data], seed=3, alpha=None)
    path = large.pruning_path("growth", cv=None)
    assert small.n_leaves[0] == leaves
    expected = large.prune(leaves=leaves, path=path)
    assert np.array_equal(small.predict(data), expected.predict(data))
    assert list(small.forest.order) == list(np.where(small.forest.left >= 0, small.forest.order, 0))


@pytest.mark.parametrize("depth", [1, 2, 4])
def test_no_node_is_deeper_than_allowed(depth):
    fit = odrf.odt("y" + ALL, [table()], seed=3, max_depth=depth, min_leaf=20)
    assert fit.forest.depth().max() == depth


def test_planted_splits_are_found():
    """A split on a number, then one on levels and one on empty cells."""
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.uniform(size=(600, 2)), columns=["a", "b"])
    data["f"] = rng.choice(list("uvwxyz"), 600)
    data["h"] = np.where(rng.random(600) < 0.3, np.nan, rng.uniform(size=600))
    right = data["a"] > 0.4
    data["y"] = 10.0 * right + 3.0 * np.where(right, data["f"].isin(["u", "x"]), data["h"].isna())
    fit = odrf.odt("y ~ a + b + f + h", [data], alpha=None, seed=1)
    assert fit.fit.levels == 2
    assert np.array_equal(fit.predict(data), data["y"])
    columns = fit.splits.groupby("node")["predictor"].agg(set)
    assert [columns[0], *sorted(columns[1:], key=str)] == [{"a"}, {"f"}, {"h"}]


def test_oblique_splits_are_found():
    rng = np.random.default_rng(5)
    data = pd.DataFrame(rng.uniform(size=(2000, 4)), columns=list("abcd"))
    data["y"] = 1.0 * (data["a"] + data["b"] > 1) + rng.normal(size=2000) / 10
    fit = odrf.odt("y ~ .", [data], alpha=None, seed=1, max_leaves=2)
    of_frame = odrf.odt("y ~ .", data, alpha=None, seed=1, max_leaves=2)
    assert set(fit.splits["predictor"]) >= {"a", "b"}
    assert fit.forest.gain[0] > 0.98 * of_frame.forest.gain[0] > 0.15


def test_a_step_is_cut_between_its_values():
    data = pd.DataFrame({"x": np.repeat([0.0, 1.0, 2.0, 7.0], 100)})
    data["y"] = (data["x"] > 1.5) * 1.0
    fit = odrf.odt("y ~ x", [data], alpha=None, seed=1, kind="regression")
    assert fit.fit.levels == 1
    assert fit.splits["threshold"].to_numpy() == pytest.approx([1.5], abs=1e-5)
    assert fit.nodes["leaf"].sum() == 2


def test_a_sample_of_a_node_is_enough(monkeypatch):
    monkeypatch.setattr("odrf.fits.all_rows.growing_levels.SAMPLE", 40)
    rng = np.random.default_rng(7)
    data = pd.DataFrame(rng.uniform(size=(3000, 2)), columns=["a", "b"])
    data["y"] = np.floor(4 * data["a"]) + rng.normal(size=3000) / 10
    fit = odrf.odt("y ~ a + b", cut(data, [5]), alpha="auto", seed=1)
    assert np.mean((fit.predict(data) - np.floor(4 * data["a"])) ** 2) < 0.02


def test_sums_of_few_nodes_at_a_time_are_the_same(monkeypatch):
    whole = odrf.odt("k" + ALL, [table()], alpha=None, seed=1)
    monkeypatch.setattr("odrf.fits.all_rows.level_passes.SUMS", 1)
    assert same(odrf.odt("k" + ALL, [table()], alpha=None, seed=1), whole)


def test_rows_held_out_choose_the_size():
    data = table(n=1500)
    fit = odrf.odt("y" + ALL, [data], seed=1)
    grown = odrf.odt("y" + ALL, [data], seed=1, alpha=None)
    assert 1 < fit.n_leaves[0] < fit.parent.n_leaves[0]
    assert isinstance(fit.parent, AllRowsResults)
    held = fit.fit.n_held_out
    assert 100 < held < 200
    assert fit.parent.forest.count[0] + held == grown.forest.count[0] == 1500
    assert fit.path.by == f"{held:,} rows held out"
    assert "rows held out" in str(fit.summary())
    assert grown.fit.n_held_out == 0


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"alpha": "cv"}, 'alpha="cv"'),
        ({"alpha": "1/sqrt(n)"}, "alpha='1/sqrt(n)'"),
        ({"max_leaves": "n/log5(n)"}, "max_leaves='n/log5(n)'"),
        ({"honest": True}, "honest=True"),
        ({"projection": "rotation"}, "projection='rotation'"),
        ({"projection": "extra"}, "n_thresholds=1"),
        ({"split_search": "exact"}, 'split_search="exact"'),
        ({"split_scale": "log"}, "split_scale='log'"),
        ({"groups": "f"}, "groups="),
        ({"missing": "median"}, 'missing="median"'),
        ({"weights": np.ones(N)}, "weights="),
    ],
)
def test_what_needs_all_rows_at_once_is_refused_by_name(options, words):
    data = table().assign(y=lambda t: np.exp(t["y"]))
    with pytest.raises(InputError) as found:
        odrf.odt("y ~ a + b + f", [data], seed=1, **options)
    assert words in str(found.value)


def test_of_very_few_rows_none_may_be_held_out(monkeypatch):
    monkeypatch.setattr("odrf.options.chunks.SHARE_HELD_OUT", 1e-9)
    with pytest.raises(InputError, match="alpha= is chosen by rows held out"):
        odrf.odt("y ~ b", [table()], seed=1)


class Interrupted:
    """Raises in a pass over the file."""

    def __init__(self, error: type[BaseException]) -> None:
        self.error = error

    def __call__(self, *arguments) -> None:
        raise self.error


@pytest.mark.parametrize("error", [KeyboardInterrupt, ValueError, None])
def test_the_temporary_files_are_closed_at_the_end(error, monkeypatch, tmp_path):
    opened: list[Any] = []
    before = row_file.RowFile.__init__

    def noted(self, rows, nodes, *others):
        opened.extend((rows, nodes))
        before(self, rows, nodes, *others)

    monkeypatch.setattr(row_file.RowFile, "__init__", noted)
    if error is None:
        odrf.odt("y ~ a + b", [table()], seed=1)
    else:
        monkeypatch.setattr(row_file.RowFile, "write_nodes", Interrupted(error))
        with pytest.raises(error):
            odrf.odt("y ~ a + b", [table()], seed=1)
    assert [file.closed for file in opened] == [True, True]
    assert list(tmp_path.iterdir()) == []


# Grows a tree by passes over a file, and ends in the middle of one as a process that is killed.
KILLED = """
import os, signal, tempfile
import numpy as np
import pandas as pd
import odrf
from odrf.fits.all_rows import growing_all_rows, row_file

def killed(self, stripe):
    print(self.n, flush=True)
    os.kill(os.getpid(), signal.SIGKILL)

tempfile.tempdir = None  # as in a new process
growing_all_rows.rows_that_fit = lambda stored, classes: 60
row_file.RowFile.write_nodes = killed
rows = pd.DataFrame(np.random.default_rng(1).normal(size=(400, 2)), columns=["a", "y"])
odrf.odt("y ~ a", [rows], alpha=None, seed=1)
"""


@pytest.mark.skipif(os.name != "posix", reason="signals of POSIX")
def test_a_process_that_is_killed_leaves_no_file(tmp_path):
    with begun(["-c", KILLED], env={"TMPDIR": str(tmp_path)}) as process:
        out, err = process.communicate()
    assert (process.returncode, out) == (-signal.SIGKILL, "400\n"), err
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("full", ["before", "while"])
def test_a_full_disk_is_an_error_that_names_the_way_out(full, monkeypatch, tmp_path):
    if full == "before":
        monkeypatch.setattr(row_file, "ROOM", 2**60)
    else:
        monkeypatch.setattr(row_file.RowFile, "_write_stripe", Interrupted(OSError))
    with pytest.raises(InputError, match="TMPDIR"):
        odrf.odt("y ~ a + b", [table()], seed=1)
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("walk", [2, 3, 4])
def test_chunks_that_cannot_be_read_are_not_called_a_full_disk(walk):
    walks = []

    def chunks():
        walks.append(1)
        yield table()
        if len(walks) == walk:
            raise FileNotFoundError("rows.csv")

    with pytest.raises(FileNotFoundError, match=r"rows\.csv"):
        odrf.odt("y ~ a", chunks, seed=1)


def test_more_rows_than_nodes_can_count_are_refused(monkeypatch):
    monkeypatch.setattr(growing_all_rows, "MOST_ROWS", 399)
    with pytest.raises(InputError, match="one tree of 400 rows"):
        odrf.odt("y ~ a + b", [table()], seed=1)
