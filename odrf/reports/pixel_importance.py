"""Pixel importance: how often splits use each pixel."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_whole
from odrf.errors import InputError
from odrf.fits.fit import BoostedFit, Fit
from odrf.projections.base import grid_shape, require_pixels
from odrf.projections.patch import Patch
from odrf.public import public
from odrf.statistics.importance import usage
from odrf.text.splits import number
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["PixelImportance"]

TOP = 10


@public
class PixelImportance(Carded):
    """How often splits use each pixel (Perry 2020, section 3.2).

    Returned by `odrf.results.base.TreeResults.pixel_importance`.

    Parameters
    ----------
    fit : Fit or BoostedFit
    shape : (int, int), optional
        Height and width of the images.
    channels : int, optional
        Channels of the images.

    Attributes
    ----------
    call : str
        The call that made the fit.
    n_splits : int
        Splits of all trees.
    table : DataFrame
        One row for each pixel, by its name, in the order of the predictors.  Columns: ``channel``,
        ``row`` and ``column``, from 0; ``count`` π_k, the splits of all trees in which the pixel,
        or the column that tells its empty cells, has a nonzero coefficient; ``share``, ``count``
        divided by the number of splits.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.impulse(height=4.0).sample(200, seed=1)
    >>> forest = odrf.odrf("y ~ .", data, projection="patch", n_trees=20, seed=1)
    >>> forest.pixel_importance().table["share"].idxmax() in ("x19", "x20", "x21")
    True
    """

    def __init__(
        self,
        fit: Fit | BoostedFit,
        shape: tuple[int, int] | None = None,
        channels: int | None = None,
    ) -> None:
        self.call: str = fit.call
        C, H, W = self._grid = _grid(fit, shape, channels)
        self.n_splits = int(fit.forest.is_split().sum())
        count = usage(fit.forest, fit.design.first)
        channel, row, column = np.unravel_index(np.arange(C * H * W), (C, H, W))
        self.table = pd.DataFrame(
            {
                "channel": channel,
                "row": row,
                "column": column,
                "count": count,
                "share": count / max(self.n_splits, 1),
            },
            index=pd.Index(fit.design.predictors, name="pixel"),
        )

    @property
    def images(self) -> NDArray[np.float64]:
        """The shares as images (C, H, W): channels, height, width."""
        return self.table["share"].to_numpy().reshape(self._grid)

    def summary(self) -> Summary:
        """Return the most used pixels as a summary with text, HTML and LaTeX output."""
        top = self._used_most.head(TOP)
        note = "share is that of the splits in which the pixel has a nonzero coefficient."
        return Summary("Pixel importance", self.call, self._facts(), {"Used most": top}, (note,))

    def plot_image(self, *, ax: Axes | NDArray | None = None) -> Axes | NDArray:
        """Plot the shares as images, one for each channel, or for series as a curve.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; for several channels an array with one for each.  By default on a new
            figure.

        Returns
        -------
        Axes or array of Axes

        Raises
        ------
        InputError
            If `ax` has another number of axes.
        """
        return plots.plot_pixels(self.images, ax)

    def _card(self) -> Card:
        return Card("Pixel importance", self._facts(), self._used_most)

    def _facts(self) -> dict[str, str]:
        C, H, W = self._grid
        share = self.table["share"]
        return {
            "Pixels": f"{H} × {W}" + (f", {C} channels" if C > 1 else ""),
            "Splits": str(self.n_splits),
            "Pixels of a split": number(float(share.sum())),
            "Pixels never used": str(int((share == 0).sum())),
        }

    @property
    def _used_most(self) -> pd.DataFrame:
        return self.table.sort_values("count", ascending=False, kind="stable")


def _grid(
    fit: Fit | BoostedFit, shape: tuple[int, int] | None, channels: int | None
) -> tuple[int, int, int]:
    """Return C, H and W: as given, or by default those of the fit."""
    known = _known(fit)
    if shape is None and known is None:
        raise InputError(
            "shape=None: the fit does not know the shape of its images: use "
            "pixel_importance(shape=(height, width))"
        )
    C, *size = (1, 0, 0) if known is None else known
    H, W = size if shape is None else grid_shape("shape", shape)
    C = C if channels is None else checked_whole("channels", channels, 1)
    n_numbers = len(fit.design.columns) - int(fit.design.of_empty_cells.sum())
    require_pixels(C, H, W, len(fit.design.predictors), n_numbers)
    return C, H, W


def _known(fit: Fit | BoostedFit) -> tuple[int, int, int] | None:
    """Return the grid of the fit's patches or, without patches, of its data."""
    for family, _ in fit.control.mixture.shares:
        if isinstance(family, Patch):
            return (family.channels, *family.shape)
    return fit.design.grid
