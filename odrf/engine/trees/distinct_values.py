"""The different values of leaves, each once, in 32 bits or of 65,536 steps."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.engine.trees.appended import AppendedArray
from odrf.errors import InputError

__all__ = ["BITS", "DistinctValues", "require_32_bits"]

BITS = (32, 16)
STEPS = 2**16 - 1
# So many values are remembered, to be found again: more would take more than they save.
REMEMBERED = 2**17
SMALLEST, LARGEST = float(np.finfo(np.float32).tiny), float(np.finfo(np.float32).max)


def require_32_bits(span: tuple[float, float]) -> None:
    """Raise `InputError` if numbers of 32 bits cannot hold the larger end of this span."""
    largest = max(abs(end) for end in span)
    if largest > LARGEST or 0.0 < largest < SMALLEST:
        raise InputError(
            f"compact trees keep values of leaves in 32 bits, and these are up to {largest:g} in "
            f"size, which must be from {SMALLEST:.2g} to {LARGEST:.2g}: multiply or divide the "
            "response by a constant, or do without compact"
        )


class DistinctValues:
    """Rounds the values of leaves, and numbers those that differ.

    Parameters
    ----------
    K : int
        Numbers of a value.
    bits : {32, 16}
        32: the next number of 32 bits.  16: the next of 65,536 evenly spaced ones within the
        `span`.
    span : (float, float)
        The smallest and the largest number that occurs.

    Attributes
    ----------
    largest, total : float
        The largest change of a number by rounding, and the sum of the changes.
    count : int
        The numbers rounded.
    """

    def __init__(self, K: int, bits: int, span: tuple[float, float]) -> None:
        self._bits, (self._low, self._high) = bits, span
        self._values = AppendedArray(np.empty((0, K), dtype=np.float32))
        self._known: dict[bytes, int] = {}
        self.largest = self.total = 0.0
        self.count = 0

    def __len__(self) -> int:
        return len(self._values)

    def numbers_of(self, value: NDArray[np.float64]) -> NDArray[np.int32]:
        """Return the number (L,) of each of L values (L, K)."""
        rounded = self._rounded(value)
        change = np.abs(rounded - value)
        self.largest = max(self.largest, float(change.max(initial=0.0)))
        self.total += float(change.sum())
        self.count += change.size
        different, number = np.unique(rounded, axis=0, return_inverse=True)
        return self._numbered(different)[np.ravel(number)]

    def table(self) -> NDArray[np.float32]:
        """Return the different values (U, K)."""
        return self._values.taken()

    def _rounded(self, value: NDArray[np.float64]) -> NDArray[np.float32]:
        width = self._high - self._low
        if self._bits == 32 or not width > 0:
            return value.astype(np.float32)
        step = np.rint((value - self._low) * (STEPS / width))
        return (self._low + step * (width / STEPS)).astype(np.float32)

    def _numbered(self, different: NDArray[np.float32]) -> NDArray[np.int32]:
        """Return the numbers of values that differ from each other; new ones are appended."""
        keys = [row.tobytes() for row in different]
        numbers = np.array([self._known.get(key, -1) for key in keys], dtype=np.int64)
        new = np.flatnonzero(numbers < 0)
        numbers[new] = len(self._values) + np.arange(len(new))
        self._values.append(different[new])
        for i in new[: max(0, REMEMBERED - len(self._known))].tolist():
            self._known[keys[i]] = int(numbers[i])
        return numbers.astype(np.int32)
