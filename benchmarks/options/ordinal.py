"""Trees and forests that use the order of the classes, and that do not.

    python -m benchmarks.options.ordinal --out ordinal.csv [--data DIR] [--repeats 10] [--trees 150]
    python -m benchmarks.options.ordinal --report ordinal.csv

Trees, trees pruned by cross-validation, forests of one kind of trees and blends are grown on the
same partitions of tables with ordered classes (``protocol.py``, Z, with fewer training rows), as
``criterion="ordinal"`` and with ``criterion="gini"``, which ignores the order.  Two tables have
ordered classes: the quality of wines, and the side to which a balance tips.  In the others a
numeric response is cut into five classes with about equal numbers of rows.  In the simulated table
it is a linear function of four of eight predictors, with logistic noise: a proportional odds model.

Measures are, as means over test rows,

* whether the predicted class is wrong, and by how many ranks;
* by how many ranks the median of the predicted probabilities is wrong.  A nominal forest does not
  predict the median, so this compares both with the same prediction rule; the difference that
  remains is due to the splits;
* the ranked probability score (Epstein 1969): the squared difference of predicted and observed
  cumulative probabilities, averaged over all classes but the last.

The csv has one line for each table, partition and method.  A run with an existing csv adds the
missing lines.
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

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import go_on, parser, with_tables
from benchmarks.shared.tables import Table, read_table
from odrf import odrf, odt

SIMULATED = "latent"
# Levels of the balance: 2 tips to the left, 1 is even, 3 tips to the right.
LEVELS = {"balance_scale": ["2", "1", "3"], "wine_quality_white": list("3456789")}
CUT = ("abalone", "auto_mpg", "body_fat", "concrete", "cpu_act", "low_birth_weight", "strike")
CLASSES = 5
# Other columns that contain the response, or a class of it.
KNOWN = {"low_birth_weight": ["LOW"]}
KINDS: dict[str, Any] = {
    "tree": partial(odt, alpha=None),
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
    """Cut numbers into classes of about equal size."""
    borders = np.unique(np.quantile(y, np.arange(1, CLASSES) / CLASSES))
    borders = borders[borders < y.max()]
    labels = [f"c{k}" for k in range(len(borders) + 1)]
    scale = pd.CategoricalDtype(labels, ordered=True)
    return pd.Categorical([labels[k] for k in np.searchsorted(borders, y)], dtype=scale)


def scores(
    predicted: NDArray[np.int64], shares: NDArray[np.float64], y: NDArray
) -> dict[str, float]:
    """Return the measures of predicted codes (m,) and probabilities (m, K), given codes y (m,)."""
    cumulative = np.cumsum(shares, axis=1)[:, :-1]
    median = (cumulative < 0.5 - 1e-12).sum(axis=1)
    observed = y[:, None] <= np.arange(cumulative.shape[1])
    return {
        "error": float(np.mean(predicted != y)),
        "rank_error": float(np.mean(np.abs(predicted - y))),
        "median_rank_error": float(np.mean(np.abs(median - y))),
        "rps": float(np.mean((cumulative - observed) ** 2)),
    }


def evaluate(rows: Partition, trees: int, seed: int) -> Iterator[dict[str, Any]]:
    """Evaluate every kind of fit, with and without the order, on a partition."""
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
            predicted = levels.get_indexer(pd.Index(fit.predict(test)))
            yield {
                "kind": kind,
                "classes": classes,
                **scores(predicted, shares, codes),
                "fit_s": round(fit_s, 2),
            }


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the lines of every partition, COLUMNS, continuing the csv."""
    names = [name for name in (*LEVELS, *CUT) if (options.data / f"{name}.csv.gz").exists()]
    tasks = [(name, number) for name in (SIMULATED, *names) for number in range(options.repeats)]

    @lru_cache(maxsize=1)  # tasks come table by table
    def of_table(name: str) -> list[Partition]:
        table = ordered_table(options.data, name, options.rows, options.seed)
        return list(partitions(table, PROTOCOLS["Z"], options.repeats, options.seed))

    def lines(name: str, number: int) -> Iterator[tuple]:
        rows = of_table(name)[number]
        rows = Partition(rows.train.iloc[: options.rows], rows.test)
        for line in evaluate(rows, options.trees, options.seed + number):
            yield len(rows.train), *(line[column] for column in COLUMNS[3:])

    return go_on(options.out, COLUMNS, tasks, lines)


def report(lines: pd.DataFrame) -> str:
    """Write each table's scores without the order, and the differences with it, as markdown.

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
    """Evaluate trees and forests, or report an existing csv."""
    asked = parser(__doc__ or "", "ordinal.csv", repeats=10, trees=150)
    options = with_tables(asked, rows=700).parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
