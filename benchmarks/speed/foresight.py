"""What `odrf.foresee` says of fits before they are made, and what they took.

    python -m benchmarks.speed.foresight [--data DIR] [--cases letter,odt] [--out foresight.csv]

Each fit is foreseen in a process of its own, and made and saved in another one, on one core; both
compile on a small part of the table before.  Memory is the peak of the resident set during the fit,
above what the process had before; it needs Linux (``/proc``).  Seconds are those of the processor,
which other processes use, too.  ``share`` is the time of foreseeing as a share of that of the fit.
Cases are names of open tables, or simulated; rows in chunks are in a folder of Parquet files of
500,000 rows each, or in a list of data frames of 100,000 rows each.  ``--repeats`` measures each
case several times, and reports medians.
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
import pyarrow as pa

import odrf
from benchmarks.shared.tables import names_there, read_table
from benchmarks.speed.memory import peak_here, reset_peak_here
from odrf.evaluation.foresight import (
    foreseeing,
    of_all_rows,
    of_boosting,
    of_forests,
    of_guided,
    of_streamed,
    of_trees,
    sampled_blocks,
)

__all__ = ["CASES", "Case", "measured"]

MEGABYTE = 1e6
# The units in which the system counts memory.
MEBIBYTE = 2**20
WARM = 300
# Rows of a file, and of a data frame of a list.
OF_FILE, OF_LIST = 500_000, 100_000
# What takes the time of pilot trees: here in seconds of the processor.
CLOCKED = (
    of_forests, of_trees, of_boosting, of_guided, of_streamed, of_all_rows, sampled_blocks,
    foreseeing,
)  # fmt: skip


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
    source : str
        ``parquet`` or ``list`` for rows in chunks, else empty.
    """

    table: str
    model: str = "odrf"
    rows: int = 0
    options: dict[str, Any] = field(default_factory=dict)
    source: str = ""


LEAVES = {"min_leaf": 20}
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
    "odt": Case("friedman", "odt", 500_000),
    "odt without pruning": Case("friedman", "odt", 500_000, {"alpha": None}),
    "odt of classes": Case("classes", "odt", 300_000),
    "odbt": Case("friedman", "odbt", 500_000),
    "odbt of classes": Case("letter", "odbt", options={"n_trees": 100}),
    "graf": Case("friedman", "graf", 200_000, {"n_trees": 40, "min_split": 20}),
    "graf of classes": Case("classes", "graf", 50_000, {"n_trees": 40}),
    "auto": Case("friedman", "auto", 8000, {"n_trees": 100}),
    "half a million rows in files": Case("friedman", "odrf", 500_000, {"n_trees": 50}, "parquet"),
    "a million rows in files": Case("friedman", "odrf", 1_000_000, {"n_trees": 50}, "parquet"),
    "three million rows in files": Case("friedman", "odrf", 3_000_000, {"n_trees": 30}, "parquet"),
    "two million rows in files and min_leaf 20": Case(
        "friedman", "odrf", 2_000_000, {**LEAVES, "n_trees": 50}, "parquet"
    ),
    "classes in files": Case("classes", "odrf", 1_000_000, {"n_trees": 30}, "parquet"),
    "factors in files": Case("factors", "odrf", 1_000_000, {"n_trees": 30}, "parquet"),
    "a million rows in a list": Case("friedman", "odrf", 1_000_000, {"n_trees": 50}, "list"),
    "classes in a list": Case("classes", "odrf", 500_000, {**LEAVES, "n_trees": 50}, "list"),
    "factors in a list": Case("factors", "odrf", 2_000_000, {**LEAVES, "n_trees": 30}, "list"),
    "odt of half a million rows in files": Case(
        "friedman", "odt", 500_000, {"alpha": None}, "parquet"
    ),
    "odt of two million rows in files": Case("friedman", "odt", 2_000_000, {}, "parquet"),
    "odt of four million rows in files": Case(
        "friedman", "odt", 4_000_000, {**LEAVES, "alpha": None}, "parquet"
    ),
    "odt of classes in a list": Case("classes", "odt", 1_000_000, LEAVES, "list"),
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
        found = pd.DataFrame(
            [measured(case, options.data, options.folder) for _ in range(options.repeats)]
        )
        middle = found.median(numeric_only=True).to_dict()
        line = {"case": name, **found.iloc[0].to_dict(), **middle}
        line |= {count: int(line[count]) for count in ("rows", "columns")}
        print(line, flush=True)
        lines.append(line)
        if options.out is not None:
            pd.DataFrame(lines).to_csv(options.out, index=False)
    print(pd.DataFrame(lines).to_string())


def measured(case: Case, folder: Path, place: Path | None = None) -> dict[str, Any]:
    """Return what was foreseen of a case, what was measured, and the ratios of both.

    Rows in files are written to a folder in `place`, and removed afterwards.
    """
    with tempfile.TemporaryDirectory(dir=place) as files:
        if case.source == "parquet":
            _alone(_write, case, folder, Path(files))
        foreseen = _alone(_foreseen, case, folder, Path(files))
        found = _alone(_made, case, folder, Path(files))
    out = {name: found.pop(name) for name in ("rows", "columns")} | {"model": case.model}
    for name, actual in found.items():
        out |= {f"{name} foreseen": round(foreseen[name], 2), f"{name} measured": round(actual, 2)}
        out[f"{name} ratio"] = round(foreseen[name] / actual, 3)
    return out | {"share": round(foreseen["taken"] / found["seconds"], 3)}


def _alone(function: Callable[..., Any], *arguments: Any) -> Any:
    """Return what a function returns in a process of its own."""
    with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as pool:
        return pool.submit(function, *arguments).result()


def _foreseen(case: Case, folder: Path, files: Path) -> dict[str, float]:
    """Return what is foreseen, in megabytes and seconds, and the seconds that it took."""
    for module in CLOCKED:
        module.perf_counter = process_time  # type: ignore[attr-defined]
    source, few = _sources(case, folder, files)
    model, options = _call(case)
    odrf.foresee("y ~ .", few, model=model, **options)
    began = process_time()
    found = odrf.foresee("y ~ .", source, model=model, **options)
    return {
        "taken": process_time() - began,
        "peak": found.peak_bytes / MEGABYTE,
        "fit": found.fit_bytes / MEGABYTE,
        "file": found.file_bytes / MEGABYTE,
        "seconds": found.seconds,
        "leaves": found.leaves,
    }


def _made(case: Case, folder: Path, files: Path) -> dict[str, float]:
    """Return what the fit takes, its rows and columns."""
    source, few = _sources(case, folder, files)
    model, options = _call(case)
    warm = model("y ~ .", few, **options)
    with tempfile.TemporaryDirectory() as place:
        warm.save(Path(place, "warm.odrf"))
    del warm
    before = reset_peak_here()
    began = process_time()
    fit = model("y ~ .", source, **options)
    seconds = process_time() - began
    peak = (peak_here() - before) * MEBIBYTE
    if case.source == "parquet":
        pa.default_memory_pool().release_unused()
    reset_peak_here()
    kept = (peak_here(now=True) - before) * MEBIBYTE
    with tempfile.TemporaryDirectory() as place:
        fit.save(Path(place, "fit.odrf"))
        size = Path(place, "fit.odrf").stat().st_size
    return {
        "rows": fit.nobs,
        "columns": len(fit.fit.design.predictors),
        "peak": peak / MEGABYTE,
        "fit": kept / MEGABYTE,
        "file": size / MEGABYTE,
        "seconds": seconds,
        "leaves": _leaves(fit),
    }


def _call(case: Case) -> tuple[Callable[..., Any], dict[str, Any]]:
    return getattr(odrf, case.model), {"seed": 1, "n_jobs": 1, **case.options}


def _sources(case: Case, folder: Path, files: Path) -> tuple[Any, Any]:
    """Return the rows of a case, and few of them, on which functions are compiled."""
    if case.source == "parquet":
        return files / "rows", files / "few"
    data = _table(case, folder)
    few = data.sample(WARM, random_state=0)
    if case.source == "list":
        return [data[k : k + OF_LIST] for k in range(0, len(data), OF_LIST)], [few]
    return data, few


def _write(case: Case, folder: Path, files: Path) -> None:
    """Write the rows of a case to files of Parquet, and few of them to others."""
    data = _table(case, folder)
    for name, rows in (("rows", data), ("few", data.sample(WARM, random_state=0))):
        Path(files, name).mkdir()
        for number, k in enumerate(range(0, len(rows), OF_FILE)):
            rows[k : k + OF_FILE].to_parquet(files / name / f"{number:03d}.parquet")


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
    parser.add_argument("--repeats", type=int, default=1)
    parser.add_argument("--folder", type=Path, help="where rows in files are written meanwhile")
    return parser


if __name__ == "__main__":
    os.environ.setdefault("OMP_NUM_THREADS", "1")
    main()
