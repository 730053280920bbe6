"""What benchmarks share: runs and reports of a csv, small runs, tasks on tables."""

from __future__ import annotations

import argparse
from pathlib import Path
from types import SimpleNamespace

import numpy as np
import pandas as pd
import pytest

from benchmarks.methods import tuned
from benchmarks.methods.methods import Setting
from benchmarks.methods.tuned import STEPS, greedy_weights
from benchmarks.shared.on_tables import in_odd_places, partition_of, tables_parser, tasks_on
from benchmarks.shared.protocol import PROTOCOLS, partitions
from benchmarks.shared.ratios import beside_default, error_of_excess, excess
from benchmarks.shared.runs import go_on, parser, run_or_report, with_quick
from benchmarks.shared.tables import read_table

ROWS = {"first": 90, "second": 60, "third": 120}
TASKS = {"first": "regression", "second": "classification", "third": "regression"}


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    for name, n in ROWS.items():
        data = pd.DataFrame(rng.normal(size=(n, 2)), columns=["a", "y"])
        if TASKS[name] == "classification":
            data["y"] = np.where(data["y"] > 0, "high", "low")
        data.to_csv(tmp_path / f"{name}.csv.gz", index=False)
    index = pd.DataFrame({"name": list(TASKS), "task": list(TASKS.values())})
    index.to_csv(tmp_path / "index.csv", index=False)
    return tmp_path


def asked(folder: Path, *words: str) -> argparse.Namespace:
    return tables_parser("A benchmark.", "out.csv", repeats=2, trees=5).parse_args(
        ["--data", str(folder), *words]
    )


def test_a_run_killed_while_it_writes_keeps_the_tasks_before(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    out, columns = tmp_path / "out.csv", ["number", "square"]
    go_on(out, columns, [(1,)], lambda k: [(k**2,)])
    before = out.read_text()

    def half(frame: pd.DataFrame, path: Path, **how: object) -> None:
        Path(path).write_text("number,squ")
        raise KeyboardInterrupt

    with monkeypatch.context() as patch, pytest.raises(KeyboardInterrupt):
        patch.setattr(pd.DataFrame, "to_csv", half)
        go_on(out, columns, [(1,), (2,)], lambda k: [(k**2,)])
    assert out.read_text() == before
    assert go_on(out, columns, [(1,), (2,)], lambda k: [(k**2,)])["square"].tolist() == [1, 4]
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_place_is_that_in_the_index_whichever_tables_are_asked_for(folder: Path) -> None:
    options = asked(folder, "--tables", "third,second")
    assert tasks_on(options) == [
        ("third", 3, 0),
        ("third", 3, 1),
        ("second", 2, 0),
        ("second", 2, 1),
    ]
    assert set(tasks_on(options)) <= set(tasks_on(asked(folder)))


def test_tasks_of_one_kind_of_response(folder: Path) -> None:
    found = {name for name, *_ in tasks_on(asked(folder), "classification")}
    assert found == {"second"}
    with pytest.raises(SystemExit, match="none of first, third is a classification"):
        tasks_on(asked(folder, "--tables", "first,third"), "classification")


def test_large_tables_have_few_partitions(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("benchmarks.shared.on_tables.LARGEST_TRAINING_SET", 80)
    numbers = [(name, number) for name, _, number in tasks_on(asked(folder), few=1)]
    assert numbers == [("first", 0), ("first", 1), ("second", 0), ("second", 1), ("third", 0)]
    assert len(tasks_on(asked(folder))) == 6


def test_an_unknown_table_is_named(folder: Path) -> None:
    with pytest.raises(SystemExit, match="holds no table named fourth"):
        tasks_on(asked(folder, "--tables", "first,fourth"))


def test_the_partition_of_a_task_is_that_of_the_protocol(folder: Path) -> None:
    options = asked(folder, "--seed", "3")
    for name, number in (("first", 1), ("second", 0), ("first", 0)):
        task, found = partition_of(options, name, number)
        *_, expected = partitions(read_table(folder, name), PROTOCOLS["Z"], number + 1, 3)
        assert task == TASKS[name]
        pd.testing.assert_frame_equal(found.train, expected.train)
        pd.testing.assert_frame_equal(found.test, expected.test)


def test_odd_places() -> None:
    index = pd.MultiIndex.from_tuples([(1, "a"), (2, "b"), (5, "c")], names=["place", "table"])
    assert in_odd_places(pd.DataFrame(index=index)).tolist() == [True, False, True]


def test_a_csv_is_reported_or_else_a_run(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "out.csv"
    asked_for = parser("A benchmark.", str(out), repeats=3, trees=5)

    def run(options: argparse.Namespace) -> pd.DataFrame:
        tasks = [(number,) for number in range(options.repeats)]
        return go_on(options.out, ["number", "square"], tasks, lambda k: [(k**2,)])

    def report(lines: pd.DataFrame) -> str:
        return f"the sum is {lines['square'].sum()}"

    assert run_or_report(asked_for.parse_args([]), run, report) == 0
    assert capsys.readouterr().out == "the sum is 5\n"
    pd.DataFrame({"square": [40, 2]}).to_csv(tmp_path / "other.csv")
    options = asked_for.parse_args(["--report", str(tmp_path / "other.csv")])
    assert run_or_report(options, run, report, tables=tmp_path) == 0
    assert capsys.readouterr().out == "the sum is 42\n"
    assert run_or_report(asked_for.parse_args([]), run, report, tables=tmp_path) == 0
    said = capsys.readouterr()
    assert said.out == "" and "nothing to do" in said.err and str(tmp_path) in said.err


def test_a_quick_run_has_small_sizes() -> None:
    wanted = with_quick(parser("A benchmark.", "out.csv", repeats=30, trees=50), repeats=2)
    quick = wanted.parse_args(["--quick"])
    assert (quick.repeats, quick.trees) == (2, 50)
    assert wanted.parse_args([]).repeats == 30
    assert "--repeats 2" in wanted.format_help()


# ------------------------------------------------------------------------------------------------
# Losses beside those of another method, over several tables.
# ------------------------------------------------------------------------------------------------


def test_the_excess_is_that_of_the_geometric_mean():
    logs = pd.DataFrame({"twice": np.log([1.0, 4.0]), "half": np.log([0.5, 0.5])})
    assert excess(logs).tolist() == pytest.approx([100.0, -50.0])


def test_its_standard_error_is_by_the_delta_method():
    logs = pd.DataFrame({"a": np.random.default_rng(0).normal(0.3, 0.01, 400)})
    means = np.random.default_rng(1).choice(logs["a"], (2000, 400)).mean(axis=1)
    resampled = (100 * np.expm1(means)).std()
    assert error_of_excess(logs)["a"] == pytest.approx(resampled, rel=0.05)


def test_losses_beside_those_of_the_default():
    means = pd.DataFrame({"default": [1.0, 2.0, 0.0], "other": [2.0, 1.0, 0.5]})
    odd = np.array([True, False, True])
    told = beside_default(means, "default", 0.5, odd)
    # ratios 2.5 / 1.5, 1.5 / 2.5 and 1 / 0.5
    assert told.loc["other"].tolist()[:3] == ["+82.6", "-40.0", "+26.0"]
    assert told.loc["other", "better, worse"] == "1, 2"
    assert told.loc["default"].tolist()[:4] == ["+0.0"] * 4


# ------------------------------------------------------------------------------------------------
# The ensemble of the trials of a random search.
# ------------------------------------------------------------------------------------------------


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
