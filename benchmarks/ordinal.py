"""Do trees and forests that know the order of the classes predict these better?

    python benchmarks/ordinal.py --out ordinal.csv [--data DIR] [--repeats 10] [--trees 150]
    python benchmarks/ordinal.py --report ordinal.csv

Trees, trees pruned by cross-validation, forests of one kind of trees and blends are grown on the
same partitions of tables with ordered classes (``protocol.py``, Z, with fewer training rows), as
``criterion="ordinal"`` and, the order unknown, ``criterion="gini"`` has them.  Two tables have
ordered classes: the quality of wines, and to which side a balance tips; of the others a numeric
response is cut into five classes of about equally many rows.  On the simulated one a linear
function of four of eight predictors, with logistic noise, is cut so: a proportional odds model.

Judged are, in the mean over test rows,

* whether the class is wrong, and by how many ranks;
* by how many ranks the median class is off, which a nominal forest does not predict: what is left
  of the difference is due to the splits;
* the ranked probability score (Epstein 1969): the squared distances of the probabilities of each
  class or one below it from what came, their mean over all classes but the last.

The csv has one line for each table, partition and method.  A run goes on with what a csv lacks.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Iterator
from functools import lru_cache, partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from markdown import table as markdown_table
from odrf import odrf, odt
from protocol import PROTOCOLS, Partition, partitions
from runs import go_on, parser, with_tables
from tables import Table, read_table

SIMULATED = "latent"
# Of the balance: tips to the left, is even, tips to the right.
LEVELS = {"balance_scale": ["2", "1", "3"], "wine_quality_white": list("3456789")}
CUT = ("abalone", "auto_mpg", "body_fat", "concrete", "cpu_act", "low_birth_weight", "strike")
CLASSES = 5
# Other columns that hold the response, or a class of it.
KNOWN = {"low_birth_weight": ["LOW"]}
KINDS: dict[str, Any] = {
    "tree": odt,
    "pruned tree": partial(odt, alpha="cv"),
    "forest": partial(odrf, blend=False),
    "blend": partial(odrf, blend=True),
}
CRITERIA = {"nominal": "gini", "ordinal": "ordinal"}
SCORES = {
    "error": "error, %",
    "rank_error": "rank error",
    "median_rank_error": "rank error of the median",
    "rps": "RPS",
}
COLUMNS = ["table", "partition", "n", "kind", "classes", *SCORES, "fit_s"]


def ordered_table(folder: Path, name: str, rows: int, seed: int) -> Table:
    """Return a table whose response is an ordered categorical."""
    if name == SIMULATED:
        data = latent(3 * rows // 2, seed)
    else:
        data = read_table(folder, name).data.drop(columns=KNOWN.get(name, []))
    levels = LEVELS.get(name)
    if levels is None:
        data["y"] = cut(data["y"].to_numpy())
    else:
        data["y"] = data["y"].astype(pd.CategoricalDtype(levels, ordered=True))
    return Table(name, "classification", data)


def latent(n: int, seed: int) -> pd.DataFrame:
    """Draw a linear function of four of eight normal predictors, with logistic noise."""
    rng = np.random.default_rng(seed)
    X = rng.normal(size=(n, 8))
    y = X[:, :4] @ [2.0, -1.5, 1.0, -0.5] + rng.logistic(size=n)
    return pd.DataFrame(X, columns=[f"a{j}" for j in range(8)]).assign(y=y)


def cut(y: NDArray[np.float64]) -> pd.Categorical:
    """Cut numbers into classes of about equally many."""
    borders = np.unique(np.quantile(y, np.arange(1, CLASSES) / CLASSES))
    borders = borders[borders < y.max()]
    labels = [f"c{k}" for k in range(len(borders) + 1)]
    scale = pd.CategoricalDtype(labels, ordered=True)
    return pd.Categorical([labels[k] for k in np.searchsorted(borders, y)], dtype=scale)


def scores(said: NDArray[np.int64], shares: NDArray[np.float64], y: NDArray) -> dict[str, float]:
    """Judge class codes (m,) and probabilities (m, K) by the codes y that came."""
    up_to = np.cumsum(shares, axis=1)[:, :-1]
    median = (up_to < 0.5 - 1e-12).sum(axis=1)
    came = y[:, None] <= np.arange(up_to.shape[1])
    return {
        "error": float(np.mean(said != y)),
        "rank_error": float(np.mean(np.abs(said - y))),
        "median_rank_error": float(np.mean(np.abs(median - y))),
        "rps": float(np.mean((up_to - came) ** 2)),
    }


def judge(rows: Partition, trees: int, seed: int) -> Iterator[dict[str, Any]]:
    """Judge every kind of fit, with and without the order, on a partition."""
    train = rows.train.assign(y=rows.train["y"].cat.remove_unused_categories())
    levels = train["y"].cat.categories
    test = rows.test[rows.test["y"].isin(levels)]
    codes = levels.get_indexer(pd.Index(test["y"]))
    for kind, grow in KINDS.items():
        forest = {} if "tree" in kind else {"n_trees": trees, "n_jobs": 1}
        for classes, criterion in CRITERIA.items():
            began = time.perf_counter()
            fit = grow("y ~ .", train, criterion=criterion, seed=seed, **forest)
            fit_s = time.perf_counter() - began
            shares = fit.predict(test, type="prob").to_numpy()
            said = levels.get_indexer(pd.Index(fit.predict(test)))
            yield {
                "kind": kind,
                "classes": classes,
                **scores(said, shares, codes),
                "fit_s": round(fit_s, 2),
            }


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return what is said of every partition, COLUMNS, going on with the csv."""
    there = [name for name in (*LEVELS, *CUT) if (options.data / f"{name}.csv.gz").exists()]
    tasks = [(name, number) for name in (SIMULATED, *there) for number in range(options.repeats)]

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> list[Partition]:
        table = ordered_table(options.data, name, options.rows, options.seed)
        return list(partitions(table, PROTOCOLS["Z"], options.repeats, options.seed))

    def lines(name: str, number: int) -> Iterator[tuple]:
        some = of_table(name)[number]
        some = Partition(some.train.iloc[: options.rows], some.test)
        for found in judge(some, options.trees, options.seed + number):
            yield len(some.train), *(found[column] for column in COLUMNS[3:])

    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Show each table's scores, those with the order less those without, as markdown.

    Differences have standard errors over partitions.
    """
    parts = []
    for name, of_table in lines.assign(error=100 * lines["error"]).groupby("table", sort=False):
        wide = of_table.pivot(index=["kind", "partition"], columns="classes", values=[*SCORES])
        shown = pd.DataFrame(index=pd.Index(list(KINDS)))
        for score, words in SCORES.items():
            digits = 1 if score == "error" else 4 if score == "rps" else 3
            both = wide[score]
            by_kind = (both["ordinal"] - both["nominal"]).groupby("kind").agg(["mean", "sem"])
            nominal = both["nominal"].groupby("kind").mean()
            shown[f"{words}, nominal"] = [f"{nominal[kind]:.{digits}f}" for kind in KINDS]
            shown["ordinal less that, " + words] = [
                f"{by_kind['mean'][kind]:+.{digits}f} ± {by_kind['sem'][kind]:.{digits}f}"
                for kind in KINDS
            ]
        n, repeats = of_table["n"].iloc[0], of_table["partition"].nunique()
        title = f"**{name}**, {n} training rows, {repeats} partitions"
        parts.append(f"{title}\n\n{markdown_table(shown, 'fit')}")
    return "\n\n".join(parts)


def main() -> int:
    """Judge trees and forests, or report what a csv holds."""
    asked = parser(__doc__ or "", "ordinal.csv", repeats=10, trees=150)
    options = with_tables(asked, rows=700).parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
