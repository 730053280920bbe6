"""The options of forests whose rows come in chunks."""

from __future__ import annotations

from dataclasses import replace

from odrf.checks import AUTO, is_word
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.errors import InputError
from odrf.options.options import DataOptions, Options
from odrf.options.sizes import OOB
from odrf.pruning.growth_stages import ALPHA_RATES

# The options of forests whose rows come in chunks, and the usual share of rows of a tree.

# Trees of fewer rows are less accurate, and those of so many grow fast.
ENOUGH_ROWS = 200_000
# As many different rows as a bootstrap has, where there are few.
MOST, EXPONENT = 0.632, 0.85

ONE_KIND = (
    "a blend of several kinds of trees weighs them by pilot trees on all rows, and rows in chunks "
    "are never all in memory: leave it out"
)
STRUCTURE = (
    "each row is sampled by a hash of its number, whatever group, time or stratum it is of: leave "
    "it out, or fit a data frame that is in memory"
)


def share_of_rows(n: int) -> float:
    """Return the usual share s_n/n of n rows in chunks that a tree draws.

    Up to 316,000 rows it is 0.632, as of subsamples of data frames; then s_n = 200,000 up to
    1.7 million rows, and n^0.85 beyond.  So s_n → ∞ and s_n/n → 0, which the theory of subsampled
    trees asks for.  Of 10 million rows a tree has 891,000, of 100 million 6.3 million.
    """
    return min(MOST, max(float(n) ** EXPONENT, float(ENOUGH_ROWS)) / n)


def weights_column(data: DataOptions) -> str | None:
    """Return the column of weights, if there is one.

    Raises `InputError`: there are groups, order or strata, or weights that are no column's name.
    """
    for name in STRUCTURE_ARGUMENTS:
        if getattr(data, name) is not None:
            raise InputError(f"{name}= with rows in chunks: {STRUCTURE}")
    if data.weights is None or isinstance(data.weights, str):
        return data.weights
    raise InputError(
        "weights= with rows in chunks: make them a column of the chunks, and give its name"
    )


def streamed_request(options: Options) -> Options:
    """Return the options of a forest whose rows come in chunks.

    Trees are of one kind, and draw without replacement, by default `share_of_rows`.  Raises
    `InputError`: an option is given that needs all rows at once.
    """
    if options.blend is True:
        raise InputError(f"blend=True with rows in chunks: {ONE_KIND}")
    if options.resample not in (AUTO, "subsample"):
        raise InputError(
            f"resample={options.resample!r} with rows in chunks: each row is sampled once or not "
            'at all: use resample="subsample"'
        )
    if isinstance(options.alpha, str) and options.alpha in (OOB, *ALPHA_RATES):
        raise InputError(
            f"alpha={options.alpha!r} with rows in chunks: it is chosen by predictions of all "
            "rows for each size: use a number, or a function of n"
        )
    by_default = is_word(options.sample_fraction, AUTO)
    share = share_of_rows if by_default else options.sample_fraction
    return replace(options, blend=False, resample="subsample", sample_fraction=share)
