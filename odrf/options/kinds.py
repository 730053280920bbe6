"""The kinds of trees that a blended forest chooses among."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np

from odrf.checks import checked_switch
from odrf.errors import InputError
from odrf.options.request import Request
from odrf.projections.family import Family
from odrf.projections.mixture import read_projection

__all__ = ["BEST", "blends", "kinds_of_trees", "require_blendable"]

BEST = "best"
# Rows that the trees of a kind draw, as a share, without replacement: the less greedy a kind is,
# the more rows it can do with before its trees are too alike.  Some are left to judge it by.
GREEDY_SHARE, RANDOM_SHARE, LEAST_SHARE = 0.8, 0.9, 0.632
SMOOTH_LEAF = 10
FEWEST_TREES, ENOUGH_TREES = 20, 100
# Options that define the sparse and the axis kind; if the user sets one, the kind is dropped.
MIX = {"n_singles", "n_projections", "subset_size"}
FAMILY = MIX | {"projection"}
MANY_SPARSE = 60


def blends(request: Request) -> bool:
    """Whether a forest is to be of several kinds of trees; by default large ones are.

    Raises
    ------
    InputError
        Where the option `blend` is neither ``"auto"`` nor a truth value.
    """
    blend = checked_switch("blend", request.blend)
    if isinstance(blend, bool):
        return blend
    enough = isinstance(request.n_trees, int | np.integer) and request.n_trees >= ENOUGH_TREES
    return bool(enough) and request.resample != "none" and _can_be_blended(request.projection)


def _can_be_blended(projection: Any) -> bool:
    """Whether a blend goes with the projection; others the user wants rather than one."""
    families = read_projection(projection)
    return len(families) == 1 and all(family.blended for family in families)


def kinds_of_trees(
    request: Request,
    n: int,
    P: int,
    p: int,
    classification: bool,
    ordinal: bool = False,
) -> dict[str, Request]:
    """Return what is asked of each kind of tree by its name; options that were given hold for all.

    ``"best"`` makes the best cut along each direction.  ``"random"`` makes the best of three
    random ones, in leaves down to one row.  ``"extra"`` tries one random cut along each of few
    directions, mostly single predictors, as extremely randomised trees do.  ``"smooth"`` has
    leaves of ten rows, for noisy responses.  For classes, ``"few"`` tries one random cut along each
    of few directions, half of them estimated, and ``"sparse"`` the best of three random cuts along
    random signs on a few columns, as in SPORF.  All of these try estimated directions too.
    ``"axis"``, for classes, is the ordinary random forest, whose trees split on single predictors
    alone; where such trees cannot approach the truth, stacking leaves them less and less to say.

    n, P and p are the numbers of rows, predictors and their columns; `ordinal` says whether the
    classes are three or more and ordered.
    """
    root, given = math.ceil(math.sqrt(P)), request.given
    random = {"min_leaf": 1, "sample_fraction": RANDOM_SHARE}
    special: dict[str, dict[str, Any]] = {
        BEST: {"sample_fraction": GREEDY_SHARE},
        "random": random | {"n_thresholds": 3},
        "extra": random | {"n_thresholds": 1, "n_projections": 1},
        "smooth": {"min_leaf": min(SMOOTH_LEAF, n), "sample_fraction": LEAST_SHARE},
    }
    if classification:
        half = max(1, root // 2)
        special["extra"]["n_singles"] = root
        special["few"] = random | {"n_thresholds": 1, "n_singles": half, "n_projections": half}
    if classification and not MIX.intersection(given):
        special["sparse"] = random | {"n_thresholds": 3} | _sparse(p, request.projection, ordinal)
    if classification and not FAMILY.intersection(given):
        special["axis"] = {
            "projection": "axis",
            "min_leaf": 1,
            "sample_fraction": LEAST_SHARE,
        }
    sampled = {"resample": "subsample"}
    kinds: dict[str, Request] = {}
    for name, changes in special.items():
        free = {key: value for key, value in (sampled | changes).items() if key not in given}
        if "resample" in given:
            free.pop("sample_fraction", None)
        if name == "sparse":  # beside directions of the projection that was asked for
            free["projection"] = changes["projection"]
        kind = replace(request, **free)
        if all(_grows(kind) != _grows(other) for other in kinds.values()):
            kinds[name] = kind
    return kinds


def _grows(kind: Request) -> Request:
    """Return the options of a kind that say how its trees grow on the rows they draw."""
    return replace(kind, sample_fraction=None)


def _sparse(p: int, estimated: str | Family, ordinal: bool) -> dict[str, Any]:
    n_sparse = min(p, max(MANY_SPARSE, math.ceil(math.sqrt(p))))
    return {
        **({} if ordinal else {"criterion": "entropy"}),
        "projection": {"sparse": n_sparse, estimated: 1},
        "n_projections": n_sparse + 1,
    }


def require_blendable(n_trees: int, resample: str, projection: Any) -> None:
    """Raise unless a forest can be of several kinds of trees.

    There must be trees, and rows that they have not seen, to judge the kinds by; and all kinds
    try estimated directions.

    Raises
    ------
    InputError
        Naming the argument.
    """
    if n_trees < FEWEST_TREES:
        raise InputError(
            f"n_trees={n_trees} with blend=True: use at least {FEWEST_TREES}, "
            "so that there are some of each kind to judge it by"
        )
    if resample == "none":
        raise InputError(
            'resample="none" with blend=True leaves no rows to judge the kinds of trees by: '
            'use "subsample" or "bootstrap"'
        )
    if not _can_be_blended(projection):
        raise InputError(
            f"projection={projection!r} with blend=True: the kinds of trees differ in their "
            "estimated directions too: use blend=False, or a projection that estimates them"
        )
