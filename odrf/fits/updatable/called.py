"""What the call of an updated fit says; it does not grow with the number of updates."""

from __future__ import annotations

import re

from numpy.typing import ArrayLike

__all__ = ["called_updated"]

# What calls say of earlier updates.
UPDATES = re.compile(
    r"\.update\((newdata(, weights=[^()]*)?(, keep=\d+)?|…, [\d,]+ times, [\d,]+ rows)\)$"
)


def called_updated(
    call: str,
    weights: str | ArrayLike | None,
    times: int,
    rows: int,
    keep: int | None = None,
) -> str:
    """Return the call of a fit that has been updated so many times, with so many rows in all.

    `weights` and `keep` are the arguments of the last update.
    """
    if times > 1:
        return f"{UPDATES.sub('', call)}.update(…, {times:,} times, {rows:,} rows)"
    given = ["newdata"]
    if weights is not None:
        given.append(f"weights={weights!r}" if isinstance(weights, str) else "weights=…")
    if keep is not None:
        given.append(f"keep={keep}")
    return f"{call}.update({', '.join(given)})"
