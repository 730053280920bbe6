"""Data frames made of images and series, one column for each pixel."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import is_whole
from odrf.design.grid import set_grid
from odrf.errors import InputError
from odrf.public import public
from odrf.text.quantity import quantity

__all__ = ["from_images"]

RESPONSE = "y"


@public
def from_images(
    array: ArrayLike, y: ArrayLike | None = None, *, channel_axis: int | None = None
) -> pd.DataFrame:
    """Return images or series as a data frame, for ``"y ~ ."`` and `odrf.Patch`.

    Parameters
    ----------
    array : array
        Images (n, H, W), or series (n, T).  With `channel_axis`, one more axis of C channels:
        (n, H, W, C) or (n, C, H, W), and for series (n, T, C) or (n, C, T).
    y : array of shape (n,), optional
        Responses.  A numeric `y` means regression: if the numbers are classes, use
        ``y.astype(str)``, or ``kind="classification"`` in the fit.  By default the frame has no
        response, as for new images to be predicted.
    channel_axis : int, optional
        The axis of `array` that holds the channels, such as 1 or -1; by default there is none.

    Returns
    -------
    DataFrame
        A column for each pixel, in the order channel, row, column, numbered from 0 as in the
        array: ``r3c14`` for images, ``t5`` for series, ``ch1_r3c14`` with several channels.  If
        `y` is given, it is the last column, ``y``.  The ``attrs`` of the frame hold ``shape``,
        (H, W) or (1, T), and ``channels`` if there are several.

    Raises
    ------
    InputError
        If the array has another number of dimensions, images of several sizes, no images, or
        values that are not finite numbers; if `channel_axis` is not an axis of channels; if `y`
        has not n values.

    Examples
    --------
    >>> import numpy as np, odrf
    >>> images = np.arange(12).reshape(2, 2, 3)
    >>> data = odrf.from_images(images, ["a", "b"])
    >>> data
       r0c0  r0c1  r0c2  r1c0  r1c1  r1c2  y
    0     0     1     2     3     4     5  a
    1     6     7     8     9    10    11  b
    >>> data.attrs["shape"]
    (2, 3)
    """
    pixels = _with_channels(_numbers(array), channel_axis)
    n, C, H, W = pixels.shape
    series = np.ndim(array) == (2 if channel_axis is None else 3)
    data = pd.DataFrame(pixels.reshape(n, C * H * W).copy(), columns=_names(C, H, W, series))
    if y is not None:
        data[RESPONSE] = _responses(y, n)
    set_grid(data, C, H, W)
    return data


def _numbers(array: Any) -> NDArray:
    try:
        values = np.asarray(array)
    except ValueError as error:  # lists of several lengths
        raise InputError(
            "array has images of several sizes: bring them to one height and width, or series to "
            "one length"
        ) from error
    if values.dtype.kind not in "buif":
        raise InputError(f"array holds {values.dtype}: use numbers")
    if not np.isfinite(values).all():
        raise InputError(
            "array holds missing or infinite values: fill them in, or leave these images out"
        )
    if 0 in values.shape:
        raise InputError(f"array of shape {values.shape} is empty: use at least one image")
    return values


def _with_channels(values: NDArray, axis: int | None) -> NDArray:
    """Return the values (n, C, H, W)."""
    found = f"array has {quantity(values.ndim, 'dimension')}"
    if axis is None:
        if values.ndim not in (2, 3):
            raise InputError(
                f"{found}: use (n, height, width) for images, "
                "(n, length) for series, and give channel_axis= if there are channels"
            )
        values = values[:, np.newaxis]
    else:
        if values.ndim not in (3, 4):
            raise InputError(f"{found}: with channel_axis= use 4 for images, 3 for series")
        values = np.moveaxis(values, _channel_axis(axis, values.shape), 1)
    return values if values.ndim == 4 else values[:, :, np.newaxis]


def _channel_axis(axis: Any, shape: tuple[int, ...]) -> int:
    if is_whole(axis):
        from_front = axis + len(shape) if axis < 0 else axis
        if 0 < from_front < len(shape):
            return int(from_front)
    raise InputError(
        f"channel_axis={axis!r} is not an axis of channels of shape {shape}: use 1 to "
        f"{len(shape) - 1}, or -1 for the last"
    )


def _names(C: int, H: int, W: int, series: bool) -> list[str]:
    places = [f"t{t}" for t in range(W)] if series else []
    places = places or [f"r{i}c{j}" for i in range(H) for j in range(W)]
    return places if C == 1 else [f"ch{k}_{place}" for k in range(C) for place in places]


def _responses(y: Any, n: int) -> Any:
    """Return one response for each image, by position."""
    values = y.array if isinstance(y, pd.Series | pd.Index) else np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise InputError(
            f"y has shape {np.shape(y)}, but there are {n} images: give one response for each"
        )
    return values
