"""The options of forests whose rows come in chunks."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from odrf.checks import AUTO, checked_switch, is_word
from odrf.errors import InputError
from odrf.options.options import Options
from odrf.options.sizes import OOB
from odrf.pruning.growth_stages import ALPHA_RATES

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

    Trees are of one kind, and draw without replacement, by default `share_of_rows`.  Raises
    `InputError`: an option is given that needs all rows at once.
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
