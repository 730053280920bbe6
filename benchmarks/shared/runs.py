"""Command-line options of the benchmarks, and runs that continue or report an existing csv."""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import pandas as pd
from tqdm import tqdm

__all__ = ["go_on", "parser", "plotting_parser", "run_or_report", "with_quick", "with_tables"]


def go_on(
    path: Path,
    columns: list[str],
    tasks: Sequence[tuple],
    lines_of: Callable[..., Iterable[Sequence[Any]]],
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
        # a run that is killed while it writes leaves the lines of the tasks before
        beside = path.with_name(f"{path.name}.part")
        done.to_csv(beside, index=False, float_format=written)
        beside.replace(path)
    return pd.read_csv(path)


def run_or_report(
    options: argparse.Namespace,
    run: Callable[[argparse.Namespace], pd.DataFrame],
    report: Callable[[pd.DataFrame], str],
    tables: Path | None = None,
) -> int:
    """Print the report of the csv of ``--report``, or else of a run; return the exit status.

    `tables` is the folder with the tables that a run needs: without them it says so, and ends.
    """
    if options.report is None and tables is not None and not (tables / "index.csv").exists():
        print(f"nothing to do: {tables} holds no index.csv", file=sys.stderr)
        return 0
    print(report(run(options) if options.report is None else pd.read_csv(options.report)))
    return 0


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


def with_quick(asked: argparse.ArgumentParser, **small: Any) -> argparse.ArgumentParser:
    """Add ``--quick``, which sets other options to `small` values, to see whether all works."""

    class Quick(argparse.Action):
        def __call__(
            self, parser: object, namespace: argparse.Namespace, values: object, option: object = ""
        ) -> None:
            vars(namespace).update(small)

    words = ", ".join(f"--{name} {value}" for name, value in small.items())
    asked.add_argument("--quick", action=Quick, nargs=0, help=words)
    return asked
