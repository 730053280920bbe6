"""The process in which methods are fitted: ``python -m benchmarks.methods.worker SOCKET``.

`fitter.py` starts it.  It answers requests until its standard input ends, which happens when the
process that started it ends.  Before the first fit of a method it fits a few rows, untimed, so that
loading and compiling on first use is not counted.
"""

from __future__ import annotations

import gc
import os
import platform
import sys
import time
from contextlib import suppress
from dataclasses import replace
from importlib import import_module
from importlib.metadata import PackageNotFoundError, packages_distributions, version
from multiprocessing.connection import Connection
from threading import Thread
from types import ModuleType

import numpy as np

from benchmarks.methods.anchors import ANCHORS
from benchmarks.methods.fitter import Answer, Failure, Request
from benchmarks.methods.methods import METHODS
from benchmarks.methods.raw_methods import RAW_METHODS

FOUNDATIONS = ("numpy", "scipy", "pandas", "scikit-learn", "numba")
WARM_UP_ROWS = 100
WARM_UP_TREES = 5
KNOWN = METHODS | ANCHORS | RAW_METHODS


def main() -> None:
    """Answer requests until the connection is closed."""
    Thread(target=_end_with_parent, daemon=True).start()
    connection = Connection(int(sys.argv[1]))
    warm: set[str] = set()
    while True:
        try:
            request = connection.recv()
            if request.method not in warm and KNOWN[request.method].warm_up:
                warm.add(request.method)
                with suppress(Exception):  # the fit itself will report the error
                    answer(_few(request))
            connection.send(answer(request))
        except EOFError:
            return
        except Exception as error:
            message = " ".join(str(error).split())
            connection.send(Failure("failed", f"{type(error).__name__}: {message}"))


def answer(request: Request) -> Answer:
    """Fit and predict."""
    method = KNOWN[request.method]
    library = import_module(method.library)
    gc.collect()
    start = time.perf_counter()
    predict = method.fit(request.train, request.task, request.setting)
    fitted = time.perf_counter()
    prediction = predict(request.test)
    predicted = time.perf_counter()
    return Answer(
        np.asarray(prediction, dtype=float),
        fitted - start,
        predicted - fitted,
        _version(library),
        _packages(),
    )


def _few(request: Request) -> Request:
    """Return the request with a few rows, of every class, and a few trees."""
    y = request.train["y"]
    rows = np.arange(min(WARM_UP_ROWS, len(y)))
    if request.task == "classification":
        rows = np.union1d(rows, np.unique(y.to_numpy(str), return_index=True)[1])
    return replace(
        request,
        train=request.train.iloc[rows],
        test=request.test.head(WARM_UP_ROWS),
        setting=replace(request.setting, trees=WARM_UP_TREES),
    )


def _version(library: ModuleType) -> str:
    if hasattr(library, "__version__"):
        return library.__version__
    return version(packages_distributions()[library.__name__][0])


def _packages() -> str:
    known = [f"python {platform.python_version()}"]
    for name in FOUNDATIONS:
        with suppress(PackageNotFoundError):
            known.append(f"{name} {version(name)}")
    return "; ".join(known)


def _end_with_parent() -> None:
    sys.stdin.buffer.read()
    os._exit(1)


if __name__ == "__main__":
    main()
