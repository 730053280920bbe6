"""The options of one tree of all rows in chunks."""

from __future__ import annotations

from odrf.checks import is_word
from odrf.errors import InputError
from odrf.options.control import Control
from odrf.options.request import Request
from odrf.options.rule import CV
from odrf.options.table import EXACT
from odrf.pruning.growth_stages import ALPHA_RATES, LEAF_RATES

__all__ = ["checked_tree_request", "require_streamable", "share_judging"]

# At most so many rows, and this share of few rows, choose the size of a tree: their mean error is
# then known to a few thousandths of the variance.
MOST, SHARE = 100_000, 0.1


def share_judging(n: int) -> float:
    """Return the share of n rows that is held out to choose the size of a tree."""
    return min(SHARE, MOST / n)


def checked_tree_request(request: Request) -> Request:
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


def require_streamable(control: Control) -> None:
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
