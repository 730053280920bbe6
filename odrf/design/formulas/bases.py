"""Bases for smooth terms: B-splines, constant beyond their knots, and orthogonal polynomials."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from patsy import stateful_transform
from patsy.splines import BS

from odrf.engine.running import one_thread

__all__ = ["HeldBSpline", "OrthogonalPolynomial", "bs", "poly"]


class HeldBSpline(BS):  # type: ignore[misc]
    """patsy's ``bs``, held constant beyond the boundary knots.

    patsy raises an error for values outside the training range, which new data nearly always has;
    a tree predicts a constant there anyway.
    """

    def transform(self, x: ArrayLike, *args: Any, **options: Any) -> NDArray[np.float64]:
        """Return the basis (n, df) at `x` (n,)."""
        knots = self._all_knots
        return super().transform(np.clip(np.asarray(x), knots[0], knots[-1]), *args, **options)


class OrthogonalPolynomial:
    """R's ``poly(x, degree)``: polynomials orthonormal over the training rows.

    They are stored as a three-term recurrence, which is as stable for new data as for training.
    """

    def __init__(self) -> None:
        self._rows: list[NDArray[np.float64]] = []
        self._degree = 1
        self._centres: list[float] = []
        self._squares: list[float] = []

    def memorize_chunk(self, x: ArrayLike, degree: int = 1) -> None:
        """Take training rows `x` (n,)."""
        self._degree = degree
        self._rows.append(_real(x))

    @one_thread()
    def memorize_finish(self) -> None:
        """Compute the recurrence from all training rows."""
        x = np.concatenate(self._rows)
        self._rows = []
        if not 1 <= self._degree < len(np.unique(x)):
            raise ValueError("degree must be at least 1 and below the number of distinct values")
        for _ in range(self._degree):
            last = self._polynomials(x)[-1]
            self._squares.append(float(last @ last))
            self._centres.append(float(x @ last**2) / self._squares[-1])
        last = self._polynomials(x)[-1]
        self._squares.append(float(last @ last))

    def transform(self, x: ArrayLike, degree: int = 1) -> NDArray[np.float64]:
        """Return the polynomials of degree 1 to `degree` at `x` (n,), as (n, degree)."""
        polynomials = self._polynomials(_real(x))
        return np.column_stack(polynomials[1:]) / np.sqrt(self._squares[1:])

    def _polynomials(self, x: NDArray[np.float64]) -> list[NDArray[np.float64]]:
        """Return the monic orthogonal polynomials computed so far, from degree 0."""
        polynomials = [np.ones_like(x)]
        for k, centre in enumerate(self._centres):
            new = (x - centre) * polynomials[k]
            if k > 0:
                new -= self._squares[k] / self._squares[k - 1] * polynomials[k - 1]
            polynomials.append(new)
        return polynomials


def _real(x: ArrayLike) -> NDArray[np.float64]:
    if np.iscomplexobj(x):
        raise TypeError("poly() needs real numbers")
    return np.asarray(x, dtype=np.float64)


bs = stateful_transform(HeldBSpline)
poly = stateful_transform(OrthogonalPolynomial)
