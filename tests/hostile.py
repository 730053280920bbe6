"""Values of a wrong type or size, and what a call with one of them may do: work, or say why not."""

from __future__ import annotations

import signal
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
import pandas as pd

from odrf.errors import InputError

__all__ = ["HOSTILE", "complaint", "small_table"]

HOSTILE: dict[str, Any] = {
    "a list": ["gini"],
    "an array": np.array([1.0, 2.0]),
    "an array of text": np.array(["auto", "all"]),
    "an array without axes": np.array("auto"),
    "a series": pd.Series([1, 2]),
    "a table": pd.DataFrame({"a": [1, 2]}),
    "2**80": 2**80,
    "2**40": 2**40,
    "-1": -1,
    "nan": float("nan"),
    "infinity": float("inf"),
    "a missing value": pd.NA,
    "None": None,
    "a truth value of numpy": np.False_,
    "an object": object(),
    "a text": "x",
    "bytes": b"x",
    "a mapping": {},
    "a set": {1},
    "a function that fails": lambda *_: 1 / 0,
}
# An option that takes this long does not see that it is asked for too much.
SECONDS = 20


def small_table() -> pd.DataFrame:
    """Return 40 rows with numbers a, b and y, a factor f and classes c."""
    rng = np.random.default_rng(1)
    data = pd.DataFrame({"a": rng.normal(size=40), "b": rng.normal(size=40)})
    data["f"] = rng.choice(list("xyz"), 40)
    data["y"] = data["a"] + rng.normal(size=40)
    return data.assign(c=np.where(data["y"] > 0, "p", "q"))


def complaint(call: Callable[[], object]) -> str:
    """Return what is wrong with a call: "" if it works or raises `InputError`."""
    try:
        with warnings.catch_warnings(), _time_limit():
            warnings.simplefilter("ignore")
            call()
    except InputError as error:
        return "" if str(error) else "an InputError without a message"
    except Exception as error:
        return f"{type(error).__name__}: {error}"
    return ""


@contextmanager
def _time_limit() -> Iterator[None]:
    def stop(*_: object) -> None:
        raise TimeoutError(f"it runs for more than {SECONDS} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(SECONDS)
    try:
        yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)
