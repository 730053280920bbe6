"""Types of arguments that trees and forests share."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from odrf.projections.base import Family

__all__ = ["AlphaRule", "ClassWeights", "LeafRule", "Projection", "ShareRule"]

LeafRule = int | str | Callable[[int], float] | None
ShareRule = float | str | Callable[[int], float]
AlphaRule = float | str | Callable[[int], float] | None
ClassWeights = str | Mapping[Any, float] | None
Projection = str | Family | Mapping[str | Family, float]
