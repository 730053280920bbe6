"""Families of projections on real tables, with noise predictors, with untuned size, and speed.

    python -m benchmarks.options.families --data DIR --out families.csv
                                          [--parts kappa,noise,tuning,speed]
    python -m benchmarks.options.families --report families.csv

After Tomita et al. (JMLR 21, 2020), on classifications of up to `--most-rows` rows and 300 columns:

* kappa (Figure 5): five folds, Cohen's κ, of forests tuned by the out-of-bag error of 30 trees as
  in ``consistency.py`` (RF over the predictors at a node, SPORF and F-RC over number and density of
  directions), of RR-RF (``rotation``) and CCF (``cca``), and of the default of this package.  Also
  the random forest at its defaults, beside √p sparse directions with λ = 1/p and √p directions of
  Forest-RC with L = 1, which should be equally good.
* noise (Figure 7): κ on three tables with 10, 100 and 1,000 added columns of standard normal noise,
  on two of the folds.
* tuning (Figure 3): the test error of SPORF and F-RC on sparse parity (n = 5,000) and orthant
  (n = 400) with 2 to 5 predictors per direction, on average for SPORF and exactly for F-RC.  The
  number of directions, p or p², is tuned.
* speed: seconds to grow 20 trees on 5,000 rows of Trunk's problem with 20 predictors, on one
  thread, with 20 candidates at a node; the families take turns.

The csv has one line for each forest.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.measures import measures
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.ranks import mean_ranks, wilcoxon_against
from benchmarks.shared.runs import go_on, parser, run_or_report
from benchmarks.shared.simulated import FORESTS, TO_PURITY, Method, draw, fitted, loss, with_tuned
from benchmarks.shared.tables import read_table, table_names
from odrf import odrf
from odrf.projections import FAMILIES, Axis, Patch, RandomCombination, Sparse
from odrf.simulate import orthant, sparse_parity, trunk

FOLDS = PROTOCOLS["T"].folds or 5
OTHERS: dict[str, Mapping[str, Any]] = {
    "RR-RF": {"projection": "rotation", "blend": False, **TO_PURITY},
    "CCF": {"projection": "cca", "blend": False, **TO_PURITY},
    "odrf": {},
}
MOST_COLUMNS = 300
TUNED = ("RF", "SPORF", "F-RC")
SAME = ("RF, √p", "SPORF, λ = 1/p, √p", "F-RC, L = 1, √p")
"""The random forest, and two settings that should be equally good."""
NOISY_TABLES = ("vehicle", "ionosphere", "sonar")
NOISE, NOISY_FOLDS = (0, 10, 100, 1000), 2
NOISY_METHODS = ("RF", "SPORF", "RR-RF", "CCF", "odrf")
MISTUNED = {"parity": (sparse_parity(), 5000), "orthant": (orthant(), 400)}
NONZEROS = (2, 3, 4, 5)
TIMED, TIMED_ROWS, TIMED_TREES = trunk(p=20), 5000, 20
COLUMNS = ["part", "place", "setting", "repeat", "method", "value"]


def methods_for(p: int) -> dict[str, Method]:
    """Return the forests for p columns; those that are tuned in [T] with their grids."""
    tuned = with_tuned({name: FORESTS[name] for name in TUNED}, p)
    methods = {name: tuned[f"{name}, tuned"] for name in TUNED}
    plain = {"n_projections": math.ceil(math.sqrt(p)), "blend": False, **TO_PURITY}
    same: dict[str, Mapping[str, Any]] = {
        SAME[0]: {"projection": "axis", "blend": False, **TO_PURITY},
        SAME[1]: {"projection": Sparse(1 / p), "criterion": "gini", **plain},
        SAME[2]: {"projection": RandomCombination(1), "criterion": "gini", **plain},
    }
    return methods | {name: (options, {}) for name, options in (OTHERS | same).items()}


def kappa_of(rows: Partition, method: str, trees: int, seed: int) -> float:
    """Return Cohen's κ of a forest on the test rows."""
    p = len(pd.get_dummies(rows.train.drop(columns="y")).columns)
    fit, _ = fitted(rows.train, methods_for(p)[method], trees, seed)
    predicted = fit.predict(rows.test, type="prob")[sorted(rows.train["y"].unique())]
    task = "classification"
    return measures(task, predicted.to_numpy(), rows.train["y"], rows.test["y"])["kappa"]


def noisy(rows: Partition, columns: int, seed: int) -> Partition:
    """Return the rows with added columns of noise."""
    rng = np.random.default_rng([seed, columns])

    def with_noise(data: pd.DataFrame) -> pd.DataFrame:
        noise = pd.DataFrame(
            rng.standard_normal((len(data), columns)),
            index=data.index,
            columns=[f"noise{j}" for j in range(columns)],
        )
        return pd.concat([data.drop(columns="y"), noise, data["y"]], axis=1)

    return Partition(with_noise(rows.train), with_noise(rows.test))


def seconds(name: str, seed: int) -> float:
    """Return the seconds of a family, after its kernels have been compiled."""
    family = Patch(shape=(1, TIMED.p)) if name == "patch" else FAMILIES[name]()
    number = "n_singles" if isinstance(family, Axis) else "n_projections"
    options: dict[str, Any] = {"projection": family, number: TIMED.p, "blend": False, "n_jobs": 1}
    rows = TIMED.sample(TIMED_ROWS, seed=seed)
    odrf("y ~ .", rows.head(100), n_trees=1, seed=seed, **options)
    start = time.perf_counter()
    odrf("y ~ .", rows, n_trees=TIMED_TREES, seed=seed, **options)
    return time.perf_counter() - start


class Study:
    """The forests of a csv."""

    def __init__(self, folder: Path, trees: int, seed: int, most_rows: int) -> None:
        self.folder, self.trees, self.seed, self.most_rows = folder, trees, seed, most_rows
        self._last: tuple[str, list[Partition]] = ("", [])

    def tasks(self, parts: list[str], repeats: int) -> list[tuple[str, str, int, int, str]]:
        """Return part, place, setting, repeat and method of every forest."""
        tasks: list[tuple[str, str, int, int, str]] = []
        folds, known = range(FOLDS), self._tables()
        if "kappa" in parts:
            methods = [*TUNED, *OTHERS, *SAME]
            tasks += [
                ("kappa", name, 0, k, method) for name in known for k in folds for method in methods
            ]
        if "noise" in parts:
            tasks += [
                ("noise", name, number, k, method)
                for name in NOISY_TABLES
                if name in known
                for number in NOISE
                for k in range(NOISY_FOLDS)
                for method in NOISY_METHODS
            ]
        if "tuning" in parts:
            tasks += [
                ("tuning", name, number, repeat, method)
                for name in MISTUNED
                for repeat in range(repeats)
                for number in NONZEROS
                for method in ("SPORF", "F-RC")
            ]
        if "speed" in parts:
            tasks += [
                ("speed", "trunk", TIMED.p, repeat, name)
                for repeat in range(repeats)
                for name in FAMILIES
            ]
        return tasks

    def line(
        self, part: str, place: str, setting: int, repeat: int, method: str
    ) -> Iterator[tuple[float]]:
        """Yield κ of a forest; for the part tuning its test error, for speed its seconds."""
        if part == "speed":
            yield (seconds(method, repeat),)
            return
        if part == "tuning":
            yield (self._mistuned(place, setting, repeat, method),)
            return
        rows = self._fold(place, repeat)
        if part == "noise":
            rows = noisy(rows, setting, self.seed + repeat)
        yield (kappa_of(rows, method, self.trees, self.seed + repeat),)

    def _tables(self) -> list[str]:
        if not (self.folder / "index.csv").exists():
            print(f"no tables: {self.folder} holds no index.csv", file=sys.stderr)
            return []
        index = pd.read_csv(self.folder / "index.csv", index_col="name")
        chosen = (index["task"] == "classification") & (index["n"] <= self.most_rows)
        chosen &= index["p"] <= MOST_COLUMNS
        return [name for name in table_names(self.folder) if chosen[name]]

    def _fold(self, name: str, k: int) -> Partition:
        if self._last[0] != name:
            table = read_table(self.folder, name)
            self._last = name, list(partitions(table, PROTOCOLS["T"], FOLDS, self.seed))
        return self._last[1][k]

    def _mistuned(self, place: str, nonzeros: int, repeat: int, method: str) -> float:
        problem, n = MISTUNED[place]
        family = {"SPORF": Sparse(nonzeros / problem.p), "F-RC": RandomCombination(nonzeros)}
        options = {**FORESTS[method], **TO_PURITY, "projection": family[method]}
        tuned = options, {"n_projections": [problem.p, problem.p**2]}
        train, seed = draw(problem, n, repeat, self.seed)
        fit, _ = fitted(train, tuned, self.trees, seed)
        return loss(fit, problem)


def report(lines: pd.DataFrame) -> str:
    """Write the results of the parts of a csv, as markdown."""
    shown = {"kappa": _kappa, "noise": _noise, "tuning": _tuning, "speed": _speed}
    present = [part for part in shown if part in set(lines["part"])]
    return "\n\n".join(shown[part](lines[lines["part"] == part]) for part in present)


def _kappa(lines: pd.DataFrame) -> str:
    kappa = lines.pivot_table(index="place", columns="method", values="value")
    kappa = kappa[[name for name in (*TUNED, *OTHERS, *SAME) if name in kappa]].dropna()
    ranks = mean_ranks(1 - kappa)
    foot = pd.DataFrame({"mean": kappa.mean(), "mean rank": ranks}).T
    table = pd.concat([kappa, foot]).map("{:.3f}".format)
    words = [f"Cohen's κ, mean of {FOLDS} folds:", markdown_table(table, "table")]
    if "SPORF" in kappa:
        tests = wilcoxon_against(-kappa.drop(columns="SPORF").rsub(kappa["SPORF"], axis=0))
        words.append(f"SPORF against the others on {len(kappa)} tables, one-sided Wilcoxon tests:")
        words.append(markdown_table(tests.map("{:.3g}".format), "method"))
    return "\n\n".join(words)


def _noise(lines: pd.DataFrame) -> str:
    kappa = lines.pivot_table(index=["place", "setting"], columns="method", values="value")
    kappa = kappa[[name for name in NOISY_METHODS if name in kappa]]
    kappa.index = [f"{place}, {number}" for place, number in kappa.index]
    return "κ with columns of noise added:\n\n" + markdown_table(
        kappa.map("{:.3f}".format), "table, columns of noise"
    )


def _tuning(lines: pd.DataFrame) -> str:
    groups = lines.groupby(["place", "method", "setting"], sort=False)["value"]
    error = 100 * groups.mean().unstack()
    error["largest / least"] = error.max(axis=1) / error.min(axis=1)
    error.index = [f"{place}, {method}" for place, method in error.index]
    return "Test error in per cent by predictors of a direction:\n\n" + markdown_table(
        error.map("{:.3g}".format), "problem, method"
    )


def _speed(lines: pd.DataFrame) -> str:
    took = lines.pivot_table(index="repeat", columns="method", values="value")
    ratio = took.div(took["sparse"], axis=0).median()
    table = pd.DataFrame({"seconds": took.median(), "ratio to sparse": ratio})
    return "Medians over rounds:\n\n" + markdown_table(
        table.sort_values("seconds").map("{:.3g}".format), "family"
    )


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    study = Study(options.data, options.trees, options.seed, options.most_rows)
    tasks = study.tasks(options.parts.split(","), options.repeats)
    return go_on(options.out, COLUMNS, tasks, study.line)


def main() -> int:
    """Grow the forests, or report an existing csv."""
    asked = parser(__doc__ or "", "families.csv", repeats=10, trees=100)
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="tables")
    asked.add_argument("--parts", default="kappa,noise,tuning,speed", help="of the csv")
    asked.add_argument("--most-rows", type=int, default=3000, help="of the tables of kappa")
    options = asked.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
