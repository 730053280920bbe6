"""Command-line options of the benchmarks, and runs that continue an existing csv."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path

import pandas as pd
from tqdm import tqdm

__all__ = ["go_on", "parser", "plotting_parser", "with_tables"]


def go_on(
    path: Path,
    columns: list[str],
    tasks: Sequence[tuple],
    lines_of: Callable[..., Iterable[tuple]],
    digits: int | None = 6,
) -> pd.DataFrame:
    """Run the tasks that the csv lacks, write to it after each, and return its contents.

    The first columns of a line identify its task; `lines_of` returns the values of the others.
    Numbers are written with `digits` significant digits, or with all if None.
    """
    written = None if digits is None else f"%.{digits}g"
    done = pd.read_csv(path) if path.exists() else pd.DataFrame(columns=columns)
    known = set(done[columns[: len(tasks[0])]].itertuples(index=False, name=None))
    for task in tqdm([task for task in tasks if task not in known], unit="fit"):
        lines = pd.DataFrame([(*task, *line) for line in lines_of(*task)], columns=columns)
        done = lines if done.empty else pd.concat([done, lines], ignore_index=True)
        done.to_csv(path, index=False, float_format=written)
    return pd.read_csv(path)


def parser(doc: str, out: str, repeats: int, trees: int) -> argparse.ArgumentParser:
    """Return the parser of the options that all these benchmarks have."""
    asked = argparse.ArgumentParser(
        description=doc.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = asked.add_argument
    add("--out", type=Path, default=Path(out), help="csv that is written, or continued")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--repeats", type=int, default=repeats, help="training samples of each problem and size")
    add("--trees", type=int, default=trees, help="trees of each forest")
    add("--seed", type=int, default=0, help="of the samples and the forests")
    return asked


def plotting_parser(doc: str, out: str, repeats: int, trees: int) -> argparse.ArgumentParser:
    """Return the same parser with an option to draw a picture."""
    asked = parser(doc, out, repeats, trees)
    asked.add_argument("--plot", type=Path, help="picture that is drawn of the csv")
    return asked


def with_tables(asked: argparse.ArgumentParser, rows: int) -> argparse.ArgumentParser:
    """Add options of benchmarks on tables, which train on at most `rows` rows."""
    folder = Path("../shared/data")
    asked.add_argument("--data", type=Path, default=folder, help="folder with the tables")
    asked.add_argument("--rows", type=int, default=rows, help="training rows at most")
    return asked
