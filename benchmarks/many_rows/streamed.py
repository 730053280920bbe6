"""How much do error, time and memory of a forest on rows in chunks grow with the rows?

    python -m benchmarks.many_rows.streamed --out streamed.csv --folder DIR
                                            [--rows 100000 1000000 10000000]
    python -m benchmarks.many_rows.streamed --report streamed.csv

Rows are simulated: 20 uniform predictors, of which Friedman's first function uses five, and normal
noise of variance 1.  They are written to files of Parquet in the folder, 500,000 rows each, and
removed afterwards; 100 million rows take 10 GB.  Each fit is made in a process of its own: of
``odrf(path)`` at all numbers of rows, of ``odrf(data)`` with trees of the same kind and of
scikit-learn's forest on a data frame of up to ``--held`` rows.  The error is the mean squared
difference between prediction and true function on 50,000 new rows.  Memory is what reading and
fitting add to the process at its peak, in 2^20 bytes; in chunks, the rows that trees draw and
growth may take ``--memory`` bytes (``Chunks(memory=)``).  Seconds are those of the processor,
because other work may run beside the fits.  A run with an existing csv adds the missing fits.
"""

from __future__ import annotations

import shutil
import sys
import time
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from sklearn.ensemble import RandomForestRegressor

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.runs import go_on, parser
from benchmarks.speed.memory import peak_here, reset_peak_here
from odrf import Chunks, odrf
from odrf.options import words
from odrf.options.chunks import share_of_rows
from odrf.results.forest import ODRFResults

P, ROWS_OF_FILE, NEW_ROWS, LEAF = 20, 500_000, 50_000, 5
ROWS, HELD = (100_000, 1_000_000, 10_000_000), 1_000_000
MEASURES = ("rows_of_tree", "seconds", "elapsed", "megabytes", "error", "oob_mse", "leaves")
COLUMNS = ["rows", "method", "trees", "threads", "memory", *MEASURES]
NAMES = [f"x{j}" for j in range(P)]


class Fitted(NamedTuple):
    """A fit: how it predicts a frame of new rows, its out-of-bag error, leaves and rows of a tree.

    The out-of-bag error is NaN if there is none.
    """

    predict: Callable[[pd.DataFrame], NDArray[np.float64]]
    oob_mse: float
    leaves: float
    rows_of_tree: float


def truth(X: NDArray[np.float32]) -> NDArray[np.float64]:
    """Friedman's first function of rows X (n, p)."""
    a, b, c, d, e = X[:, :5].T.astype(np.float64)
    return 10 * np.sin(np.pi * a * b) + 20 * (c - 0.5) ** 2 + 10 * d + 5 * e


def predictors(n: int, key: int, seed: int) -> NDArray[np.float32]:
    """Draw n rows of predictors; `key` is the number of the file."""
    return np.random.default_rng([seed, key]).uniform(size=(n, P)).astype(np.float32)


def write_rows(n: int, folder: Path, seed: int) -> None:
    """Write n rows to files of Parquet."""
    folder.mkdir(parents=True)
    for key, begin in enumerate(range(0, n, ROWS_OF_FILE)):
        X = predictors(min(ROWS_OF_FILE, n - begin), key, seed)
        noise = np.random.default_rng([seed, key, 1]).normal(size=len(X))
        columns = {"y": (truth(X) + noise).astype(np.float32), **dict(zip(NAMES, X.T, strict=True))}
        pq.write_table(pa.table(columns), folder / f"{key:06d}.parquet")


def streamed(folder: Path, trees: int, threads: int, memory: float, seed: int) -> Fitted:
    """Fit the rows of a folder in chunks."""
    chunks = Chunks(folder, memory=memory)
    return _fitted(odrf("y ~ .", chunks, n_trees=trees, min_leaf=LEAF, seed=seed, n_jobs=threads))


def in_memory(
    folder: Path,
    trees: int,
    threads: int,
    memory: float,
    seed: int,
    share: words.ShareRule = "auto",
) -> Fitted:
    """Fit a data frame with trees of the same kind, and the usual share of rows of a subsample."""
    fit = odrf(
        "y ~ .", pd.read_parquet(folder), n_trees=trees, min_leaf=LEAF, seed=seed, n_jobs=threads,
        blend=False, resample="subsample", sample_fraction=share,
    )  # fmt: skip
    return _fitted(fit)


def _fitted(fit: ODRFResults) -> Fitted:
    n_rows = fit.control.sample_fraction * fit.nobs
    leaves = float(fit.n_leaves.mean())
    return Fitted(lambda new: fit.predict(new).to_numpy(), fit.oob_error, leaves, n_rows)


def scikit_learn(folder: Path, trees: int, threads: int, memory: float, seed: int) -> Fitted:
    """Fit a forest of scikit-learn, which tries a third of the columns at each node."""
    data = pd.read_parquet(folder)
    model = RandomForestRegressor(
        trees, max_features=1 / 3, min_samples_leaf=LEAF, n_jobs=threads, random_state=seed
    )
    model.fit(data[NAMES], data["y"])
    leaves = np.mean([tree.get_n_leaves() for tree in model.estimators_])
    return Fitted(lambda new: model.predict(new[NAMES]), np.nan, float(leaves), float(len(data)))


METHODS: dict[str, Callable[[Path, int, int, float, int], Fitted]] = {
    "in chunks": streamed,
    "in memory": in_memory,
    "in memory, same rows a tree": partial(in_memory, share=share_of_rows),
    "scikit-learn": scikit_learn,
}


def measured(
    method: str, folder: Path, small: Path, trees: int, threads: int, memory: float, seed: int
) -> tuple:
    """Fit once on few rows, so that compilation does not count, and then on the rows of a folder.

    Returns the values of `MEASURES`.
    """
    METHODS[method](small, 2, threads, memory, seed)
    before = reset_peak_here()
    begin, began = time.process_time(), time.perf_counter()
    fit = METHODS[method](folder, trees, threads, memory, seed)
    seconds, elapsed = time.process_time() - begin, time.perf_counter() - began
    megabytes = peak_here() - before
    X = predictors(NEW_ROWS, 2**31, seed)
    predicted = np.asarray(fit.predict(pd.DataFrame(X, columns=NAMES)))
    error = float(np.mean((predicted - truth(X)) ** 2))
    return (fit.rows_of_tree, seconds, elapsed, megabytes, error, fit.oob_mse, fit.leaves)


def lines_of(options: Any, n: int, method: str) -> list[tuple]:
    """Return the line of a method on n rows."""
    folder, small = options.folder / f"rows_{n}", options.folder / "rows_2000"
    for rows, place in ((n, folder), (2000, small)):
        if not place.exists():
            part = place.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            write_rows(rows, part, options.seed)
            part.rename(place)
    with ProcessPoolExecutor(max_workers=1, mp_context=get_context("spawn")) as pool:
        how = options.trees, options.threads, options.memory
        values = pool.submit(measured, method, folder, small, *how, options.seed).result()
    return [(*how, *values)]


def report(lines: pd.DataFrame) -> str:
    """Write the measures as markdown."""
    shown = {}
    for line in lines.sort_values(["rows", "method"]).to_dict("records"):
        shown[f"{line['rows']}, {line['method']}"] = {
            "trees": str(line["trees"]),
            "rows a tree": f"{line['rows_of_tree']:.0f}",
            "error": f"{line['error']:.4f}",
            "seconds": f"{line['seconds']:.1f}",
            "seconds for 10^6 rows": f"{line['seconds'] / line['rows'] * 1e6:.1f}",
            "memory (MiB)": f"{line['megabytes']:.0f}",
            "leaves": f"{line['leaves']:.0f}",
        }
    return markdown_table(pd.DataFrame(shown).T, "rows, method")


def main() -> int:
    """Measure the fits, or report an existing csv."""
    arguments = parser(__doc__ or "", "streamed.csv", repeats=1, trees=50)
    arguments.add_argument("--folder", type=Path, default=Path("streamed_rows"))
    arguments.add_argument("--rows", type=int, nargs="+", default=ROWS)
    arguments.add_argument("--held", type=int, default=HELD, help="most rows of a data frame")
    arguments.add_argument("--threads", type=int, default=1)
    arguments.add_argument("--memory", type=float, default=1e9, help="bytes, of fits in chunks")
    options = arguments.parse_args()
    if options.report is not None:
        print(report(pd.read_csv(options.report)))
        return 0
    lines = pd.DataFrame(columns=COLUMNS)
    for n in options.rows:
        methods = [method for method in METHODS if method == "in chunks" or n <= options.held]
        lines = go_on(options.out, COLUMNS, [(n, m) for m in methods], partial(lines_of, options))
        shutil.rmtree(options.folder / f"rows_{n}", ignore_errors=True)
    shutil.rmtree(options.folder, ignore_errors=True)
    print(report(lines))
    return 0


if __name__ == "__main__":
    sys.exit(main())
