"""Pseudo-values by derivatives of the estimates, and the restricted mean by its pieces."""

from __future__ import annotations

from collections.abc import Callable
from itertools import pairwise
from typing import Any

from reference.survival import Rows, influence, survival


def restricted_mean(rows: Rows, horizon: float) -> Any:
    """The survival just after each end of a piece, times the length of the piece."""
    ends = [0.0, *(t for t in rows.event_times() if t < horizon), horizon]
    return sum(survival(rows, a) * (b - a) for a, b in pairwise(ends))


def pseudo_values(estimate: Callable[[Rows], Any], rows: Rows) -> list[float]:
    """The estimate plus the total weight times its derivative by the weight of each row."""
    total, value = sum(rows.weights), estimate(rows)
    return [
        value + total * part / weight if weight else float("nan")
        for part, weight in zip(influence(estimate, rows), rows.weights, strict=True)
    ]
