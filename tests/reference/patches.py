"""The patches of manifold-aware forests, one pixel after the other."""

from __future__ import annotations

import numpy as np

from reference.randomness import Stream


def side(stream: Stream, ends: tuple[int, int], length: int, wrap: bool) -> list[int]:
    """The rows, or columns, of a random patch."""
    size = ends[0] + stream.below(ends[1] - ends[0] + 1)
    if wrap:
        first = stream.below(length)
        return [(first + k) % length for k in range(size)]
    first = stream.below(length + size - 1) - (size - 1)
    return [first + k for k in range(size) if 0 <= first + k < length]


def patch(
    stream: Stream,
    shape: tuple[int, int],
    height: tuple[int, int],
    width: tuple[int, int],
    wrap: bool,
    order: list[int],
    ranges: list[float],
) -> dict[int, float] | None:
    """The coefficients of a random patch by their columns; `order` is that of the channels."""
    H, W = shape
    rows, columns = side(stream, height, H, wrap), side(stream, width, W, wrap)
    n_channels = 1 + stream.below(len(order))
    stream.shuffle_front(order, n_channels)
    pixels = [
        channel * H * W + row * W + column
        for channel in order[:n_channels]
        for row in rows
        for column in columns
    ]
    counts = {pixel: ranges[pixel] for pixel in pixels if ranges[pixel] > 0}
    length = np.sqrt(sum(count**2 for count in counts.values()))
    return {pixel: count / length for pixel, count in counts.items()} or None
