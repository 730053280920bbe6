"""Runs on simulated problems: what their users may ask, and a csv that they go on with."""

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
    """Do the tasks that the csv lacks, writing to it after each, and return what it then holds.

    A task is told by the first columns of its lines; `lines_of` returns what stands in the others.
    Numbers are written with so many `digits`; with all for None.
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
    """Return the parser of what these benchmarks all ask, by their docstring and defaults."""
    asked = argparse.ArgumentParser(
        description=doc.splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = asked.add_argument
    add("--out", type=Path, default=Path(out), help="csv that is written, or gone on with")
    add("--report", type=Path, help="csv to be reported, instead of a run")
    add("--repeats", type=int, default=repeats, help="training samples of each problem and size")
    add("--trees", type=int, default=trees, help="trees of each forest")
    add("--seed", type=int, default=0, help="of the samples and the forests")
    return asked


def plotting_parser(doc: str, out: str, repeats: int, trees: int) -> argparse.ArgumentParser:
    """Return the parser of those that draw a picture, too."""
    asked = parser(doc, out, repeats, trees)
    asked.add_argument("--plot", type=Path, help="picture that is drawn of the csv")
    return asked


def with_tables(asked: argparse.ArgumentParser, rows: int) -> argparse.ArgumentParser:
    """Return the parser of those that read tables, too, and train on so many `rows` at most."""
    folder = Path("../shared/data")
    asked.add_argument("--data", type=Path, default=folder, help="folder with the tables")
    asked.add_argument("--rows", type=int, default=rows, help="training rows at most")
    return asked
