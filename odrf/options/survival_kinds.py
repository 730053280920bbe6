"""The kinds of trees in a blended forest for times to an event."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from odrf.options.kinds import (
    AXIS_OPTIONS,
    LEAST_SHARE,
    SPARSE_OPTIONS,
    kinds_differing,
    require_estimated,
    sparse_and_estimated,
)
from odrf.options.request import Request

__all__ = ["kinds_of_survival_trees", "with_leaves_for_curves"]

# Rows of a leaf: a curve needs more rows than a mean does.  Of few rows a leaf takes this share.
LEAF, LEAST_LEAF, ROWS_A_LEAF = 20, 5, 15
# The best cut of a few random ones.
CUTS = 3


def with_leaves_for_curves(request: Request, n: int) -> Request:
    """Return the request of a forest of one kind, with leaves of enough of n rows for a curve.

    A single tree, and a `min_leaf` of the user, stay as they are.
    """
    if request.is_single_tree or "min_leaf" in request.given:
        return request
    return replace(request, min_leaf=_rows_of_leaf(n))


def _rows_of_leaf(n: int) -> int:
    return max(LEAST_LEAF, min(LEAF, n // ROWS_A_LEAF))


def kinds_of_survival_trees(request: Request, n: int, p: int) -> dict[str, Request]:
    """Return the request for each kind of tree, by its name.

    ``"random"``: the best of three random thresholds; leaves of at least 20 rows, or of a fifteenth
    of the rows if that is less, but of 5 or more.

    ``"small"``, ``"large"``: the same with half and twice as many rows.

    ``"extra"``: one random threshold along each direction.

    ``"sparse"``: random signs on a few columns, and one estimated direction.

    ``"axis"``: splits on single predictors only.

    Options that the user has set hold for all kinds; a kind that then grows like an earlier one is
    left out.

    Parameters
    ----------
    request : Request
    n, p : int
        Rows and columns of the design; a factor of many levels counts as one column.

    Raises
    ------
    InputError
        The directions of `projection` are not estimated, or it has several families.
    """
    require_estimated(request.projection)
    leaf, given = _rows_of_leaf(n), request.given
    usual: dict[str, Any] = {"sample_fraction": LEAST_SHARE, "n_thresholds": CUTS, "min_leaf": leaf}
    kinds: dict[str, dict[str, Any]] = {
        "random": usual,
        "small": usual | {"min_leaf": max(2, leaf // 2)},
        "large": usual | {"min_leaf": 2 * leaf},
        "extra": usual | {"n_thresholds": 1},
    }
    if not SPARSE_OPTIONS.intersection(given):
        kinds["sparse"] = usual | sparse_and_estimated(p, request.projection)
    if not AXIS_OPTIONS.intersection(given):
        kinds["axis"] = usual | {"projection": "axis"}
    return kinds_differing(request, kinds)
