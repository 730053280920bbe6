"""Error of forests that are trained on a quarter of the rows, chosen by a guided forest.

    python -m benchmarks.guided.sensitivity --out sensitivity.csv [--data ../shared/data]
                                            [--repeats 10] [--tables vehicle,satimage] [--rows 1000]
                                            [--fraction 0.25]
    python -m benchmarks.guided.sensitivity --report sensitivity.csv

Gupta et al., *Guided random forest and its application to data approximation*, Figure 13: the rows
with the largest sensitivities, or rows drawn in proportion to them, against as many rows drawn
uniformly.  Tables are cut to ``--rows`` random rows, and divided 70 to 30 anew in each repeat.  The
subspace of the guided forest is the one with the least error on held-out training rows; it divides
regions of at least 2, or of at least 10 rows.  The forest of odrf and a guided forest are trained
on the rows that are kept.  The csv has one line for each table, repeat, choice of rows and model.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import in_bold
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.shared.tables import read_table
from odrf import graf, odrf
from odrf.results import FittedResults, GRAFResults

TABLES = "vehicle,satimage,pendigits,magic"
SPLITS = (2, 10)
METHODS = ("sample", "top")
SUBSPACES = ("sqrt", "half", "all")
TRAIN, FITTED = 0.7, 0.7
TUNING_TREES, MODEL_TREES = 30, 100
ALL, UNIFORM = "all rows", "uniform"
COLUMNS = ["table", "repeat", "subspace", "n_train", "rows", "model", "error"]
FORMULA = "y ~ ."


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return the errors, COLUMNS, continuing the csv."""
    tasks = [
        (name, repeat) for name in options.tables.split(",") for repeat in range(options.repeats)
    ]

    def lines(name: str, repeat: int) -> Iterator[tuple[str, int, str, str, float]]:
        train, test, seed = divided(options, name, repeat)
        subspace = tuned(train, seed)
        for rows, kept in kept_rows(options, train, subspace, seed).items():
            for model, error in errors(kept, test, subspace, seed).items():
                yield subspace, len(train), rows, model, error

    return go_on(options.out, COLUMNS, tasks, lines)


def divided(
    options: argparse.Namespace, name: str, repeat: int
) -> tuple[pd.DataFrame, pd.DataFrame, int]:
    """Return training rows, test rows and a seed."""
    data = read_table(options.data, name).data
    rows = np.random.default_rng(options.seed).permutation(len(data))[: options.rows]
    state = np.random.SeedSequence([options.seed, repeat]).generate_state(2)
    order = np.random.default_rng(state[0]).permutation(rows)
    cut = round(TRAIN * len(order))
    return data.iloc[order[:cut]], data.iloc[order[cut:]], int(state[1])


def tuned(train: pd.DataFrame, seed: int) -> str:
    """Return the subspace with the least error on the last rows, which are in random order."""
    cut = round(FITTED * len(train))
    first, last = train.iloc[:cut], train.iloc[cut:]
    error = {
        subspace: error_rate(guided(first, subspace, TUNING_TREES, seed), last)
        for subspace in SUBSPACES
    }
    return min(error, key=lambda subspace: error[subspace])


def kept_rows(
    options: argparse.Namespace, train: pd.DataFrame, subspace: str, seed: int
) -> dict[str, pd.DataFrame]:
    """Return the training rows that each method keeps."""
    kept = {ALL: train}
    for min_split in SPLITS:
        fit = guided(train, subspace, options.trees, seed, min_split)
        if UNIFORM not in kept:
            kept[UNIFORM] = fit.approximate(options.fraction, UNIFORM, seed=seed)
        for method in METHODS:
            rows = fit.approximate(options.fraction, method, seed=seed)
            kept[f"{method}, regions of {min_split}"] = rows
    return kept


def errors(kept: pd.DataFrame, test: pd.DataFrame, subspace: str, seed: int) -> dict[str, float]:
    """Return the error of each model that is trained on the rows kept."""
    if kept["y"].nunique() == 1:
        constant = float((test["y"] != kept["y"].iloc[0]).mean())
        return {"odrf": constant, "graf": constant}
    forest = odrf(FORMULA, kept, n_trees=MODEL_TREES, seed=seed, n_jobs=1)
    return {
        "odrf": error_rate(forest, test),
        "graf": error_rate(guided(kept, subspace, MODEL_TREES, seed), test),
    }


def guided(
    train: pd.DataFrame, subspace: str, trees: int, seed: int, min_split: int = 2
) -> GRAFResults:
    """Return a guided forest."""
    options: dict[str, Any] = {
        "subspace": subspace,
        "min_split": min_split,
        "seed": seed,
        "n_jobs": 1,
    }
    return graf(FORMULA, train, n_trees=trees, **options)


def error_rate(fit: FittedResults, test: pd.DataFrame) -> float:
    """Return the misclassification rate on the test rows."""
    return float(np.mean(fit.predict(test).to_numpy() != test["y"].to_numpy()))


def report(lines: pd.DataFrame) -> str:
    """Write mean errors, and their increase against all rows, in per cent, as markdown."""
    parts = []
    for model, of_model in lines.groupby("model", sort=False):
        wide = 100 * of_model.pivot(index=["table", "repeat"], columns="rows", values="error")
        wide = wide[of_model["rows"].unique()]
        loss = wide.drop(columns=ALL).sub(wide[ALL], axis=0).groupby(level="table", sort=False)
        text = loss.mean().map("{:.1f}".format) + " ± " + loss.sem().map("{:.1f}".format)
        mean = loss.mean()
        text = in_bold(text, mean.le(mean[UNIFORM], axis=0) & (mean.columns != UNIFORM))
        whole = wide[ALL].groupby(level="table", sort=False).mean().map("{:.1f}".format)
        parts.append(
            f"{model}: error with all rows, %, and by how much it is larger with those kept; in "
            f"bold where no more than with uniform ones\n\n"
            + markdown_table(pd.concat([whole, text], axis=1), "table")
        )
    return "\n\n".join(parts)


def main() -> int:
    """Fit the models, or report an existing csv."""
    asked = parser(__doc__ or "", "sensitivity.csv", repeats=10, trees=200)
    add = asked.add_argument
    add("--data", type=Path, default=Path("../shared/data"), help="folder with the tables")
    add("--tables", default=TABLES, help="names, with commas between")
    add("--rows", type=int, default=1000, help="most rows of a table")
    add("--fraction", type=float, default=0.25, help="share of the training rows that is kept")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
