"""What the trees of a blend are chosen for: few wrong labels, or good probabilities.

    python benchmarks/objectives.py --out objectives.csv [--data DIR] [--tables a,b]
                                    [--partitions 1] [--trees 100]
    python benchmarks/objectives.py --report objectives.csv

The kinds of the default forest are grown once on the training rows of a partition (``protocol.py``,
Z).  Each objective gives them weights, by the same pilot trees, and the weighted mean of their
predictions is evaluated on the test rows.  The report compares the objectives with the default, for
the tables in odd and in even places of the index: what one half suggests, the other can confirm.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

import numpy as np
import pandas as pd
from tqdm import tqdm

from kinds import grown_kinds
from markdown import table as markdown_table
from measures import measures
from odrf.options.kinds import ERROR, OBJECTIVES, kinds_of_trees
from protocol import PROTOCOLS, partitions
from tables import read_table, table_names

MEASURED = {"error_percent": 0.5, "log_loss": 0.01, "brier": 0.005}
"""The measures, and what is added to each before its logarithm: tables of tiny losses would
dominate."""


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Return a line for each table of classes, partition and objective."""
    names = table_names(options.data) if options.tables == "all" else options.tables.split(",")
    lines = []
    for place, name in enumerate(tqdm(names, unit="table"), 1):
        table = read_table(options.data, name)
        if table.task != "classification":
            continue
        splits = partitions(table, PROTOCOLS["Z"], options.partitions, options.seed)
        for number, rows in enumerate(splits):
            grown = grown_kinds(
                rows, table.task, options.trees, options.seed + number, kinds_of_trees
            )
            for objective in OBJECTIVES:
                weights = grown.evidence.weights(objective)
                predicted = np.tensordot(weights, grown.predicted, 1)
                scores = measures(table.task, predicted, rows.train["y"], rows.test["y"])
                line = {"table": name, "place": place, "partition": number, "objective": objective}
                lines.append(line | {measure: scores[measure] for measure in MEASURED})
    return pd.DataFrame(lines)


def report(lines: pd.DataFrame) -> str:
    """Compare the objectives with the default, in per cent of each loss, as markdown."""
    parts = []
    for measure, small in MEASURED.items():
        means = lines.pivot_table(index=["place", "table"], columns="objective", values=measure)
        ratio = 100 * np.log((means + small).div(means[ERROR] + small, axis=0))
        odd = means.index.get_level_values("place") % 2 == 1
        differs = means.sub(means[ERROR], axis=0)
        figures = pd.DataFrame(
            {
                "odd tables": ratio[odd].mean(),
                "even tables": ratio[~odd].mean(),
                "all": ratio.mean(),
                "standard error": ratio.std() / len(ratio) ** 0.5,
            }
        ).map("{:+.1f}".format)
        figures["better, worse"] = [
            f"{(differs[name] < 0).sum()}, {(differs[name] > 0).sum()}" for name in differs
        ]
        parts.append(f"{measure}, {len(means)} tables:\n\n{markdown_table(figures, 'objective')}")
    return "\n\n".join(parts)


def main() -> int:
    """Try the objectives, or report an existing csv."""
    options = _parser().parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    if not (options.data / "index.csv").exists():
        print(f"nothing to do: {options.data} holds no index.csv", file=sys.stderr)
        return 0
    lines = run(options)
    lines.to_csv(options.out, index=False)
    print(report(lines))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add("--out", type=Path, default=Path("objectives.csv"), help="csv that is written")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--tables", default="all", help="names with commas between them")
    add("--partitions", type=int, default=1, help="random partitions")
    add("--trees", type=int, default=100, help="trees of each kind")
    add("--seed", type=int, default=0, help="of the partitions and the trees")
    return parser


if __name__ == "__main__":
    sys.exit(main())
