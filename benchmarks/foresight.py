"""What `odrf.foresee` says of fits before they are made, and what they took.

    python benchmarks/foresight.py [--data DIR] [--cases letter,odt] [--out foresight.csv]

Each case runs in a process of its own, on one core: it compiles on a small part of its table,
foresees the fit, then makes it and saves it.  Memory is the peak of the resident set during the
fit, above what the process had before; it needs Linux (``/proc``).  Seconds are those of the
processor, which other processes use, too.  ``share`` is the time of foreseeing as a share of that
of the fit.  Cases are names of open tables, or simulated.
"""

from __future__ import annotations

import argparse
import os
import sys
import tempfile
from collections.abc import Callable
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from multiprocessing import get_context
from pathlib import Path
from time import process_time
from typing import Any

import numpy as np
import pandas as pd

import odrf
from memory import peak_here, reset_peak_here
from odrf.evaluation.foresight import foreseeing, of_boosting, of_forests, of_guided, of_trees
from tables import names_there, read_table

__all__ = ["CASES", "Case", "measured"]

MEGABYTE = 1e6
# The units in which the system counts memory.
MEBIBYTE = 2**20
WARM = 300


@dataclass(frozen=True)
class Case:
    """A fit to foresee.

    Attributes
    ----------
    table : str
        An open table; or ``friedman``, ``classes`` or ``factors``, simulated with `rows` rows.
    model : str
    rows : int
        Rows of a simulated table.
    options : dict
    """

    table: str
    model: str = "odrf"
    rows: int = 0
    options: dict[str, Any] = field(default_factory=dict)


CASES: dict[str, Case] = {
    "letter": Case("letter"),
    "adult": Case("adult"),
    "california_housing": Case("california_housing"),
    "letter of one kind": Case("letter", options={"blend": False}),
    "adult with min_leaf 20": Case("adult", options={"min_leaf": 20}),
    "small trees": Case("friedman", rows=200_000, options={"max_leaves": 2000}),
    "a tenth of the rows": Case("friedman", rows=500_000, options={"sample_fraction": 0.1}),
    "few trees": Case("friedman", rows=200_000, options={"n_trees": 50, "blend": False}),
    "blend of many rows": Case("friedman", rows=200_000, options={"n_trees": 200}),
    "five classes": Case("classes", rows=100_000, options={"n_trees": 100}),
    "factors": Case("factors", rows=100_000, options={"n_trees": 200}),
    "a million rows": Case(
        "friedman",
        rows=1_000_000,
        options={"n_trees": 60, "blend": True, "compact": 16},
    ),
    "a million rows and 500 trees": Case(
        "friedman",
        rows=1_000_000,
        options={"n_trees": 500, "blend": True, "compact": 16},
    ),
    "a million rows and min_leaf 3": Case(
        "friedman",
        rows=1_000_000,
        options={"n_trees": 30, "blend": True, "compact": 16, "min_leaf": 3},
    ),
    "odt": Case("friedman", "odt", 500_000),
    "odt without pruning": Case("friedman", "odt", 500_000, {"alpha": None}),
    "odt of classes": Case("classes", "odt", 300_000),
    "odbt": Case("friedman", "odbt", 500_000),
    "odbt of classes": Case("letter", "odbt", options={"n_trees": 100}),
    "graf": Case("friedman", "graf", 200_000, {"n_trees": 40, "min_split": 20}),
    "graf of classes": Case("classes", "graf", 50_000, {"n_trees": 40}),
    "auto": Case("friedman", "auto", 8000, {"n_trees": 100}),
}


def main() -> None:
    """Run the cases, print and write what was foreseen and measured."""
    options = _parser().parse_args()
    names = list(CASES) if options.cases is None else options.cases.split(",")
    lines = []
    for name in names:
        case = CASES[name]
        if not case.rows and not names_there(options.data, [case.table]):
            print(f"{case.table}: not in {options.data}", file=sys.stderr)
            continue
        with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
            line = {"case": name, **pool.submit(measured, case, options.data).result()}
        print(line, flush=True)
        lines.append(line)
        if options.out is not None:
            pd.DataFrame(lines).to_csv(options.out, index=False)
    print(pd.DataFrame(lines).to_string())


def measured(case: Case, folder: Path) -> dict[str, Any]:
    """Return what was foreseen of a case, what was measured, and the ratios of both."""
    for module in (of_forests, of_trees, of_boosting, of_guided, foreseeing):
        module.perf_counter = process_time  # type: ignore[attr-defined]
    data = _table(case, folder)
    model, options = getattr(odrf, case.model), {"seed": 1, "n_jobs": 1, **case.options}
    few = data.sample(WARM, random_state=0)
    warm = model("y ~ .", few, **options)
    odrf.foresee("y ~ .", few, model=model, **options)
    with tempfile.TemporaryDirectory() as place:
        warm.save(Path(place, "warm.odrf"))
    del warm
    began = process_time()
    foresight = odrf.foresee("y ~ .", data, model=model, **options)
    taken = process_time() - began
    before = reset_peak_here()
    began = process_time()
    fit = model("y ~ .", data, **options)
    seconds = process_time() - began
    peak = (peak_here() - before) * MEBIBYTE
    reset_peak_here()
    kept = (peak_here(now=True) - before) * MEBIBYTE
    with tempfile.TemporaryDirectory() as place:
        fit.save(Path(place, "fit.odrf"))
        size = Path(place, "fit.odrf").stat().st_size
    found = {
        "peak": (foresight.peak_bytes / MEGABYTE, peak / MEGABYTE),
        "fit": (foresight.fit_bytes / MEGABYTE, kept / MEGABYTE),
        "file": (foresight.file_bytes / MEGABYTE, size / MEGABYTE),
        "seconds": (foresight.seconds, seconds),
        "leaves": (foresight.leaves, _leaves(fit)),
    }
    out: dict[str, Any] = {"rows": len(data), "columns": data.shape[1] - 1, "model": case.model}
    for name, (foreseen, actual) in found.items():
        out |= {f"{name} foreseen": round(foreseen, 2), f"{name} measured": round(actual, 2)}
        out[f"{name} ratio"] = round(foreseen / actual, 3)
    return out | {"share": round(taken / seconds, 3)}


def _leaves(fit: Any) -> float:
    """Return the leaves of a tree, on average; of a stack, of its forest."""
    parts = getattr(fit.fit, "parts", None)
    leaves = fit.n_leaves if parts is None else parts[0].fit.forest.leaves()
    return float(leaves.mean())


def _table(case: Case, folder: Path) -> pd.DataFrame:
    if not case.rows:
        return read_table(folder, case.table).data
    return SIMULATED[case.table](case.rows)


def _friedman(n: int) -> pd.DataFrame:
    rng = np.random.default_rng(n)
    X = rng.random((n, 20), dtype=np.float32)
    y = 10 * np.sin(np.pi * X[:, 0] * X[:, 1]) + 20 * (X[:, 2] - 0.5) ** 2 + 10 * X[:, 3]
    return pd.DataFrame(X).add_prefix("x").assign(y=y + 5 * X[:, 4] + rng.normal(size=n))


def _classes(n: int) -> pd.DataFrame:
    data = _friedman(n)
    return data.assign(y=pd.qcut(data["y"], 5, labels=list("abcde")).astype(str))


def _factors(n: int) -> pd.DataFrame:
    data, rng = _friedman(n), np.random.default_rng(0)
    effects = rng.normal(size=50)
    level = rng.integers(50, size=n)
    return data.assign(place=pd.Categorical([f"p{k}" for k in level]), y=data["y"] + effects[level])


SIMULATED: dict[str, Callable[[int], pd.DataFrame]] = {
    "friedman": _friedman,
    "classes": _classes,
    "factors": _factors,
}


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--data", type=Path, default=Path("../shared/data"))
    parser.add_argument("--cases", help="names with commas between them")
    parser.add_argument("--out", type=Path)
    return parser


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
