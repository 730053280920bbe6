"""Survival models of Python, fitted or evaluated on request; started by ``survival_workers.py``.

It reads and answers lines as ``survival_worker.R`` does.  The system ``score`` fits nothing: it
evaluates the files that another one has left in the folder, by the measures of scikit-survival, and
answers Uno's C, Harrell's C, and the integrated Brier score.
"""

from __future__ import annotations

import sys
import time
from contextlib import suppress
from importlib import import_module
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from benchmarks.survival.survival_systems import LIBRARY_OF, SYSTEMS, structured

WARM_UP_ROWS = 60


def main() -> None:
    """Answer requests until the input ends."""
    answers, sys.stdout = sys.stdout, sys.stderr
    warm: set[str] = set()
    for line in sys.stdin:
        system, folder, seed = line.rstrip("\n").split("\t")
        try:
            if system == "score":
                said = scored(Path(folder))
            else:
                said = answered(system, Path(folder), int(seed), system not in warm)
                warm.add(system)
        except Exception as error:
            words = " ".join(f"{type(error).__name__}: {error}".split())
            said = ["failed", words]
        print(*said, sep="\t", file=answers, flush=True)


def answered(system: str, folder: Path, seed: int, cold: bool) -> list[object]:
    """Fit, predict, and write the predictions; compile and load before, if that is to come."""
    train, test = rows_of(folder)
    times = np.loadtxt(folder / "times.csv", ndmin=1)
    version = import_module(LIBRARY_OF[system]).__version__
    new = test.drop(columns=["time", "event"])
    if cold:
        few = pd.concat([rows.head(WARM_UP_ROWS // 2) for _, rows in train.groupby("event")])
        with suppress(Exception):  # the fit itself will report the error
            SYSTEMS[system](few, seed)(new.head(WARM_UP_ROWS), times)
    start = time.process_time()
    predicting = SYSTEMS[system](train, seed)
    fitted = time.process_time()
    risk, curves = predicting(new, times)
    done = time.process_time()
    np.savetxt(folder / "risk.csv", risk)
    np.savetxt(folder / "curves.csv", curves, delimiter=",")
    return ["ok", fitted - start, done - fitted, version]


def rows_of(folder: Path) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return training and test rows, whose factors have the levels of both."""
    parts = [pd.read_csv(folder / f"{part}.csv") for part in ("train", "test")]
    rows = pd.concat(parts, ignore_index=True)
    factors = [name for name in rows.columns[2:] if name[0] == "f"]
    rows = rows.astype({"event": bool, **dict.fromkeys(factors, "category")})
    n = len(parts[0])
    return rows[:n].reset_index(drop=True), rows[n:].reset_index(drop=True)


def scored(folder: Path) -> list[object]:
    """Evaluator predictions on the test rows.

    Uno's C counts events before the last of the times.  Brier scores are averaged over those of
    the times at which test rows are under observation.  Censoring is estimated from training rows;
    so test rows end where these end, which changes nothing before.
    """
    metrics = import_module("sksurv.metrics")
    train, test = rows_of(folder)
    times = np.loadtxt(folder / "times.csv", ndmin=1)
    risk, curves = read_predictions(folder, len(test), len(times))
    harrell = metrics.concordance_index_censored(
        test["event"].to_numpy(), test["time"].to_numpy(), risk
    )[0]
    last = train["time"].max()
    ended = test.assign(
        time=test["time"].clip(upper=last), event=test["event"] & (test["time"] <= last)
    )
    own, new = structured(train), structured(ended)
    uno = metrics.concordance_index_ipcw(own, new, risk, tau=times[-1])[0]
    seen = (times >= ended["time"].min()) & (times < ended["time"].max())
    brier = metrics.integrated_brier_score(own, new, curves[:, seen], times[seen])
    return ["ok", uno, harrell, brier]


def read_predictions(folder: Path, m: int, R: int) -> tuple[NDArray, NDArray]:
    """Read risks (m,) and curves (m, R); raise `ValueError` if they are not that."""
    risk = np.loadtxt(folder / "risk.csv", ndmin=1)
    curves = np.loadtxt(folder / "curves.csv", delimiter=",", ndmin=2)
    if risk.shape != (m,) or curves.shape != (m, R):
        raise ValueError(f"risk {risk.shape} and curves {curves.shape} for {m} rows, {R} times")
    if not np.isfinite(risk).all() or not np.isfinite(curves).all():
        raise ValueError("a prediction is not finite")
    return risk, curves


if __name__ == "__main__":
    main()
