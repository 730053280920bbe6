"""What are the errors of forests made of?  Sparse parity, as in Figure 12 of Tomita et al. (2020).

    python benchmarks/bias_variance.py --out bias_variance.csv [--repeats 100] [--trees 500]
                                       [--sizes 250,500,1000,2000,3000] [--jobs 1]
    python benchmarks/bias_variance.py --report bias_variance.csv

Of 20 predictors the signs of three decide the class, together; no one of them tells anything
alone.  `odrf.bias_variance` fits every method to the same training samples of each size, and
decomposes its 0-1 loss by James' definitions and by Kohavi and Wolpert's.  The csv has one line
for each size and method.  A run goes on with the lines that a csv lacks.
"""

from __future__ import annotations

import argparse
import sys
import time
from functools import partial
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

from markdown import table as markdown_table
from odrf import bias_variance, odrf, simulate

METHODS: dict[str, dict[str, Any]] = {
    "RF": {"projection": "axis", "blend": False},
    "SPORF": {"projection": "sparse", "blend": False},
    "F-RC": {"projection": "rc", "blend": False},
    "odrf": {},
}
"""The options of each."""
PANELS = {"bias": "bias", "variance": "variance", "variance_effect": "variance effect"}
PANELS |= {"error": "error rate"}
KEY = ["n", "method"]


def line(n: int, method: str, options: argparse.Namespace) -> pd.DataFrame:
    """Decompose the error of a method at n training rows."""
    began = time.perf_counter()
    forest = partial(odrf, n_trees=options.trees, n_jobs=1, **METHODS[method])
    found = bias_variance(
        {method: forest},
        simulate.sparse_parity(),
        n,
        options.repeats,
        test_rows=options.test_rows,
        seed=options.seed,
        n_jobs=options.jobs,
    )
    terms = found.table.join(found.se.add_suffix("_se")).reset_index(drop=True)
    terms.insert(0, "n", n)
    terms.insert(1, "method", method)
    terms.insert(2, "repeats", options.repeats)
    terms.insert(3, "trees", options.trees)
    return terms.assign(seconds=round(time.perf_counter() - began, 1))


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Decompose what the csv lacks, and write to it line by line."""
    done = pd.read_csv(options.out) if options.out.exists() else pd.DataFrame(columns=KEY)
    tasks = [(int(n), method) for n in options.sizes.split(",") for method in METHODS]
    for n, method in tqdm(tasks, unit="line"):
        if not ((done["n"] == n) & (done["method"] == method)).any():
            new = line(n, method, options)
            done = new if done.empty else pd.concat([done, new], ignore_index=True)
            done.to_csv(options.out, index=False)
    return done


def report(lines: pd.DataFrame) -> str:
    """Show the panels of the figure as markdown tables, with standard errors over test rows."""
    parts = []
    for term, words in PANELS.items():
        cells = [
            f"{at:.3f} ± {by:.3f}" for at, by in zip(lines[term], lines[f"{term}_se"], strict=True)
        ]
        shown = lines[KEY].assign(cell=cells).pivot(index="n", columns="method", values="cell")
        order = lines["method"].unique()
        parts.append(f"**{words}**\n\n{markdown_table(shown[order].fillna(''), 'n')}")
    return "\n\n".join(parts)


def main() -> int:
    """Decompose the errors, or report what a csv holds."""
    options = _parser().parse_args()
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    out = Path("bias_variance.csv")
    add("--out", type=Path, default=out, help="csv that is written, or gone on with")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--repeats", type=int, default=100, help="training samples of each size")
    add("--trees", type=int, default=500, help="trees of a forest")
    add("--sizes", default="250,500,1000,2000,3000", help="training rows, with commas between")
    add("--test-rows", type=int, default=2000, help="rows that all forests predict")
    add("--jobs", type=int, default=1, help="threads, one forest each")
    add("--seed", type=int, default=0, help="of the samples and the forests")
    return parser


if __name__ == "__main__":
    sys.exit(main())
