"""The kinds of trees in a blended forest."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odrf.errors import InputError
from odrf.options import words
from odrf.options.options import Options
from odrf.projections.mixture import read_projection

# ------------------------------------------------------------------------------------------------
# The kinds of trees in a blended forest.
# ------------------------------------------------------------------------------------------------

BEST = "best"
# What the shares of the kinds are chosen for.
ERROR, BRIER, LOG_LOSS = "error", "brier", "log_loss"
# Share of the rows that each tree draws, without replacement.  Randomised trees differ enough even
# if they draw many rows; some rows must stay out of bag to evaluate the kind.
GREEDY_SHARE, RANDOM_SHARE, LEAST_SHARE = 0.8, 0.9, 0.632
SMOOTH_LEAF = 10
FEWEST_TREES, ENOUGH_TREES = 20, 100
# Options that define the sparse kind, and the axis kind; if the user sets one, the kind is dropped.
SPARSE_OPTIONS = {"n_singles", "n_projections", "subset_size"}
AXIS_OPTIONS = SPARSE_OPTIONS | {"projection"}
MANY_SPARSE = 60


def blends(options: Options) -> bool:
    """Return whether a forest is to be a blend; by default large forests are."""
    if isinstance(options.blend, bool):
        return options.blend
    enough = options.n_trees >= ENOUGH_TREES and options.resample != "none"
    return enough and _can_be_blended(options.projection)


def require_objective(objective: words.Objective, classification: bool, blended: bool) -> None:
    """Raise `InputError` if there is nothing to choose for the `objective`."""
    if objective == ERROR:
        return
    if not classification:
        raise InputError(
            f'objective="{objective}" is for classes, and the response has none: leave it out'
        )
    if not blended:
        raise InputError(
            f'objective="{objective}" chooses how many trees of each kind a forest has, and this '
            f"one has a single kind: use blend=True, or n_trees={ENOUGH_TREES} or more"
        )


def _can_be_blended(projection: Any) -> bool:
    """Return whether forests with this projection can be blends."""
    families = read_projection(projection)
    return len(families) == 1 and all(family.blended for family in families)


def kinds_of_trees(
    request: Options,
    n: int,
    P: int,
    p: int,
    classification: bool,
    ordinal: bool = False,
) -> dict[str, Options]:
    """Return the options for each kind of tree, by its name.

    ``"best"``: the best threshold of each direction.

    ``"random"``: the best of three random thresholds; leaves down to one row.

    ``"extra"``: one random threshold along each of few directions, mostly single predictors, as in
    extremely randomised trees.

    ``"smooth"``: leaves of at least ten rows, for noisy responses.

    ``"few"``, for classes: one random threshold along each of few directions, half of them
    estimated.

    ``"sparse"``, for classes: the best of three random thresholds along random signs on a few
    columns, as in SPORF.

    ``"axis"``, for classes: splits on single predictors only, as in the ordinary random forest.

    All but ``"axis"`` try estimated directions, too.  Options that the user has set hold for all
    kinds.  A kind that then grows like an earlier one is left out.  The design has n rows, P
    predictors and p columns; a factor of many levels counts as one column.  `ordinal`: three or
    more ordered classes.  Raises `InputError` if the directions of `projection` are not estimated,
    or it has several families.
    """
    require_estimated(request.projection)
    root, given = math.ceil(math.sqrt(P)), request.given
    random = {"min_leaf": 1, "sample_fraction": RANDOM_SHARE}
    defaults: dict[str, dict[str, Any]] = {
        BEST: {"sample_fraction": GREEDY_SHARE},
        "random": random | {"n_thresholds": 3},
        "extra": random | {"n_thresholds": 1, "n_projections": 1},
        "smooth": {"min_leaf": min(SMOOTH_LEAF, n), "sample_fraction": LEAST_SHARE},
    }
    if classification:
        half = max(1, root // 2)
        defaults["extra"]["n_singles"] = root
        defaults["few"] = random | {"n_thresholds": 1, "n_singles": half, "n_projections": half}
    if classification and not SPARSE_OPTIONS.intersection(given):
        sparse = sparse_and_estimated(p, request.projection)
        defaults["sparse"] = random | {"n_thresholds": 3} | sparse
        if not ordinal:
            defaults["sparse"]["criterion"] = "entropy"
    if classification and not AXIS_OPTIONS.intersection(given):
        defaults["axis"] = {
            "projection": "axis",
            "min_leaf": 1,
            "sample_fraction": LEAST_SHARE,
        }
    return kinds_differing(request, defaults)


def kinds_differing(
    request: Options, defaults: Mapping[str, Mapping[str, Any]]
) -> dict[str, Options]:
    """Return the options for each kind whose default options are these, by its name.

    Options that the user has set hold for all kinds.  A kind that then grows like an earlier one is
    left out.
    """
    given, sampled = request.given, {"resample": "subsample"}
    # the share of rows does not tell kinds apart
    compared = sorted(set(sampled).union(*defaults.values()) - {"sample_fraction"})
    kinds: dict[str, Options] = {}
    growths: list[list[Any]] = []
    for name, options in defaults.items():
        free = {key: value for key, value in (sampled | dict(options)).items() if key not in given}
        if "resample" in given:
            free.pop("sample_fraction", None)
        if name == "sparse":  # which mixes sparse directions with those of the user's projection
            free["projection"] = options["projection"]
        kind = replace(request, **free)
        growth = [getattr(kind, option) for option in compared]
        if growth not in growths:
            kinds[name] = kind
            growths.append(growth)
    return kinds


def sparse_and_estimated(p: int, estimated: words.Projection) -> dict[str, Any]:
    """Return the options of trees with random sparse directions and one that is `estimated`."""
    n_sparse = min(p, max(MANY_SPARSE, math.ceil(math.sqrt(p))))
    return {
        "projection": {"sparse": n_sparse, estimated: 1},
        "n_projections": n_sparse + 1,
    }


def require_estimated(projection: Any) -> None:
    """Raise `InputError` unless forests with this ``projection=`` can be blends."""
    if not _can_be_blended(projection):
        raise InputError(
            f"projection={projection!r} with blend=True: the kinds of trees need directions of one "
            "family that are estimated from the response: use blend=False, or a projection such as "
            '"logistic"'
        )


def require_blendable(n_trees: int, resample: str) -> None:
    """Raise `InputError` unless a forest has trees of each kind of a blend and out-of-bag rows."""
    if n_trees < FEWEST_TREES:
        raise InputError(
            f"n_trees={n_trees} with blend=True: use at least {FEWEST_TREES}, "
            "so that there are trees of each kind"
        )
    if resample == "none":
        raise InputError(
            'resample="none" with blend=True leaves no out-of-bag rows to compare the kinds of '
            'trees: use "subsample" or "bootstrap"'
        )


# ------------------------------------------------------------------------------------------------
# The kinds of trees in a blended forest for times to an event.
# ------------------------------------------------------------------------------------------------

# Rows of a leaf: a curve needs more rows than a mean does.  Of few rows a leaf takes this share.
LEAF, LEAST_LEAF, ROWS_A_LEAF = 20, 5, 15
# The best cut of a few random ones.
CUTS = 3


def with_leaves_for_curves(request: Options, n: int) -> Options:
    """Return the options of a forest of one kind, with leaves of enough of n rows for a curve.

    A single tree, and a `min_leaf` of the user, stay as they are.
    """
    if request.is_single_tree or "min_leaf" in request.given:
        return request
    return replace(request, min_leaf=_rows_of_leaf(n))


def _rows_of_leaf(n: int) -> int:
    return max(LEAST_LEAF, min(LEAF, n // ROWS_A_LEAF))


def kinds_of_survival_trees(request: Options, n: int, p: int) -> dict[str, Options]:
    """Return the options for each kind of tree, by its name.

    ``"random"``: the best of three random thresholds; leaves of at least 20 rows, or of a fifteenth
    of the rows if that is less, but of 5 or more.

    ``"small"``, ``"large"``: the same with half and twice as many rows.

    ``"extra"``: one random threshold along each direction.

    ``"sparse"``: random signs on a few columns, and one estimated direction.

    ``"axis"``: splits on single predictors only.

    Options that the user has set hold for all kinds; a kind that then grows like an earlier one is
    left out.  The design has n rows and p columns, as in `kinds_of_trees`, and errors are as there.
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
