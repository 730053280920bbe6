"""The two sides of a split on a factor, as sets of levels."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

__all__ = ["two_sets"]

# A side of more levels is written as what is not on the other side, if that has no more than these.
MOST_LEVELS = 12


def two_sets(
    levels: Sequence[str],
    has_coefficient: NDArray[np.bool_],
    left: NDArray[np.bool_],
    others_left: bool,
    most: int | None = None,
) -> tuple[str, str]:
    """Return the sides that go left and right: ``in {a, b}``, ``in {c, others}``, ``not in {a}``.

    Parameters
    ----------
    levels : sequence of L str
    has_coefficient : (L,) bool
        Which of them have a coefficient in the split.  The rest go with a row without any level;
        most often they are absent from the node.
    left : (L,) bool
        Which levels go left.
    others_left : bool
        Whether a row without any level goes left.
    most : int, optional
        Most levels that are written of a set; by default all.

    Examples
    --------
    >>> two_sets(["a", "b", "c"], np.array([True, True, False]), np.array([1, 0, 0]) > 0, False)
    ('in {a}', 'in {b, others}')
    """
    near = left == others_left
    listed = [level for level, shown in zip(levels, near & has_coefficient, strict=True) if shown]
    rest = [level for level, shown in zip(levels, ~has_coefficient, strict=True) if shown]
    apart = [level for level, shown in zip(levels, ~near, strict=True) if shown]
    if len(rest) == 1 and not listed:
        listed, rest = rest, []
    room = MOST_LEVELS if most is None else most
    if (rest and not listed) or len(listed) > room >= len(apart) > 0:
        words = f"not in {_listed(apart, most)}"
    else:
        words = f"in {_listed(listed, most, bool(rest))}"
    other = f"in {_listed(apart, most)}"
    return (words, other) if others_left else (other, words)


def _listed(levels: list[str], most: int | None, others: bool = False) -> str:
    shown = levels[:most]
    more = [f"+{len(levels) - len(shown)} more"] if len(levels) > len(shown) else []
    return "{" + ", ".join([*shown, *more, *(["others"] if others else [])]) + "}"
