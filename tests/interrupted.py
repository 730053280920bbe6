"""Work that is interrupted by signals from another process: see tests/test_waiting.py.

For each piece of work a line "begin NAME", then, when the interrupt has come, "stopped NAME", then
"fine NAME", or what is wrong: afterwards the fit gives something else than without interrupts.
"""

from __future__ import annotations

import signal
import sys
import tempfile
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib

matplotlib.use("agg")

import numpy as np
import pandas as pd

import odrf

ROWS, TREES = 1500, 25


def main() -> None:
    """Do all pieces of work."""
    # a process that was started in the background would leave interrupts out
    signal.signal(signal.SIGINT, signal.default_int_handler)
    warnings.simplefilter("ignore")
    rng = np.random.default_rng(0)
    X = rng.normal(size=(ROWS, 6)).round(4)
    data = pd.DataFrame(X, columns=list("abcdef"))
    data["y"] = X[:, 0] + np.abs(X[:, 1]) + rng.normal(size=ROWS)
    options: dict[str, Any] = {"projection": "axis", "blend": False, "seed": 1}
    forest = odrf.odrf("y ~ .", data, n_trees=TREES, **options)
    tree = odrf.odt("y ~ .", data, projection="axis", alpha=None, seed=1)
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "fit.odrf"
        forest.save(path)
        for name, (fit, work) in pieces(data, path).items():
            results = {"forest": forest, "tree": tree}
            expected = outcome(work, results[fit])
            fresh = type(results[fit])(results[fit].fit)
            interrupt_and_compare(name, work, fresh, expected)
            if [file.name for file in Path(folder).iterdir()] != ["fit.odrf"]:
                say(f"{name} leaves other files")
            if not odrf.load(path).predict(data).equals(forest.predict(data)):
                say(f"{name} leaves another file")


Work = Callable[[Any], Any]


def pieces(data: pd.DataFrame, path: Path) -> dict[str, tuple[str, Work]]:
    """Return the work by name: of which fit, and what is done with it."""
    many = pd.concat([data] * 20, ignore_index=True)
    return {
        "summary": ("tree", lambda fit: fit.summary()),
        "plot": ("tree", lambda fit: (fit.plot("importance"), fit.importance())[1]),
        "pruning path": ("tree", lambda fit: fit.pruning_path(cv=5).table),
        "permutation": ("forest", lambda fit: fit.importance("permutation")),
        "selection": ("forest", lambda fit: fit.select_variables().table),
        "grow": ("forest", lambda fit: fit.grow(20).predict(data)),
        "update": ("forest", lambda fit: fit.update(data[:40]).predict(data)),
        "prune": ("forest", lambda fit: fit.prune(rule="oob").predict(data)),
        "intervals": ("forest", lambda fit: fit.predict(data[:400], interval="confidence")),
        "predict": ("forest", lambda fit: fit.predict(many)),
        "save": ("forest", lambda fit: fit.save(path)),
        "load": ("forest", lambda fit: odrf.load(path).n_leaves),
    }


def interrupt_and_compare(name: str, work: Work, fit: Any, expected: str) -> None:
    """Do the work until an interrupt comes; then once more, which must give what is expected."""
    before = outcome(lambda fit: fit.predict(), fit)
    say(f"begin {name}")
    try:
        while True:
            work(type(fit)(fit.fit))
            work(fit)
    except KeyboardInterrupt:
        say(f"stopped {name}")
    same = outcome(work, fit) == expected and outcome(lambda fit: fit.predict(), fit) == before
    say(f"{'fine' if same else 'changed'} {name}")


def outcome(work: Work, fit: Any) -> str:
    """Return what the work gives, as text that shows every bit of numbers."""
    made = work(fit)
    if isinstance(made, pd.DataFrame | pd.Series):
        return made.to_csv()
    return str(made)


def say(words: str) -> None:
    """Tell the process that waits."""
    print(words, flush=True)


if __name__ == "__main__":
    sys.exit(main())
