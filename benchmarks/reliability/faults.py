"""Ctrl-C at random moments of functions and methods: how soon they stop, and what they leave.

    python -m benchmarks.reliability.faults --out faults.csv --moments 100

Each call is interrupted at moments drawn uniformly from the time it takes, by a signal as Ctrl-C
sends it.  Afterwards the fit must predict the same bits, the call must work, and the folder must
hold the file that was there, whole, and no other.  ``slowest_stop`` is the longest time, in
seconds, from the signal to the end of the call; ``ended`` counts calls that ended before the signal
had an effect; ``wrong`` says what was wrong afterwards.  A later run with the same file does what
is missing.
"""

from __future__ import annotations

import argparse
import csv
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

import odrf
from benchmarks.reliability.durations import FITS, Call, calls, made_up

COLUMNS = ["call", "seconds", "moments", "interrupted", "ended", "slowest_stop", "wrong"]


def main() -> None:
    """Interrupt all calls that the csv does not have."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", type=Path, default=Path("faults.csv"))
    parser.add_argument("--moments", type=int, default=100)
    parser.add_argument("--rows", type=int, default=4000)
    parser.add_argument("--columns", type=int, default=6)
    parser.add_argument("--trees", type=int, default=40)
    parser.add_argument("--kinds", nargs="*", default=list(FITS), choices=FITS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    if not options.out.exists():
        options.out.write_text(",".join(COLUMNS) + "\n", encoding="utf-8")
    with options.out.open(newline="", encoding="utf-8") as file:
        done = {line["call"] for line in csv.DictReader(file)}
    table = made_up(options.rows, options.columns)
    for kind in options.kinds:
        of_all: dict[str, Any] = {} if kind == "odt" else {"n_trees": options.trees}
        grow = partial(FITS[kind], "y ~ .", table, seed=1, **of_all)
        fit = grow()
        with tempfile.TemporaryDirectory() as folder:
            made: list[tuple[str, Call]] = [("fit", grow), *calls(kind, fit, table, folder)]
            for words, call in made:
                name = f"{kind} {words}"
                if name not in done:
                    intact = partial(wrong_after, fit, table, Path(folder), fit.predict(table))
                    line = [name, *interrupted(name, call, options.moments, intact)]
                    with options.out.open("a", newline="", encoding="utf-8") as file:
                        csv.writer(file, lineterminator="\n").writerow(line)
                    print(*line, sep="  ", flush=True)


def interrupted(name: str, call: Call, moments: int, wrong: Callable[[Call], str]) -> list[Any]:
    """Return the columns of a call but its name."""
    call()  # compiled
    start = time.perf_counter()
    call()
    seconds = time.perf_counter() - start
    rng = np.random.default_rng(list(name.encode()))
    stops: list[float] = []
    for moment in rng.uniform(0.0, seconds, size=moments):
        stops += stopped(call, max(moment, 1e-4))
        plt.close("all")
    slowest = f"{max(stops):.3f}" if stops else ""
    return [f"{seconds:.4f}", moments, len(stops), moments - len(stops), slowest, wrong(call)]


def stopped(call: Call, moment: float) -> list[float]:
    """Return the seconds from the interrupt to the end of the call; empty if it ended before."""
    start = time.perf_counter()
    try:
        signal.setitimer(signal.ITIMER_REAL, moment)
        call()
        signal.setitimer(signal.ITIMER_REAL, 0)
    except KeyboardInterrupt:
        return [time.perf_counter() - start - moment]
    return []


def wrong_after(fit: Any, table: Any, folder: Path, expected: Any, call: Call) -> str:
    """Return what is wrong after interrupts; nothing if all is as before."""
    try:
        call()
    except Exception as error:
        return f"then {type(error).__name__}: {error}"
    if not fit.predict(table).equals(expected):
        return "the fit predicts something else"
    files = sorted(path.name for path in folder.iterdir())
    if files != ["fit.odrf"] * bool(files):
        return f"files left: {files}"
    if files and not odrf.load(folder / "fit.odrf").predict(table).equals(expected):
        return "the file is another one"
    return ""


if __name__ == "__main__":
    main()
