"""Whether predicted curves of survival times are what they can be, and belong together."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd

from cases.attempts import Attempts

__all__ = ["judge_curves"]

# Rounding of sums over trees.
CLOSE = 1e-9


def judge_curves(fit: Any, newdata: pd.DataFrame, tried: Attempts) -> None:
    """Predict curves of rows, and look at their values."""
    asked: dict[str, pd.DataFrame] = {}
    types = ("survival", "hazard", "rmst", "time", "risk")
    if "cause" in inspect.signature(fit.predict).parameters:
        types += ("incidence", "lost")
    for type in types:
        found = tried.answer(f"predict {type}", lambda type=type: fit.predict(newdata, type))
        if found is None:
            return
        asked[type] = found.dropna()
    for words, wrong in _FAULTS.items():
        if wrong(asked, fit):
            tried.add(f"curves: {words}")


def _survival(asked: dict[str, pd.DataFrame]) -> np.ndarray:
    return asked["survival"].to_numpy()


def _sums(asked: dict[str, pd.DataFrame], fit: Any, type: str) -> np.ndarray:
    """Return the sum over the causes of what is predicted of each."""
    causes = len(fit.design.response.causes)
    values = asked[type].to_numpy()
    return values.reshape(len(values), causes, -1).sum(axis=1)


def _incidences_do_not_add_up(asked: dict[str, pd.DataFrame], fit: Any) -> bool:
    if "incidence" not in asked:
        return False
    total = _survival(asked) + _sums(asked, fit, "incidence")
    return not np.allclose(total, 1, atol=CLOSE)


def _lost_times_do_not_add_up(asked: dict[str, pd.DataFrame], fit: Any) -> bool:
    if "lost" not in asked:
        return False
    total = asked["rmst"].to_numpy() + _sums(asked, fit, "lost")
    return not np.allclose(total, fit.event_times[-1], rtol=CLOSE, atol=0)


def _medians_are_not_of_curves(asked: dict[str, pd.DataFrame], fit: Any) -> bool:
    if fit.control.__class__.__name__ == "ResolvedBoostingOptions" and fit.control.loss != "cox":
        return False
    for row, median in asked["time"].items():
        below = asked["survival"].loc[[row]].to_numpy()[0] <= 0.5 + CLOSE
        first = fit.event_times[below][0] if below.any() else np.inf
        if first != median:
            return True
    return False


_FAULTS: dict[str, Callable[[dict[str, pd.DataFrame], Any], bool]] = {
    "survival is no probability": lambda asked, _: (
        not ((_survival(asked) >= 0) & (_survival(asked) <= 1)).all()
    ),
    "survival rises": lambda asked, _: (np.diff(_survival(asked), axis=1) > CLOSE).any(),
    "hazards fall, or are no numbers": lambda asked, _: (
        not np.isfinite(asked["hazard"]).all(axis=None)
        or (np.diff(asked["hazard"].to_numpy(), axis=1) < -CLOSE).any()
    ),
    "risks are not finite": lambda asked, _: not np.isfinite(asked["risk"]).all(),
    "restricted means beyond the time": lambda asked, fit: (
        asked["rmst"].to_numpy() > fit.event_times[-1] * (1 + CLOSE)
    ).any(),
    "incidences and survival do not add up to 1": _incidences_do_not_add_up,
    "times lost and kept do not add up": _lost_times_do_not_add_up,
    "medians are not those of the curves": _medians_are_not_of_curves,
}
