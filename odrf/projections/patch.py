"""Sums over rectangular patches of pixels: manifold-aware forests."""

from __future__ import annotations

import math
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar, NamedTuple

import numpy as np
from numpy.typing import NDArray

from odrf.checks import checked_truth, checked_whole
from odrf.engine.compiling import ZERO, inlined
from odrf.engine.directions.candidates import ROUND, FeatureGroups
from odrf.engine.directions.samplers import draws
from odrf.engine.kernel_params import KernelParams
from odrf.engine.numeric import below, shuffle_front
from odrf.errors import InputError
from odrf.projections.base import Family, Table, extent, grid_shape, require_pixels

# Default heights for series and images, default widths, and default number of directions.
FLAT, THICK = (1, 1), (2, 2)
NARROWEST, WIDEST = 2, 9
MANY = 50


class PatchSampler(NamedTuple):
    """Patches of a grid of pixels.

    `rows`, `columns`: H and W, the grid's height and width.
    `least_height`, `most_height`, `least_width`, `most_width`: limits of a patch.
    `wrap`: whether the grid wraps around.
    `channel` (C,): a permutation of the channels.
    `ranges` (p,): coefficient of each pixel, up to scaling.
    `place` (p,): the column of each pixel, beside which there may be one that tells its empty
      cells.
    `weight` (widest,): scratch.
    """

    number: int
    rows: int
    columns: int
    least_height: int
    most_height: int
    least_width: int
    most_width: int
    wrap: bool
    channel: np.ndarray
    ranges: np.ndarray
    place: np.ndarray
    weight: np.ndarray


@dataclass(frozen=True)
class Patch(Family):
    """The sum of the pixels of a random rectangle (manifold-aware forests, MF).

    Predictors are the pixels of an image, or the points of a series, in the order channel, row,
    column.  The height h and width w of a patch are uniform between their limits.  Its upper left
    corner is uniform on -(h - 1) … H - 1 and -(w - 1) … W - 1, and the part beyond the border of
    the image is cut off.  So h of the H + h - 1 positions cover any given row, and every pixel is
    equally likely to be used (Perry 2020, section 3.1).  If the grid wraps around, all H · W
    positions are equally likely and nothing is cut off.

    Pixels are added up in the units of the data.  As columns are scaled to [0, 1] for growth, the
    coefficient of a pixel is proportional to its range in training, which undoes the scaling.  A
    pixel that is constant in training has coefficient 0, and a patch of such pixels is no
    candidate.  A pixel without a value is filled by the node's mean, least or largest value, drawn
    at random for each patch.

    Parameters
    ----------
    shape : (int, int), optional
        H and W, in pixels; (1, T) for a series of length T.  By default ``data.attrs["shape"]``,
        which `odrf.from_images` and the samples of `odrf.simulate` set.
    height, width : "auto", int or (int, int), default "auto"
        The least and the largest height and width of a patch, in pixels; one number fixes it.  By
        default the height is 2, or 1 for a series, and widths are 2 to 9, as Perry uses for images
        of bars.
    wrap : bool, default False
        Whether the last row and column are next to the first, as on a ring or a torus.
    channels : int, optional
        C, the number of channels, such as colours of an image or sensors of a series.  A patch
        takes a random number of channels from 1 to C; all sets of that size are equally likely, as
        channels have no order.  By default ``data.attrs["channels"]``, or 1.

    Attributes
    ----------
    ranges : (p,) float64 or None
        Range of each pixel in training; None before the fit, where all are taken as equal.

    Raises
    ------
    InputError
        If a parameter is out of range; at the fit, if the predictors are not C · H · W numeric
        columns, or a patch would be larger than the grid.

    Notes
    -----
    Theorem 2 of Perry (2020) requires that every single pixel can be drawn.  Use
    ``height=(1, largest)`` and ``width=(1, largest)`` for that.

    The pixels of a patch are added one by one.  A summed-area table would need four numbers for any
    patch, but it would store every predictor twice, and its differences have larger rounding
    errors.  For patches of a few pixels it would save little, as evaluating cuts takes most of the
    time.

    References
    ----------
    .. [1] R. Perry (2020). Manifold-aware forests: closing the gap to convolutional neural
       networks. Johns Hopkins University.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.circle(p=40).sample(300, seed=1)
    >>> ring = odrf.Patch(width=(3, 12), wrap=True)
    >>> patches = odrf.odrf("y ~ .", data, projection=ring, n_trees=50, seed=1)
    >>> points = odrf.odrf("y ~ .", data, projection="axis", n_trees=50, seed=1)
    >>> patches.oob_error < points.oob_error - 0.1
    True
    """

    shape: Any = None
    height: Any = "auto"
    width: Any = "auto"
    wrap: bool = False
    channels: Any = None
    ranges: NDArray[np.float64] | None = field(default=None, init=False, repr=False, compare=False)

    name: ClassVar[str] = "patch"
    sampling_in_words: ClassVar[str] = "ones on a patch of neighbouring pixels"
    source: ClassVar[str] = "Perry (2020)"
    criterion: ClassVar[str] = "entropy"
    narrows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if self.shape is not None:
            object.__setattr__(self, "shape", grid_shape("shape", self.shape))
        for argument in ("height", "width"):
            value = getattr(self, argument)
            if not (isinstance(value, str) and value == "auto"):
                object.__setattr__(self, argument, extent(argument, value))
        checked_truth("wrap", self.wrap)
        if self.channels is not None:
            checked_whole("channels", self.channels, 1)
        if self.shape is not None:
            self._require_room(*self.shape)

    def settled(self, table: Table) -> Patch:
        """Return the family with the shape, channels and ranges of the table."""
        self.require(table)
        C, H, W = self._grid(table)
        numbers = np.ones(table.p, dtype=np.bool_) if table.empty is None else ~table.empty
        require_pixels(C, H, W, table.P, int(numbers.sum()))
        self._require_room(H, W)
        family = replace(self, shape=(H, W), channels=C)
        object.__setattr__(
            family, "ranges", None if table.ranges is None else table.ranges[numbers]
        )
        return family

    def _grid(self, table: Table) -> tuple[int, int, int]:
        """Return C, H and W, from the parameters or else from the data."""
        if self.shape is None and table.grid is None:
            raise InputError(
                "the shape of the images is not known: use projection=Patch(shape=(height, width)),"
                ' or data made by odrf.from_images, or set data.attrs["shape"] = (height, width)'
            )
        C, *shape = (1, *self.shape) if table.grid is None else table.grid
        H, W = shape if self.shape is None else self.shape
        return (C if self.channels is None else self.channels), H, W

    def _heights(self, H: int) -> tuple[int, int]:
        return (FLAT if H == 1 else THICK) if self.height == "auto" else self.height

    def _widths(self, W: int) -> tuple[int, int]:
        return (min(NARROWEST, W), min(WIDEST, W)) if self.width == "auto" else self.width

    def _require_room(self, H: int, W: int) -> None:
        for argument, ends, most in (
            ("height", self._heights(H), H),
            ("width", self._widths(W), W),
        ):
            if ends[1] > most:
                raise InputError(
                    f"{argument}={ends} is larger than images of shape {(H, W)}: use at most {most}"
                )

    def n_default(self, table: Table) -> int:
        """Return min(p, max(50, ⌈√p⌉)).

        More would make trees too similar: overlapping patches are alike, so the best of many are
        alike too.  Perry (2020) tries 50 for 100 pixels and 28 for 784.
        """
        return min(table.p, max(MANY, math.ceil(math.sqrt(table.p))))

    def sampler(
        self, number: int, feature_groups: FeatureGroups, settings: KernelParams, n: int
    ) -> PatchSampler:
        """Return the sampler of a tree."""
        H, W = self.shape
        p = len(feature_groups.types)
        ranges = np.ones(p) if self.ranges is None else self.ranges
        largest = ranges.max()
        return PatchSampler(
            number,
            H,
            W,
            *self._heights(H),
            *self._widths(W),
            bool(self.wrap),
            np.arange(p // (H * W)),
            # so that sums of squares cannot overflow
            ranges / largest if largest > 0 else ranges,
            feature_groups.first[:-1],
            np.empty(self.widest(feature_groups, settings, n)),
        )

    def widest(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> int:
        """Return the number of pixels of the largest patch."""
        H, W = self.shape
        return len(feature_groups.types) // (H * W) * self._heights(H)[1] * self._widths(W)[1]

    def single_columns(self, number: int, p: int, subset_size: str | int) -> bool:
        """Return whether each pixel alone can be drawn, if it varies.

        A patch of two rows or more covers one row where it is cut off at the border.
        """
        H, W = self.shape
        return all(
            least == 1 or (length <= 2 and not self.wrap)
            for least, length in ((self._heights(H)[0], H), (self._widths(W)[0], W))
        )

    def columns_read(self, feature_groups: FeatureGroups, settings: KernelParams, n: int) -> float:
        """Return the mean number of pixels of a patch that is not cut off at the border."""
        H, W = self.shape
        C = len(feature_groups.types) // (H * W)
        return (C + 1) / 2 * sum(self._heights(H)) / 2 * sum(self._widths(W)) / 2


@inlined
def _span(state, least, most, length, wrap):
    """Draw where a patch begins and ends along one side of the grid."""
    size = least + below(state, most - least + 1)
    if wrap:
        first = below(state, length)
        return first, first + size
    first = below(state, length + size - 1) - (size - 1)
    return max(first, ZERO), min(first + size, length)


@draws(PatchSampler)
def _draw(sampler, state, rows, lo, m, n_rows, first, feature_groups, proposals, work):
    columns, theta, weight = proposals.columns, proposals.theta, sampler.weight
    H, W, C = sampler.rows, sampler.columns, len(sampler.channel)
    c, last = ZERO, min(first + ROUND, sampler.number)
    for _ in range(first, last):
        top, bottom = _span(state, sampler.least_height, sampler.most_height, H, sampler.wrap)
        left, right = _span(state, sampler.least_width, sampler.most_width, W, sampler.wrap)
        n_channels = 1 + below(state, C)
        shuffle_front(state, sampler.channel, n_channels)
        size, length = ZERO, 0.0
        for k in range(n_channels):
            for i in range(top, bottom):
                begin = (sampler.channel[k] * H + i % H) * W
                for j in range(left, right):
                    pixel = begin + j % W
                    pixel_range = sampler.ranges[pixel]
                    if pixel_range > 0.0:
                        columns[c, size], weight[size] = sampler.place[pixel], pixel_range
                        size += 1
                        length += pixel_range * pixel_range
        length = math.sqrt(length)
        if not length > 0.0:
            continue
        for j in range(size):
            theta[c, j] = weight[j] / length
        proposals.sizes[c] = size
        c += 1
    return c, last
