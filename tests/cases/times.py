"""Random survival times: the columns of ``Surv(...)``, and what only fits of them are asked."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from cases.columns import WORDS, Maker, Rng, choice
from odrf.design.formula import quoted

__all__ = ["OF_TIMES", "random_times"]

TIME, EVENT, START = "how long", "what happened", "since when"

TIMES: dict[str, Maker] = {
    "exponential": lambda rng, n: rng.exponential(size=n),
    "days": lambda rng, n: rng.integers(1, 2000, n),
    "ties": lambda rng, n: rng.integers(1, 6, n).astype(float),
    "some at once": lambda rng, n: rng.integers(4, size=n),
    "nullable": lambda rng, n: pd.array(rng.integers(1, 99, n), dtype="Int64"),
    "years": lambda rng, n: rng.weibull(0.5, n).round(1) + 0.1,
}
EXTREME_TIMES: dict[str, Maker] = {
    **TIMES,
    "long": lambda rng, n: rng.exponential(size=n) * 1e50,
    "short": lambda rng, n: rng.exponential(size=n) * 1e-300,
    "all magnitudes": lambda rng, n: 10.0 ** rng.integers(-300, 50, n),
    "hardly different": lambda rng, n: 1 + rng.integers(3, size=n) * 2.3e-16,
    "beyond 2**53": lambda rng, n: 2**53 + rng.integers(3, size=n),
    "the same": lambda _, n: np.full(n, 3.0),
    "two": lambda rng, n: rng.integers(1, 3, n),
    "negative": lambda rng, n: rng.normal(size=n),
    "infinite": lambda rng, n: rng.choice([np.inf, 1.0], n),
    "too long": lambda rng, n: rng.exponential(size=n) * 1e70,
    "text": lambda rng, n: rng.integers(9, size=n).astype(str).astype(object),
    "dates": lambda rng, n: pd.Timestamp("2020-01-01") + pd.to_timedelta(rng.integers(9, size=n)),
    "half precision": lambda rng, n: rng.exponential(size=n).astype(np.float16),
}
EVENTS: dict[str, Maker] = {
    "truth": lambda rng, n: rng.random(n) < 0.6,
    "zero or one": lambda rng, n: rng.integers(2, size=n),
    "all": lambda _, n: np.ones(n, dtype=bool),
    "rare": lambda rng, n: rng.random(n) < 0.15,
    "nullable": lambda rng, n: pd.array(rng.random(n) < 0.5, dtype="boolean"),
    "one cause": lambda rng, n: _causes(rng, n, 1, 2),
    "two causes": lambda rng, n: _causes(rng, n, 2, 3),
    "causes": lambda rng, n: _causes(rng, n, 4, 5),
    "causes without rows": lambda rng, n: _causes(rng, n, 4, 3),
}
EXTREME_EVENTS: dict[str, Maker] = {
    **EVENTS,
    "none": lambda _, n: np.zeros(n, dtype=bool),
    "one": lambda rng, n: np.arange(n) == rng.integers(n),
    "three numbers": lambda rng, n: rng.integers(3, size=n),
    "words": lambda rng, n: rng.choice(np.array(["died", "left"], object), n),
    "numbers as causes": lambda rng, n: pd.Categorical(rng.integers(3, size=n), [0, 1, 2]),
    "no category of censoring": lambda _, n: pd.Categorical(["died"] * n),
    "cause of each row": lambda _, n: pd.Categorical([f"row {k}" for k in range(n)]),
    "ordered": lambda rng, n: pd.Categorical(rng.choice(list("abc"), n), ordered=True),
}


def random_times(rng: Rng, data: pd.DataFrame, extreme: bool) -> tuple[str, pd.DataFrame]:
    """Return the response of a formula, and the table with its columns."""
    n = len(data)
    hard = extreme and rng.random() < 0.5
    time = _made(rng, EXTREME_TIMES if hard else TIMES, n)
    event = _made(rng, EXTREME_EVENTS if hard else EVENTS, n)
    event, time = _holes(rng, event, extreme), _holes(rng, time, extreme)
    found = data.assign(**{TIME: time, EVENT: event})
    happened = quoted(EVENT)
    if isinstance(event.dtype, pd.CategoricalDtype) and rng.random() < 0.3:
        happened += f" == {choice(rng, list(event.cat.categories))!r}"
    if rng.random() < 0.75 or not pd.api.types.is_numeric_dtype(time.dtype):
        return f"Surv({quoted(TIME)}, {happened})", found
    found[START] = _starts(rng, time, extreme)
    return f"Surv({quoted(START)}, {quoted(TIME)}, {happened})", found


def _made(rng: Rng, makers: dict[str, Maker], n: int) -> pd.Series:
    return pd.Series(makers[str(choice(rng, list(makers)))](rng, n))


def _holes(rng: Rng, values: pd.Series, extreme: bool) -> pd.Series:
    return values.mask(rng.random(len(values)) < 0.1) if extreme and rng.random() < 0.1 else values


def _causes(rng: Rng, n: int, named: int, drawn: int) -> pd.Categorical:
    """Return events of `named` causes; only the first `drawn` categories have rows."""
    names = ["censored", *WORDS[:named]]
    return pd.Categorical(rng.choice(np.array(names[:drawn], object), n), names)


def _starts(rng: Rng, time: pd.Series, extreme: bool) -> pd.Series:
    """Return when rows enter: some late, few at the time itself, which is refused."""
    stop = time.to_numpy(dtype=float, na_value=np.nan)
    share = rng.random(len(stop)) if rng.random() < 0.5 else rng.choice([0.0, 0.5], len(stop))
    if extreme and rng.random() < 0.1:
        share = rng.choice([0.0, 1.0], len(stop))
    with np.errstate(invalid="ignore"):  # an infinite time, which is refused
        return pd.Series(stop * share)


def _time(rng: Rng, fit: Any) -> float:
    times = fit.event_times
    beyond = [0.0, -1.0, float(times[-1]) * 2]
    known = float(choice(rng, times)) if len(times) else 1.0
    return choice(rng, [known, known, float(np.mean(times)), choice(rng, beyond)])


def _times(rng: Rng, fit: Any) -> Any:
    one = _time(rng, fit)
    return choice(rng, [None, one, [one, *fit.event_times[:2]], [one, one]])


# Values of parameters of fits of times, by the name of the parameter, or its method and its name.
OF_TIMES: dict[str | tuple[str, str], Callable[[Rng, Any], Any]] = {
    "time": _time,
    "times": _times,
    "until": lambda rng, fit: choice(rng, [None, _time(rng, fit)]),
    "cause": lambda rng, fit: choice(
        rng, [None, *fit.design.response.causes, *fit.design.response.causes, "no cause"]
    ),
    "level": lambda rng, _: choice(rng, [0.5, 0.9, 0.999]),
    "quantiles": lambda rng, _: choice(rng, [None, 0.5, [0.1, 0.9], [0.0]]),
    "metric": lambda rng, _: choice(rng, ["auto", "integrated_brier", "uno_c", "harrell_c"]),
    "loss": lambda rng, _: choice(rng, ["deviance", "log_rank", "error"]),
    ("calibration", "groups"): lambda rng, _: choice(rng, [1, 3, 10]),
    ("estimand", "estimand"): lambda rng, _: choice(
        rng, ["survival", "rmst", "hazard", "incidence", "lost"]
    ),
    ("predict", "type"): lambda rng, _: choice(
        rng,
        [
            *("risk", "survival", "hazard", "incidence", "time", "rmst", "lost", "quantile"),
            *("leaf", "link", "response"),
        ],
    ),
    ("importance", "type"): lambda rng, _: choice(
        rng, ["permutation", "impurity", "held_out", None]
    ),
    ("select_variables", "method"): lambda rng, _: choice(
        rng, ["backward", "backward", "boruta", "knockoff"]
    ),
    ("plot", "kind"): lambda rng, _: choice(
        rng, ["curves", "importance", "error", "tree", "loss", None]
    ),
    ("plot", "type"): lambda rng, _: choice(rng, [None, "permutation", "impurity"]),
}
