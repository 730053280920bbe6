"""Devices for tests: NumPy in the place of a library with a device, and small sums over planes."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.device import (
    Device,
    DeviceRows,
    rows_on,
    running_sums,
    sums_beyond,
)
from reference.guided import values_beyond


def numpy_device(add_up: Any = running_sums) -> Device:
    import array_api_compat.numpy as xp  # noqa: PLC0415

    return Device(xp, None, np.asarray, add_up)


class PlanesAndRows(NamedTuple):
    """Planes, rows and segments of some of these; all numbers are of few bits, nothing rounds."""

    X: NDArray[np.float32]
    weights: NDArray[np.float64]
    moments: NDArray[np.float64] | None
    theta: NDArray[np.float32]
    threshold: NDArray[np.float32]
    segments: list[list[int]]

    def on(self, device: Device) -> DeviceRows:
        return rows_on(device, self.X, self.weights, self.moments)

    def sums(self, device: Device) -> NDArray[np.int64]:
        chosen = np.array([i for rows in self.segments for i in rows], dtype=np.int32)
        first = np.cumsum([0, *map(len, self.segments)])
        return sums_beyond(self.on(device), self.theta, self.threshold, chosen, first)

    def expected(self, device: Device) -> list[list[list[int]]]:
        values = device.fetched(self.on(device).values).tolist()
        return values_beyond(self.theta, self.threshold, self.X, values, self.segments)


def planes_and_rows(seed: int, most_rows: int = 60) -> PlanesAndRows:
    """Draw a case: some rows lie on planes, segments have one row or more."""
    rng = np.random.default_rng(seed)
    C, T, n = (int(rng.integers(1, most)) for most in (5, 4, most_rows))
    weights = rng.integers(1, 9, n) / 8 if rng.random() < 0.5 else np.ones(n)
    moments = weights * rng.integers(-9, 9, n) if rng.random() < 0.5 else None
    chosen = rng.permutation(n)[: rng.integers(1, n + 1)]
    ends = np.flatnonzero(rng.random(len(chosen)) < rng.choice([0.05, 0.5])) + 1
    return PlanesAndRows(
        (rng.integers(0, 9, (C, n)) / 8).astype(np.float32),
        weights,
        moments,
        (rng.integers(-8, 9, (T, C)) / 8).astype(np.float32),
        (rng.integers(-8, 9, T) / 16).astype(np.float32),
        [part.tolist() for part in np.split(chosen, ends) if len(part)],
    )
