"""The kinds of trees in a blended forest."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

from odrf.errors import InputError
from odrf.options import words
from odrf.options.options import Options
from odrf.projections.base import Family
from odrf.projections.mixture import read_projection

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
    enough = options.trees >= ENOUGH_TREES and options.resample != "none"
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


def _can_be_blended(projection: words.Projection) -> bool:
    """Return whether forests with this projection can be blends."""
    families = list(read_projection(projection))
    return len(families) == 1 and families[0].blended


def kinds_of_trees(
    options: Options, n: int, P: int, p: int, classification: bool, ordinal: bool = False
) -> dict[str, Options]:
    """Return the options for each kind of tree, by its name.

    ``"best"``: the best threshold of each direction.  ``"random"``: the best of three random
    thresholds; leaves down to one row.  ``"extra"``: one random threshold along each of few
    directions, mostly single predictors, as in extremely randomised trees.  ``"smooth"``: leaves of
    at least ten rows, for noisy responses.

    For classes also ``"few"``: one random threshold along each of few directions, half of them
    estimated.  ``"sparse"``: the best of three random thresholds along random signs on a few
    columns, as in SPORF.  ``"axis"``: splits on single predictors only, as in the ordinary random
    forest.

    All but ``"axis"`` try estimated directions, too.  Options that the user has set hold for all
    kinds.  A kind that then grows like an earlier one is left out.  The design has n rows, P
    predictors and p columns; a factor of many levels counts as one column.  `ordinal`: three or
    more ordered classes.  Raises `InputError` if the directions of `projection` are not estimated,
    or it has several families.
    """
    _require_blendable(options)
    root = math.ceil(math.sqrt(P))
    random = _kind(options, min_leaf=1, sample_fraction=RANDOM_SHARE, n_thresholds=3)
    extra = _kind(random, n_thresholds=1, n_projections=1)
    smooth = _kind(options, min_leaf=min(SMOOTH_LEAF, n), sample_fraction=LEAST_SHARE)
    kinds = {
        BEST: _kind(options, sample_fraction=GREEDY_SHARE),
        "random": random,
        "extra": _kind(extra, n_singles=root) if classification else extra,
        "smooth": smooth,
    }
    if classification:
        half = max(1, root // 2)
        kinds["few"] = _kind(extra, n_singles=half, n_projections=half)
        if not SPARSE_OPTIONS.intersection(options.given):
            sparse = random if ordinal else _kind(random, criterion="entropy")
            kinds["sparse"] = _sparse_and_estimated(sparse, p)
        if not AXIS_OPTIONS.intersection(options.given):
            kinds["axis"] = _kind(smooth, projection="axis", min_leaf=1)
    return _differing(kinds)


def _kind(options: Options, **usual: Any) -> Options:
    """Return the options with what is `usual` for a kind of trees, but what the user has set."""
    given = options.given | {"sample_fraction"} if "resample" in options.given else options.given
    usual = {"resample": "subsample", **usual}
    return replace(options, **{name: usual[name] for name in usual if name not in given})


def _sparse_and_estimated(options: Options, p: int) -> Options:
    """Return the options with random sparse directions and one of their projection."""
    n_sparse, estimated = min(p, max(MANY_SPARSE, math.ceil(math.sqrt(p)))), options.projection
    assert isinstance(estimated, str | Family)  # by `_require_blendable`
    mixed: dict[str | Family, float] = {"sparse": n_sparse, estimated: 1}
    return replace(options, projection=mixed, n_projections=n_sparse + 1)


def _differing(kinds: dict[str, Options]) -> dict[str, Options]:
    """Return the kinds without those that grow like an earlier one, whatever share they draw."""
    differing: dict[str, Options] = {}
    growths: list[Options] = []
    for name, kind in kinds.items():
        growth = replace(kind, sample_fraction="auto")
        if growth not in growths:
            differing[name] = kind
            growths.append(growth)
    return differing


def _require_blendable(options: Options) -> None:
    """Raise `InputError` unless the forest has directions, trees and rows for several kinds."""
    if not _can_be_blended(options.projection):
        raise InputError(
            f"projection={options.projection!r} with blend=True: the kinds of trees need "
            "directions of one family that are estimated from the response: use blend=False, or a "
            'projection such as "logistic"'
        )
    if options.trees < FEWEST_TREES:
        raise InputError(
            f"n_trees={options.n_trees} with blend=True: use at least {FEWEST_TREES}, "
            "so that there are trees of each kind"
        )
    if options.resample == "none":
        raise InputError(
            'resample="none" with blend=True leaves no out-of-bag rows to compare the kinds of '
            'trees: use "subsample" or "bootstrap"'
        )


# The kinds of trees in a blended forest for survival times.

# Rows of a leaf: a curve needs more rows than a mean does.  Of few rows a leaf takes this share.
LEAF, LEAST_LEAF, ROWS_A_LEAF = 20, 5, 15
# The best cut of a few random ones.
CUTS = 3


def with_leaves_for_curves(options: Options, n: int) -> Options:
    """Return the options of a forest of one kind, with leaves of enough of n rows for a curve.

    A single tree, and a `min_leaf` of the user, stay as they are.
    """
    if options.is_single_tree or "min_leaf" in options.given:
        return options
    return replace(options, min_leaf=_rows_of_leaf(n))


def _rows_of_leaf(n: int) -> int:
    return max(LEAST_LEAF, min(LEAF, n // ROWS_A_LEAF))


def kinds_of_survival_trees(options: Options, n: int, p: int) -> dict[str, Options]:
    """Return the options for each kind of tree, by its name.

    ``"random"``: the best of three random thresholds; leaves of at least 20 rows, or of a fifteenth
    of the rows if that is less, but of 5 or more.  ``"small"``, ``"large"``: the same with half and
    twice as many rows.  ``"extra"``: one random threshold along each direction.  ``"sparse"``:
    random signs on a few columns, and one estimated direction.  ``"axis"``: splits on single
    predictors only.  Else as in `kinds_of_trees`.
    """
    _require_blendable(options)
    leaf = _rows_of_leaf(n)
    usual = _kind(options, sample_fraction=LEAST_SHARE, n_thresholds=CUTS, min_leaf=leaf)
    kinds = {
        "random": usual,
        "small": _kind(usual, min_leaf=max(2, leaf // 2)),
        "large": _kind(usual, min_leaf=2 * leaf),
        "extra": _kind(usual, n_thresholds=1),
    }
    if not SPARSE_OPTIONS.intersection(options.given):
        kinds["sparse"] = _sparse_and_estimated(usual, p)
    if not AXIS_OPTIONS.intersection(options.given):
        kinds["axis"] = _kind(usual, projection="axis")
    return _differing(kinds)
