"""Whether a pruning path is that of the fit to be pruned."""

from __future__ import annotations

from typing import Any

from odrf.engine.trees.forest_arrays import Forest
from odrf.errors import InputError
from odrf.reports.forest_path import ForestPath
from odrf.reports.pruning_path import PruningPath

__all__ = ["require_own_path"]


def require_own_path(path: Any, forest: Forest, whole: str) -> None:
    """Raise `InputError` unless a path is None or the pruning path of this `forest`, a `whole`."""
    is_path = isinstance(path, PruningPath | ForestPath)
    if path is not None and not (is_path and path.fit.forest is forest):
        raise InputError(
            f"path= belongs to another {whole}, or is no path: use this {whole}'s pruning_path()"
        )
