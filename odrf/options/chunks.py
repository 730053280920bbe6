"""The options of trees and forests whose rows come in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odrf.checks import AUTO, checked_switch, is_word
from odrf.errors import InputError
from odrf.options.options import Options
from odrf.options.sizes import CV, OOB
from odrf.options.table import EXACT
from odrf.options.tree import ResolvedOptions
from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES

__all__ = [
    "checked_tree_request",
    "require_no_structure",
    "require_streamable",
    "share_judging",
    "share_of_rows",
    "streamed_request",
]


# ------------------------------------------------------------------------------------------------
# The options of forests whose rows come in chunks, and the usual share of rows of a tree.
# ------------------------------------------------------------------------------------------------

# Trees of fewer rows are less accurate, and those of so many grow fast.
ENOUGH_ROWS = 200_000
# As many different rows as a bootstrap has, where there are few.
MOST, EXPONENT = 0.632, 0.85

ONE_KIND = (
    "a blend of several kinds of trees weighs them by pilot trees on all rows, and rows in chunks "
    "are never all in memory: leave it out"
)
STRUCTURE = (
    "each row is drawn by a hash of its number, whatever group, time or stratum it is of: leave it "
    "out, or fit a data frame that is in memory"
)


def share_of_rows(n: int) -> float:
    """Return the usual share s_n/n of n rows in chunks that a tree draws.

    Up to 316,000 rows it is 0.632, as of subsamples of data frames; then s_n = 200,000 up to
    1.7 million rows, and n^0.85 beyond.  So s_n → ∞ and s_n/n → 0, which the theory of subsampled
    trees asks for.  Of 10 million rows a tree has 891,000, of 100 million 6.3 million.
    """
    return min(MOST, max(float(n) ** EXPONENT, float(ENOUGH_ROWS)) / n)


def require_no_structure(options: Mapping[str, Any]) -> None:
    """Raise `InputError` for groups, order or strata, or weights that are not a column's name."""
    for name in ("groups", "order", "strata"):
        if options[name] is not None:
            raise InputError(f"{name}= with rows in chunks: {STRUCTURE}")
    weights = options["weights"]
    if weights is not None and not isinstance(weights, str):
        raise InputError(
            "weights= with rows in chunks: make them a column of the chunks, and give its name"
        )


def streamed_request(request: Options) -> Options:
    """Return the request of a forest whose rows come in chunks.

    Trees are of one kind, and draw without replacement, by default `share_of_rows`.

    Raises
    ------
    InputError
        An option is given that needs all rows at once.
    """
    if checked_switch("blend", request.blend) is True:
        raise InputError(f"blend=True with rows in chunks: {ONE_KIND}")
    if not (is_word(request.resample, AUTO) or is_word(request.resample, "subsample")):
        raise InputError(
            f"resample={request.resample!r} with rows in chunks: each row is drawn once or not at "
            'all: use resample="subsample"'
        )
    if isinstance(request.alpha, str) and request.alpha in (OOB, *ALPHA_RATES):
        raise InputError(
            f"alpha={request.alpha!r} with rows in chunks: it is chosen by predictions of all "
            "rows for each size: use a number, or a function of n"
        )
    share: Any = request.sample_fraction
    if is_word(share, AUTO):
        share = share_of_rows
    return replace(request, blend=False, resample="subsample", sample_fraction=share)


# ------------------------------------------------------------------------------------------------
# The options of one tree of all rows in chunks.
# ------------------------------------------------------------------------------------------------

# At most so many rows, and this share of few rows, choose the size of a tree: their mean error is
# then known to a few thousandths of the variance.
MOST_HELD_OUT, SHARE_HELD_OUT = 100_000, 0.1


def share_judging(n: int) -> float:
    """Return the share of n rows that is held out to choose the size of a tree."""
    return min(SHARE_HELD_OUT, MOST_HELD_OUT / n)


def checked_tree_request(request: Options) -> Options:
    """Return the request of a tree of all rows in chunks.

    Raises
    ------
    InputError
        An option is given that needs all rows at once, or several trees of all rows.
    """
    if isinstance(request.alpha, str) and request.alpha == CV:
        raise InputError(
            'alpha="cv" with rows in chunks: ten more trees of nearly all rows would be grown: use '
            '"auto" or "1se", which hold a few of the rows out, or a number'
        )
    for name, rates in (("alpha", ALPHA_RATES), ("max_leaves", LEAF_RATES)):
        value = getattr(request, name)
        if isinstance(value, str) and value in rates:
            raise InputError(
                f"{name}={value!r} with rows in chunks: its constant is found by "
                "cross-validation, for which all rows have to be in memory: use a number, or a "
                "function of n"
            )
    if is_word(request.split_search, EXACT):
        raise InputError(
            f'split_search="{EXACT}" with rows in chunks: cuts of nodes whose rows are not in '
            'memory are found between bins, and then refined: use "auto"'
        )
    return request


def require_streamable(control: ResolvedOptions) -> None:
    """Raise `InputError` for options that rows which pass by in chunks do not allow."""
    if control.honest:
        raise InputError(
            "honest=True with rows in chunks: one tree of all rows has no half that gives its "
            "values: leave it out, or grow a forest by odrf()"
        )
    if control.mixture.rotates:
        raise InputError(
            f"projection={control.mixture.name!r} with rows in chunks rotates all columns of "
            "a tree in memory: use another family, or grow a forest by odrf()"
        )
    if control.settings.n_thresholds > 0:
        raise InputError(
            f"n_thresholds={control.n_thresholds} with rows in chunks: a tree of all rows has the "
            'best threshold of each direction: use n_thresholds="all", or grow a forest by odrf()'
        )
    if control.split_scale != "response":
        raise InputError(
            f"split_scale={control.split_scale!r} with rows in chunks: the scale is found from all "
            'responses at once: use "response", or transform the response in the formula'
        )
