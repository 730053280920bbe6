"""Benchmarks on random partitions of open tables: their options, tasks and rows.

A task is the name of a table, its place in the index, from 1, and the number of a partition
(``protocol.py``, Z).  Reports compare tables in odd places with those in even ones: what one half
suggests, the other can confirm.  So a place does not depend on which tables are asked for.
"""

from __future__ import annotations

import argparse
from functools import lru_cache
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.shared.protocol import LARGEST_TRAINING_SET, PROTOCOLS, Partition, partitions
from benchmarks.shared.runs import parser
from benchmarks.shared.tables import read_table, table_names
from odrf.options import words

__all__ = ["in_odd_places", "partition_of", "tables_parser", "tasks_on"]

ALL = "all"


def tables_parser(doc: str, out: str, repeats: int, trees: int) -> argparse.ArgumentParser:
    """Return the parser of options of `runs.parser`, of the folder and of the names of tables."""
    asked = parser(doc, out, repeats, trees)
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="folder of tables")
    asked.add_argument("--tables", default=ALL, help="names with commas between them")
    return asked


def tasks_on(
    options: argparse.Namespace, kind: str | None = None, few: int | None = None
) -> list[tuple[str, int, int]]:
    """Return name, place and partition of each table that is asked for.

    Parameters
    ----------
    options : Namespace
        As of `tables_parser`.
    kind : str, optional
        Tables of this task alone: "regression" or "classification".
    few : int, optional
        At most so many partitions of tables with the most training rows, which vary less.
    """
    places = {name: place for place, name in enumerate(table_names(options.data), 1)}
    names = list(places) if options.tables == ALL else options.tables.split(",")
    for name in names:
        if name not in places:
            raise SystemExit(f"--tables: {options.data} holds no table named {name}")
    tasks = []
    for name in names:
        if kind is not None and _cut(options, name)[0] != kind:
            continue
        large = few is not None and len(_cut(options, name)[1][0].train) >= LARGEST_TRAINING_SET
        repeats = min(options.repeats, few) if few is not None and large else options.repeats
        tasks += [(name, places[name], number) for number in range(repeats)]
    if not tasks:
        raise SystemExit(f"--tables: none of {', '.join(names)} is a {kind}")
    return tasks


def partition_of(
    options: argparse.Namespace, name: str, number: int
) -> tuple[words.Kind, Partition]:
    """Return the task of a table, "regression" or "classification", and a partition of its rows."""
    task, cut = _cut(options, name)
    return task, cut[number]


def in_odd_places(losses: pd.DataFrame) -> NDArray[np.bool_]:
    """Return which rows are of tables in odd places; ``place`` is a level of the index."""
    return np.asarray(losses.index.get_level_values("place") % 2 == 1)


def _cut(options: argparse.Namespace, name: str) -> tuple[words.Kind, list[Partition]]:
    return _partitions(options.data, name, options.repeats, options.seed)


@lru_cache(maxsize=1)  # tasks come table by table
def _partitions(
    folder: Path, name: str, number: int, seed: int
) -> tuple[words.Kind, list[Partition]]:
    table = read_table(folder, name)
    return table.task, list(partitions(table, PROTOCOLS["Z"], number, seed))
