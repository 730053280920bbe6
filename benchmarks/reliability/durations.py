"""How long functions and methods of fits take, and how soon they stop when interrupted.

    python -m benchmarks.reliability.durations --rows 20000 --columns 20 --trees 100

Each call is made on one made-up table.  A call that takes longer than ``--limit`` is interrupted
there; another one that takes longer than half a second is made again and interrupted halfway.
``stops`` is the time from the interrupt, a signal as Ctrl-C sends it, to its end.
"""

from __future__ import annotations

import argparse
import signal
import tempfile
import time
import warnings
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
import pandas as pd

import odrf

matplotlib.use("agg")
LIMIT, WORTH_INTERRUPTING = 6.0, 0.5


Call = Callable[[], Any]


def main() -> None:
    """Time all calls, and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rows", type=int, default=20_000)
    parser.add_argument("--columns", type=int, default=20)
    parser.add_argument("--trees", type=int, default=100)
    parser.add_argument("--limit", type=float, default=LIMIT, metavar="SECONDS")
    parser.add_argument("--kinds", nargs="*", default=list(FITS), choices=FITS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    signal.signal(signal.SIGALRM, signal.default_int_handler)
    table = made_up(options.rows, options.columns)
    print(f"{'call':32s} {'seconds':>8s} {'stops':>6s}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        for kind in options.kinds:
            of_all = {} if kind == "odt" else {"n_trees": options.trees}
            function = FITS[kind]
            small = table[:400]
            for _, call in calls(kind, function("y ~ .", small, seed=1), small, folder):
                timed(call, 60.0)  # compiled
            report(kind, "fit", partial(function, "y ~ .", table, seed=1, **of_all), options.limit)
            fit = function("y ~ .", table, seed=1, **of_all)
            for words, call in calls(kind, fit, table, folder):
                report(kind, words, call, options.limit)


FITS: dict[str, Callable[..., Any]] = {
    "odt": odrf.odt,
    "odrf": odrf.odrf,
    "odbt": odrf.odbt,
    "graf": odrf.graf,
}
MODELS = {"tree": odrf.odt, "pruned": partial(odrf.odt, alpha="1se")}


def made_up(n: int, p: int) -> pd.DataFrame:
    """Return a table with a numeric response."""
    rng = np.random.default_rng(1)
    X = rng.normal(size=(n, p))
    frame = pd.DataFrame(X, columns=[f"x{j}" for j in range(p)])
    return frame.round(4).assign(y=X[:, 0] + np.abs(X[:, 1] - X[:, 2]) + rng.normal(size=n))


def calls(kind: str, fit: Any, table: pd.DataFrame, folder: str) -> list[tuple[str, Call]]:
    """Return the calls of the methods of a fit, by their words; each of a new result."""

    def fresh() -> Any:
        return type(fit)(fit.fit)

    made = _of_every_kind(fit, fresh, table, folder) | OF_KIND[kind](fit, fresh, table)
    if kind in ("odt", "odrf"):
        made |= _of_prunable(fit, fresh, table)
    if kind != "odbt":
        made |= _of_rows_together(fit, fresh)
    if kind != "odt":
        made["surrogate()"] = lambda: fresh().surrogate()
        made["grow(50)"] = lambda: fresh().grow(50)
    return list(made.items())


def _of_every_kind(fit: Any, fresh: Call, table: pd.DataFrame, folder: str) -> dict[str, Call]:
    path = str(Path(folder) / "fit.odrf")
    many = pd.concat([table] * 10)
    fit.save(path)
    return {
        "predict(10 x rows)": lambda: fresh().predict(many),
        "predict(type=leaf)": lambda: fresh().predict(table, type="leaf"),
        "fittedvalues": lambda: fresh().fittedvalues,
        "training_error": lambda: fresh().training_error,
        "summary()": lambda: str(fresh().summary()),
        "plot()": lambda: fresh().plot(),
        "importance()": lambda: fresh().importance(),
        "data_summary()": lambda: fresh().data_summary().summary(),
        "consistency()": lambda: fresh().consistency().summary(),
        "consistency().plot()": lambda: fresh().consistency().plot(),
        "save()": lambda: fit.save(path),
        "load()": lambda: odrf.load(path),
        "predictions()": lambda: fresh().predictions(),
        "comparisons()": lambda: fresh().comparisons("x0"),
        "slopes()": lambda: fresh().slopes("x0"),
        "partial()": lambda: fresh().partial("x0"),
        "ale()": lambda: fresh().ale("x0"),
        "ice()": lambda: fresh().ice("x0"),
        "interactions()": lambda: fresh().interactions(rows=20, permutations=1),
        "shap()": lambda: fresh().shap(table[:3]),
        "explain()": lambda: fresh().explain(table[:1]),
        "to_sklearn()": lambda: fit.to_sklearn(),
    }


def _of_prunable(fit: Any, fresh: Call, table: pd.DataFrame) -> dict[str, Call]:
    return {
        "pruning_path()": lambda: fresh().pruning_path(),
        "prune(rule=1se)": lambda: fresh().prune(rule="1se"),
        "prune(alpha)": lambda: fresh().prune(0.01),
        "growth_path()": lambda: fresh().growth_path(),
        "update(20 rows)": lambda: fresh().update(table[:20]),
        "to_python()": lambda: fit.to_python(),
        "to_c()": lambda: fit.to_c(),
        "to_onnx()": lambda: fit.to_onnx(),
        "projection_importance()": lambda: fresh().projection_importance(3),
    }


def _of_rows_together(fit: Any, fresh: Call) -> dict[str, Call]:
    return {
        "row_predictor()": lambda: fit.row_predictor(),
        "proximity()": lambda: fresh().proximity(),
        "prototypes()": lambda: fresh().prototypes(),
        "outliers()": lambda: fresh().outliers(),
        "map()": lambda: fresh().map(),
    }


def _of_tree(fit: Any, fresh: Call, table: pd.DataFrame) -> dict[str, Call]:
    return {
        "rules()": lambda: fresh().rules(),
        "nodes": lambda: fresh().nodes,
        "to_sql()": lambda: fit.to_sql("duckdb"),
        "to_dot()": lambda: fit.to_dot(),
        "compare()": lambda: odrf.compare("y ~ .", table, MODELS, cv=3),
        "tune()": lambda: odrf.tune("y ~ .", table, {"min_leaf": [2, 9]}, n_trees=9, seed=1),
        "learning_curve()": lambda: odrf.learning_curve("y ~ .", table, MODELS, seed=1),
        "bias_variance()": lambda: odrf.bias_variance(("y ~ .", table), MODELS, 200, seed=1),
    }


def _of_forest(fit: Any, fresh: Call, table: pd.DataFrame) -> dict[str, Call]:
    return {
        "prune(rule=oob)": lambda: fresh().prune(rule="oob"),
        "predict(confidence)": lambda: fresh().predict(table, interval="confidence"),
        "predict(prediction)": lambda: fresh().predict(interval="prediction"),
        "predict(quantile)": lambda: fresh().predict(table, type="quantile"),
        "get_prediction()": lambda: fresh().get_prediction(table).summary_frame(),
        "importance(permutation)": lambda: fresh().importance("permutation"),
        "select_variables()": lambda: fresh().select_variables(),
        "select_variables(knockoff)": lambda: fresh().select_variables("knockoff"),
        "importance(conditional)": lambda: fresh().importance("conditional"),
        "importance(loco)": lambda: fresh().importance("loco"),
        "predictive_check()": lambda: fresh().predictive_check(),
        "strength_correlation()": lambda: fresh().strength_correlation([2, 3]),
        "error_path": lambda: fresh().error_path,
        "splits": lambda: fresh().splits,
    }


def _of_boosted(fit: Any, fresh: Call, table: pd.DataFrame) -> dict[str, Call]:
    return {
        "loss_path": lambda: fresh().loss_path,
        "staged_predict()": lambda: list(fresh().staged_predict(table)),
        "splits": lambda: fresh().splits,
    }


def _of_guided(fit: Any, fresh: Call, table: pd.DataFrame) -> dict[str, Call]:
    return {
        "sensitivity()": lambda: fresh().sensitivity(),
        "sensitivity().order()": lambda: fresh().sensitivity().order(),
        "codes()": lambda: fresh().codes(),
        "planes()": lambda: fresh().planes(),
        "growth": lambda: fresh().growth,
        "approximate()": lambda: fresh().approximate(0.5),
    }


OF_KIND: dict[str, Callable[..., dict[str, Call]]] = {
    "odt": _of_tree,
    "odrf": _of_forest,
    "odbt": _of_boosted,
    "graf": _of_guided,
}


def timed(call: Call, after: float) -> tuple[float, bool]:
    """Return the seconds that a call took, and whether it was interrupted; they count from then."""
    start = time.perf_counter()
    signal.setitimer(signal.ITIMER_REAL, after)
    try:
        call()
    except KeyboardInterrupt:
        return time.perf_counter() - start - after, True
    except Exception as error:
        print(f"{type(error).__name__}: {str(error)[:90]}")
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return time.perf_counter() - start, False


def report(kind: str, words: str, call: Call, limit: float) -> None:
    """Print a line of the table."""
    seconds, interrupted = timed(call, limit)
    shown, stops = (f"> {limit:.0f}", f"{seconds:.2f}") if interrupted else (f"{seconds:.2f}", "")
    if not interrupted and seconds > WORTH_INTERRUPTING:
        seconds, interrupted = timed(call, seconds / 2)
        stops = f"{seconds:.2f}" if interrupted else "-"
    print(f"{kind + ' ' + words:32s} {shown:>8s} {stops:>6s}", flush=True)


if __name__ == "__main__":
    main()
