"""Random cases: tables × formulas × options × every method of every result, and commands.

Each seed is a case.  Its outcome must be a valid fit, all of whose methods answer or say why not,
or an `InputError`.  Anything else is unexplained.  A range of seeds, in two processes; what is
unexplained is written by its cause; and one case again, with all that is asked and refused:

    python tests/random_cases.py extreme --seeds 0 5000 --processes 2
    python tests/random_cases.py extreme --seed 17

`--out` adds a line with the counts to a csv.
"""

from __future__ import annotations

import argparse
import csv
import sys
import time
from pathlib import Path

from cases.case import KINDS
from cases.ranges import run_cases, try_seed

COLUMNS = ["kind", "first", "end", "cases", "calls", "refused", "unexplained"]


def main() -> int:
    """Run what the words of the command ask for; return 1 if anything is unexplained."""
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("kind", choices=[*KINDS, "command"])
    which = reader.add_mutually_exclusive_group(required=True)
    which.add_argument("--seed", type=int, help="the seed of one case, which is shown")
    which.add_argument("--seeds", type=int, nargs=2, metavar=("FIRST", "END"))
    reader.add_argument("--usual", action="store_true", help="usual families, as in the tests")
    reader.add_argument("--processes", type=int, default=1)
    reader.add_argument("--seconds", type=float, default=200.0, help="the most of a case")
    reader.add_argument("--out", type=Path, help="a csv that gets a line with the counts")
    reader.add_argument("--everything", action="store_true", help="ask every method of each fit")
    asked = reader.parse_args()
    if asked.seed is not None:
        found = try_seed(asked.kind, asked.seed, asked.everything, True, asked.usual).unexplained
        print(*found, sep="\n")
        return int(bool(found))
    begin, seeds = time.perf_counter(), range(*asked.seeds)
    how = (asked.processes, asked.seconds, asked.everything, asked.usual)
    tally = run_cases(asked.kind, seeds, *how)
    print(tally)
    print(f"{tally.cases / (time.perf_counter() - begin):.1f} cases a second")
    if asked.out:
        unexplained = sum(map(len, tally.causes.values()))
        counts = [tally.cases, tally.calls, tally.refused, unexplained]
        _add_line(asked.out, [asked.kind, seeds.start, seeds.stop, *counts])
    return int(bool(tally.causes))


def _add_line(out: Path, line: list[object]) -> None:
    new = not out.exists()
    with out.open("a", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, lineterminator="\n")
        if new:
            writer.writerow(COLUMNS)
        writer.writerow(line)


if __name__ == "__main__":
    sys.exit(main())
