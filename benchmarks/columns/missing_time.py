"""What do empty cells cost in training time?

    python -m benchmarks.columns.missing_time --out missing_time.csv [--data DIR] [--repeats 5]
                                              [--trees 100] [--rows 2000] [--label now]
                                              [--cells whole] [--one-kind]
    python -m benchmarks.columns.missing_time --report missing_time.csv

A forest is grown on a table without empty cells (``whole``), on the table with 30 % of its cells
emptied completely at random (``empty``, with ``missing="split"``), and on that table filled by
medians and most frequent levels (``filled``), in turns, on one thread.  The csv has the processor
seconds of training, and a checksum of the probabilities or numbers predicted.  For another version
of this package run the script with another label and the same csv, by ``python -P -m`` (Python 3.11
or later) with ``PYTHONPATH=FOLDER:.``, that version being in the folder: the report says whether
its predictions are the same bits.

A blend may choose other kinds of trees where cells are empty, which take more or less time to grow;
with ``--one-kind`` all trees are of the first kind, so that like is compared with like.
"""

from __future__ import annotations

import argparse
import hashlib
import sys
import time
from collections.abc import Iterator
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from benchmarks.columns.holes import with_holes
from benchmarks.methods.raw_methods import fill_by_median
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser, with_tables
from benchmarks.shared.tables import names_there, read_table
from odrf import odrf

TABLES = ("california_housing", "cpu_act", "german_credit", "magic", "satimage")
CELLS = ("whole", "empty", "filled")
SHARE = 0.3
OPTIONS: dict[str, dict[str, Any]] = {"empty": {"missing": "split"}}
COLUMNS = ["table", "repeat", "label", "cells", "n", "seconds", "checksum"]


def line_of(
    options: argparse.Namespace, name: str, repeat: int, _: str, cells: str
) -> Iterator[tuple[int, float, str]]:
    """Time a fit after a small one, which loads what is compiled."""
    data = rows_of(options, name, repeat, cells)
    of_all = {"seed": repeat, "n_jobs": 1, **OPTIONS.get(cells, {})}
    of_all |= {"blend": False} if options.one_kind else {}
    odrf("y ~ .", data.head(200), n_trees=2, **of_all)
    began = time.process_time()
    forest = odrf("y ~ .", data, n_trees=options.trees, **of_all)
    seconds = time.process_time() - began
    predicted = forest.predict(data, type="response" if forest.kind == "regression" else "prob")
    checksum = hashlib.sha256(np.ascontiguousarray(predicted.to_numpy()).tobytes())
    yield len(data), seconds, checksum.hexdigest()[:12]


def rows_of(options: argparse.Namespace, name: str, repeat: int, cells: str) -> pd.DataFrame:
    """Draw rows of a table, whole, with empty cells, or filled."""
    data = read_table(options.data, name).data
    if len(data) > options.rows:
        data = data.sample(options.rows, random_state=options.seed).reset_index(drop=True)
    if cells == "whole":
        return data
    holed = with_holes(data, "random", SHARE, [options.seed, repeat])
    return fill_by_median(holed)(holed) if cells == "filled" else holed


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Time the fits that the csv lacks, the kinds of cells in turns."""
    there = names_there(options.data, TABLES)
    asked = [cells for cells in CELLS if cells in options.cells.split(",")]
    tasks = [
        (name, repeat, options.label, cells)
        for name in there
        for repeat in range(options.repeats)
        for cells in np.roll(asked, repeat).tolist()
    ]
    return go_on(options.out, COLUMNS, tasks, partial(line_of, options))


def report(lines: pd.DataFrame) -> str:
    """Write the least seconds of each kind of cells, their ratios, and equal checksums."""
    shown = {}
    first = lines["label"].iloc[0]
    for (table, label), of in lines.groupby(["table", "label"], sort=False):
        least = of.groupby("cells")["seconds"].min().reindex(CELLS)
        whole = lines[(lines["table"] == table) & (lines["cells"] == "whole")]
        before = whole[whole["label"] == first].set_index("repeat")
        now = whole[whole["label"] == label].set_index("repeat")
        same = (before["checksum"] == now["checksum"].reindex(before.index)).all()
        shown[f"{table}, {label}"] = {
            **{f"{cells}, s": f"{least[cells]:.2f}" for cells in CELLS},
            "empty / filled": f"{least['empty'] / least['filled']:.2f}",
            f"whole / {first}": f"{least['whole'] / before['seconds'].min():.3f}",
            f"same bits as {first}": "yes" if same else "no",
        }
    return markdown_table(pd.DataFrame(shown).T.replace("nan", "–"), "table, version")


def main() -> int:
    """Time the fits, or report an existing csv."""
    asked = with_tables(parser(__doc__ or "", "missing_time.csv", repeats=5, trees=100), rows=2000)
    add = asked.add_argument
    add("--label", default="now", help="name of the version of this package")
    add("--one-kind", action="store_true", help="no blend of several kinds of trees")
    add("--cells", default=",".join(CELLS), help="names with commas between them")
    options = asked.parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
