"""Pseudo-values by derivatives of the estimates."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reference.survival import Rows, influence


def pseudo_values(estimate: Callable[[Rows], Any], rows: Rows) -> list[float]:
    """The estimate plus the total weight times its derivative by the weight of each row."""
    total, value = sum(rows.weights), estimate(rows)
    return [
        value + total * part / weight if weight else float("nan")
        for part, weight in zip(influence(estimate, rows), rows.weights, strict=True)
    ]
