"""A forest that follows a stream of rows of which it keeps a sample.

    python -m benchmarks.many_rows.stream --out stream.csv [--trees 20]
    python -m benchmarks.many_rows.stream --report stream.csv

1,000,000 rows of Friedman's first problem with ten predictors come in batches of 1,000 or 10,000.
After half of them the truth changes: the first five predictors, on which the response depends,
change places with the last five.  A forest, ``odrf(blend=False)`` of `--trees` trees, is fitted to
the first 50,000 rows, and updated with each batch by ``update(keep=50_000)``.

Every 50,000 rows, the csv has the mean squared error of these rows, each predicted before its
batch was learned, as ``drift_path`` says; the processor seconds of the updates; the memory of the
process; and the leaves of a tree.  Every 200,000 rows, it has the error of the next 10,000 rows by
a forest that is fitted anew to the rows that are kept.  Each size of batches has a process of its
own.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Iterator
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np
import pandas as pd

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from odrf import odrf, simulate
from odrf.results.forest import ODRFResults

ROWS, KEPT, BLOCK, JUDGED = 1_000_000, 50_000, 50_000, 10_000
BATCHES = (10_000, 1_000)
AFRESH = 200_000
Line: TypeAlias = tuple[int, float, float, float, float, int]
COLUMNS = ["batch", "rows", "error", "afresh", "seconds", "mib", "leaves"]


def stream_of(rows: int, seed: int) -> pd.DataFrame:
    """Return the rows; from the middle on predictors have changed places."""
    data = simulate.friedman1(10).sample(rows, seed=seed)
    later = data.index >= rows // 2
    names = [name for name in data.columns if name != "y"]
    data.loc[later, names] = data.loc[later, names[5:] + names[:5]].to_numpy()
    return data


def memory() -> float:
    """Return the memory of the process in MiB; NaN where the system does not say."""
    status = Path("/proc/self/status")
    if not status.exists():
        return float("nan")
    [line] = [one for one in status.read_text().splitlines() if one.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def followed(
    batch: int, trees: int, seed: int
) -> list[tuple[int, float, float, float, float, int]]:
    """Follow the stream in batches; return a line for each block of rows."""
    data = stream_of(ROWS, seed)
    options: dict[str, Any] = {"n_trees": trees, "blend": False, "n_jobs": 1}
    fit, lines = odrf("y ~ .", data[:KEPT], seed=seed, **options), []
    for begin in range(KEPT, ROWS, BLOCK):
        began = time.process_time()
        for at in range(begin, begin + BLOCK, batch):
            fit = fit.update(data[at : at + batch], keep=KEPT)
        seconds = time.process_time() - began
        path, end = fit.drift_path().table, begin + BLOCK
        block = path[(path.index >= begin) & (path.index < end)]
        error = float(np.average(block["error"], weights=block["rows"]))
        used, leaves = memory(), int(fit.n_leaves.mean())
        lines.append((end, error, _afresh(data, fit, end, options, seed), seconds, used, leaves))
    return lines


def _afresh(
    data: pd.DataFrame, fit: ODRFResults, end: int, options: dict[str, Any], seed: int
) -> float:
    """Return the error of the next rows by a forest of the rows that are kept; NaN if not asked."""
    if end >= ROWS or end % AFRESH:
        return float("nan")
    kept = data.loc[fit.fit.data.index]
    judged = data[end : end + JUDGED]
    anew = odrf("y ~ .", kept, seed=seed, **options)
    return float(np.mean((anew.predict(judged) - judged["y"]) ** 2))


def lines_of(batch: int, *, trees: int, seed: int) -> Iterator[Line]:
    """Yield the lines of one size of batches, from a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as process:
        yield from process.submit(followed, batch, trees, seed).result()


def report(lines: pd.DataFrame) -> str:
    """Write errors, seconds and memory along the stream, as markdown."""
    texts = []
    for batch, of_batch in lines.groupby("batch", sort=False):
        shown = pd.DataFrame(index=pd.Index([f"{rows:,}" for rows in of_batch["rows"]]))
        shown["error"] = [f"{value:.2f}" for value in of_batch["error"]]
        afresh = of_batch["afresh"]
        shown["fitted anew, next"] = ["" if np.isnan(v) else f"{v:.2f}" for v in afresh]
        shown["seconds"] = [f"{value:.1f}" for value in of_batch["seconds"]]
        shown["MiB"] = [f"{value:.0f}" for value in of_batch["mib"]]
        shown["leaves"] = of_batch["leaves"].to_numpy()
        texts.append(f"**batches of {batch:,} rows**\n\n{markdown_table(shown, 'rows until')}")
    return "\n\n".join(texts)


def main() -> int:
    """Measure, or report an existing csv."""
    options = parser(__doc__ or "", "stream.csv", repeats=1, trees=20).parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    tasks = [(batch,) for batch in BATCHES]
    of_batch = partial(lines_of, trees=options.trees, seed=options.seed)
    print(report(go_on(options.out, COLUMNS, tasks, of_batch)))
    return 0


if __name__ == "__main__":
    sys.exit(main())
