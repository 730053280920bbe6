"""How much do error, time and memory of one tree of all rows in chunks grow with the rows?

    python -m benchmarks.many_rows.all_rows --out all_rows.csv --folder DIR
                                            [--rows 1000000 10000000]
    python -m benchmarks.many_rows.all_rows --report all_rows.csv

Rows are those of `streamed.py`: 20 uniform predictors, of which Friedman's first function uses
five, and normal noise of variance 1, in files of Parquet that are removed afterwards.  Each fit is
made in a process of its own: ``odrf.odt(path, alpha=None)`` at all numbers of rows, in one thread
and in two; the same with levels in passes over a file until a node has a tenth of the rows; and
``odrf.odt(data, alpha=None)`` on a data frame of up to ``--held`` rows.  The error is the mean
squared difference between prediction and true function on 50,000 new rows.  Memory is what reading
and fitting add to the process at its peak, in 2^20 bytes; rows that are gathered for branches may
take ``--memory`` bytes (``Chunks(memory=)``).  Seconds are those of the processor, because other
work may run beside the fits.  Of these, ``levels`` are spent in the passes over the temporary file,
for as many ``n_levels``: nanoseconds a row and level follow.  The temporary file is in the folder,
too.  With ``--repeats`` there are other rows and seeds each time, and means are reported.  A run
with an existing csv adds the missing fits.
"""

from __future__ import annotations

import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager, nullcontext
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.many_rows.streamed import NAMES, NEW_ROWS, predictors, truth, write_rows
from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.speed.memory import peak_here, reset_peak_here
from odrf import Chunks, odt
from odrf.fits.all_rows import growing_all_rows
from odrf.fits.all_rows.all_rows_fit import AllRowsFit
from odrf.results.tree import ODTResults

LEAF, SHARE, SMALL = 20, 10, 2000
ROWS, HELD = (1_000_000, 10_000_000), 10_000_000
MEASURES = ("seconds", "elapsed", "megabytes", "error", "leaves", "n_levels", "levels")
COLUMNS = ["rows", "method", "threads", "repeat", "min_leaf", "memory", *MEASURES]
FILES, DIVIDED, FRAME = "in chunks", "in chunks, a tenth in memory", "in memory"
METHODS = (FILES, DIVIDED, FRAME)


class Fitted(NamedTuple):
    """A tree, the levels of nodes that were split by passes, and the seconds of these passes."""

    tree: ODTResults
    n_levels: int
    levels: float


def fitted(method: str, folder: Path, threads: int, memory: float, seed: int) -> Fitted:
    """Grow a tree of the rows of a folder."""
    options: dict[str, Any] = {"alpha": None, "min_leaf": LEAF, "seed": seed, "n_jobs": threads}
    if method == FRAME:
        return Fitted(odt("y ~ .", pd.read_parquet(folder), **options), 0, 0.0)
    spent = [0.0]
    grow_crown = vars(growing_all_rows)["grow_crown"]

    def timed(*arguments: Any) -> Any:
        begin = time.process_time()
        found = grow_crown(*arguments)
        spent[0] += time.process_time() - begin
        return found

    with replaced("grow_crown", timed):
        tree = odt("y ~ .", Chunks(folder, memory=memory), **options)
    assert isinstance(tree.fit, AllRowsFit)
    return Fitted(tree, tree.fit.levels, spent[0])


@contextmanager
def replaced(name: str, function: Callable[..., Any]) -> Iterator[None]:
    """Let the fits use another function of this name."""
    names = vars(growing_all_rows)
    before = names[name]
    names[name] = function
    try:
        yield
    finally:
        names[name] = before


def measured(
    method: str, folder: Path, small: Path, threads: int, memory: float, seed: int, n: int
) -> tuple:
    """Fit once on few rows, so that compilation does not count, and then on the rows of a folder.

    Returns the values of `MEASURES`.
    """
    tempfile.tempdir = str(folder.parent)
    with replaced("rows_that_fit", lambda n_stored, n_classes: SMALL // SHARE):
        fitted(method, small, threads, memory, seed)
    divided = replaced("rows_that_fit", lambda n_stored, n_classes: n // SHARE)
    with divided if method == DIVIDED else nullcontext():
        before = reset_peak_here()
        begin, began = time.process_time(), time.perf_counter()
        found = fitted(method, folder, threads, memory, seed)
        seconds, elapsed = time.process_time() - begin, time.perf_counter() - began
        megabytes = peak_here() - before
    X = predictors(NEW_ROWS, 2**31, seed)
    predicted = found.tree.predict(pd.DataFrame(X, columns=NAMES)).to_numpy()
    error = float(np.mean((predicted - truth(X)) ** 2))
    leaves = int(found.tree.n_leaves[0])
    return (seconds, elapsed, megabytes, error, leaves, found.n_levels, found.levels)


def lines_of(options: Any, n: int, method: str, threads: int, repeat: int) -> list[tuple]:
    """Return the line of a method on n rows, others in each repeat."""
    seed = options.seed + repeat
    folder, small = options.folder / f"{seed}_{n}", options.folder / f"{seed}_{SMALL}"
    for rows, place in ((n, folder), (SMALL, small)):
        if not place.exists():
            part = place.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            write_rows(rows, part, seed)
            part.rename(place)
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        how = threads, options.memory, seed, n
        values = pool.submit(measured, method, folder, small, *how).result()
    return [(LEAF, options.memory, *values)]


def report(lines: pd.DataFrame) -> str:
    """Write the measures as markdown."""
    shown = {}
    keys = ["rows", "method", "threads"]
    for key, some in lines.groupby(keys):
        rows, method, threads = key
        line = some[list(MEASURES)].mean()
        passed = rows * line["n_levels"]
        spread = some["error"].std() / len(some) ** 0.5
        shown[f"{rows}, {method}, {threads}"] = {
            "repeats": f"{len(some)}",
            "error": f"{line['error']:.4f}" + (f" (SE {spread:.4f})" if len(some) > 1 else ""),
            "seconds": f"{line['seconds']:.1f}",
            "elapsed": f"{line['elapsed']:.1f}",
            "memory (MiB)": f"{line['megabytes']:.0f}",
            "leaves": f"{line['leaves']:.0f}",
            "levels in passes": f"{line['n_levels']:.0f}",
            "ns a row and level": f"{line['levels'] / passed * 1e9:.0f}" if passed else "",
        }
    return markdown_table(pd.DataFrame(shown).T, "rows, method, threads")


def main() -> int:
    """Measure the fits, or report an existing csv."""
    arguments = parser(__doc__ or "", "all_rows.csv", repeats=1, trees=1)
    arguments.add_argument("--folder", type=Path, default=Path("all_rows"))
    arguments.add_argument("--rows", type=int, nargs="+", default=ROWS)
    arguments.add_argument("--held", type=int, default=HELD, help="most rows of a data frame")
    arguments.add_argument("--threads", type=int, nargs="+", default=(1, 2))
    arguments.add_argument("--memory", type=float, default=1e9, help="bytes, of gathered rows")
    arguments.add_argument("--methods", nargs="+", default=METHODS, choices=METHODS)
    options = arguments.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    lines = pd.DataFrame(columns=COLUMNS)
    for n in options.rows:
        tasks = [
            (n, method, threads, repeat)
            for repeat in range(options.repeats)
            for method in options.methods
            if method != FRAME or n <= options.held
            for threads in options.threads
        ]
        lines = go_on(options.out, COLUMNS, tasks, partial(lines_of, options))
        for folder in options.folder.glob(f"*_{n}"):
            shutil.rmtree(folder, ignore_errors=True)
    shutil.rmtree(options.folder, ignore_errors=True)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
