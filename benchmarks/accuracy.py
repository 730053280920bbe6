"""Accuracy and seconds of methods on open tables; prints one table.

    python benchmarks/accuracy.py [--data DIR] [--tables a,b] [--methods odrf,rf] [--partitions 20]
                                  [--trees 100] [--threads 1] [--seed 0] [--out results.csv]

``protocol.py`` says how errors are measured, ``methods.py`` what the methods are, ``tables.py``
what the data folder must hold.  ``--out`` keeps the result of every partition, for paired
comparisons.  Seconds are medians over the partitions: compilation meets only the first of them.
Needs ``pip install ".[bench]"``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from dataclasses import asdict
from pathlib import Path

import pandas as pd

from methods import METHODS, Setting
from protocol import run, summarise
from tables import read_table, table_names


def main() -> int:
    """Run the chosen methods on the chosen tables."""
    options = _parser().parse_args()
    if not (options.data / "index.csv").exists():
        print(f"nothing to do: {options.data} holds no index.csv", file=sys.stderr)
        return 0
    names = _chosen("table", options.tables, table_names(options.data))
    methods = _chosen("method", options.methods, METHODS)
    setting = Setting(options.trees, options.seed, options.threads)
    outcomes = pd.DataFrame(
        asdict(outcome)
        for name in names
        for outcome in run(read_table(options.data, name), methods, options.partitions, setting)
    )
    if options.out is not None:
        outcomes.to_csv(options.out, index=False)
    print(summarise(outcomes).to_string(float_format="{:.4g}".format))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    parser.add_argument(
        "--data", type=Path, default=Path("../shared/data"), help="folder with index.csv"
    )
    parser.add_argument("--tables", help="names with commas between them; all of the index if none")
    parser.add_argument("--methods", default="odrf,rf", help=f"of {', '.join(METHODS)}")
    parser.add_argument("--partitions", type=int, default=20, help="random partitions")
    parser.add_argument("--trees", type=int, default=100, help="trees of each forest")
    parser.add_argument("--threads", type=int, default=1, help="threads of each method")
    parser.add_argument("--seed", type=int, default=0, help="of the partitions and the methods")
    parser.add_argument("--out", type=Path, help="csv of every partition's result")
    return parser


def _chosen(what: str, names: str | None, known: Collection[str]) -> list[str]:
    chosen = list(known) if names is None else names.split(",")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise SystemExit(f"unknown {what} {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


if __name__ == "__main__":
    sys.exit(main())
