"""The first principal component of the class shares of a factor's levels, by NumPy."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

__all__ = ["Principal", "principal_component"]


class Principal(NamedTuple):
    """The target of each row, and how many other directions it was chosen among.

    `determined` is False where the two largest eigenvalues are equal but for rounding: any target
    of their plane may follow then.
    """

    target: NDArray
    others: int
    determined: bool


def principal_component(
    level: NDArray[np.int64], y: NDArray, a: NDArray, entropy: bool
) -> Principal | None:
    """The target of rows of levels 1, 2, …, 0 for none; None if levels have the same shares."""
    classes = [k for k in np.unique(y) if a[y == k].sum() > 0]
    levels = [j for j in np.unique(level) if j > 0 and a[level == j].sum() > 0]
    if len(classes) < 2 or len(levels) < 2:
        return None
    share = np.array([a[y == k].sum() for k in classes]) / a.sum()
    unit = np.sqrt(share) if entropy else np.ones(len(share))
    weight = np.array([a[level == j].sum() for j in levels])
    counts = np.array([[a[(level == j) & (y == k)].sum() for k in classes] for j in levels])
    points = (counts / weight[:, None] - share) / unit
    values, vectors = np.linalg.eigh((points.T * weight) @ points)
    if values[-1] <= 1e-24 * a.sum():
        return None
    v = vectors[:, -1]
    last = np.flatnonzero(np.abs(v) >= (1 - 1e-9) * np.abs(v).max())[-1]
    v = v * np.sign(v[last]) / unit
    scaled = dict(zip(classes, (v - v.min()) / (v.max() - v.min()), strict=True))
    target = np.array([scaled.get(k, 0.0) for k in y])
    return Principal(target, len(classes) - 2, bool(values[-2] < (1 - 1e-6) * values[-1]))
