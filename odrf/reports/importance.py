"""Importance of predictors, directions and pixels; strength and correlation of trees."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_whole
from odrf.design.folds import rows_to_divide
from odrf.engine.memory import require_memory
from odrf.engine.trees.forest import Forest, predicted_classes
from odrf.engine.trees.routing import leaf_nodes
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit
from odrf.fits.growing import grow_fit, permutation_rises
from odrf.fits.held_out import held_out_trees, responses_held_out
from odrf.projections.base import grid_shape, require_pixels
from odrf.projections.patch import Patch
from odrf.public import public, public_method, respelled
from odrf.public.progress import progress_bar
from odrf.statistics.importance import (
    Directions,
    direction_importance,
    distinct_directions,
    held_out_importance,
    importance_by_tree,
    impurity_importance,
    out_of_bag_importance,
    permuted_importance,
    sampling_errors,
    summed_importance,
    usage,
)
from odrf.statistics.strength import Strength, of_classes, of_numbers, sizes_to_try
from odrf.text.splits import number
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes


MOST_TERMS = 4


@public
class ProjectionImportance(TableReport):
    """The most important directions (Tomita et al. 2020, section 4.5).

    The importance of a direction is the impurity decrease of the splits along it; θ and -θ count as
    one direction.  This is most useful where directions repeat, as with ``projection="sparse"`` or
    ``"axis"``; directions with estimated or continuous random coefficients hardly ever do.
    Returned by `odrf.results.trees.TreeResults.projection_importance`.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each of the `top` directions, the most important first.  Columns:
        ``direction``, as text; ``importance``, the impurity decrease of its splits, weighted by the
        nodes' shares of the rows: the mean over trees; ``share``, its share of the decrease of all
        splits; ``std_error``, the standard error of ``importance`` over trees, NaN for one tree;
        ``splits``, the number of its splits; ``trees``, the share of the trees that have one.  With
        `resamples`, ``stability``: the share of the random halves (Meinshausen and Bühlmann 2010)
        on which the direction is among the `top` again.
    coefficients : DataFrame
        The coefficients: one row for each column of the design, one column for each direction, by
        rank.  They are for columns scaled to [0, 1], with Euclidean length 1.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.trunk(p=5).sample(300, seed=1)
    >>> forest = odrf.odrf("y ~ .", data, projection="sparse", n_trees=50, seed=1)
    >>> first = forest.projection_importance(top=3).coefficients[1]
    >>> bool(first["x1"] > 0 and first["x2"] > 0)
    True
    """

    _title = "Importance of projections"
    _heading = "The most important directions"
    _note = "Coefficients are for columns scaled to [0, 1]."

    def __init__(self, fit: Fit, top: int, resamples: int, progress: bool) -> None:
        self.fit = fit
        forest = fit.forest
        directions = distinct_directions(forest)
        importance = direction_importance(forest, directions)
        chosen = np.argsort(-importance, kind="stable")[:top]
        by_tree = importance_by_tree(forest, directions, chosen)
        self.coefficients = _coefficients(forest, directions, chosen, fit.design.columns)
        total, B = importance.sum(), forest.n_trees
        splits = np.bincount(directions.of_node[directions.of_node >= 0], minlength=len(importance))
        deviation = by_tree.std(axis=0, ddof=1) if B > 1 else np.full(len(chosen), np.nan)
        self.table = pd.DataFrame(
            {
                "direction": [_in_words(column) for _, column in self.coefficients.items()],
                "importance": importance[chosen],
                "share": importance[chosen] / total if total > 0 else 0.0,
                "std_error": deviation / np.sqrt(B),
                "splits": splits[chosen],
                "trees": (by_tree > 0).mean(axis=0),
            },
            index=self.coefficients.columns,
        )
        if resamples:
            self.table["stability"] = self._stability(top, resamples, progress)

    def _stability(self, top: int, resamples: int, progress: bool) -> NDArray[np.float64]:
        """Return the share of the halves on which each direction is among the `top`."""
        fit, keys = self.fit, _keys(self.coefficients)
        groups = rows_to_divide(fit.design, fit.data).groups
        units = np.arange(len(fit.data.y)) if groups is None else groups
        n_units = int(units.max()) + 1
        repeated = np.zeros(len(keys))
        rng = np.random.default_rng(fit.control.seed)
        for _ in progress_bar(range(resamples), unit="forest", progress=progress):
            out = rng.permutation(n_units)[units] < n_units // 2
            data = replace(fit.data, weights=np.where(out, 0.0, fit.data.weights))
            forest = grow_fit("", fit.design, data, fit.request).forest
            directions = distinct_directions(forest)
            order = np.argsort(-direction_importance(forest, directions), kind="stable")[:top]
            top_keys = _keys(_coefficients(forest, directions, order, fit.design.columns))
            repeated += [key in top_keys for key in keys]
        return repeated / resamples

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the coefficients as a heat map, the most important direction first.

        At most 40 directions are drawn, and the 40 columns with the largest coefficients.
        """
        return plots.importance.plot_projections(self.coefficients, self.table["share"], ax)

    def _facts(self) -> dict[str, str]:
        return {
            "Directions shown": str(len(self.table)),
            "Share of all impurity removed": f"{self.table['share'].sum():.3g}",
        }


def _coefficients(
    forest: Forest, directions: Directions, chosen: NDArray[np.int64], columns: tuple[str, ...]
) -> pd.DataFrame:
    """Return the coefficients of the `chosen` directions; the largest of each is positive."""
    theta = np.zeros((len(columns), len(chosen)))
    for k, node in enumerate(directions.example[chosen]):
        terms = slice(forest.start[node], forest.start[node + 1])
        theta[forest.index[terms], k] = forest.coef[terms]
        theta[:, k] *= np.sign(theta[np.argmax(np.abs(theta[:, k])), k])
    ranks = pd.RangeIndex(1, len(chosen) + 1, name="rank")
    return pd.DataFrame(theta, index=pd.Index(columns, name="column"), columns=ranks)


def _keys(coefficients: pd.DataFrame) -> list[tuple[float, ...]]:
    """Return the rounded coefficients of each direction, by which directions are compared."""
    return [tuple(column.round(3)) for _, column in coefficients.items()]


def _in_words(theta: pd.Series) -> str:
    """Return a direction as a sum, the largest terms first; equal coefficients are not written."""
    terms = theta[theta != 0].sort_values(key=np.abs, ascending=False, kind="stable")
    equal = bool((terms.abs() > 0.999 * terms.abs().max()).all())
    words = [
        f"{'-' if value < 0 else '+'} {'' if equal else number(abs(value), 2) + '·'}{name}"
        for name, value in terms.head(MOST_TERMS).items()
    ]
    if len(terms) > MOST_TERMS:
        words.append(f"+ … ({len(terms)} terms)")
    return " ".join(words).removeprefix("+ ")


REMOVED, OUT_OF_BAG, HELD_OUT = "impurity removed", "out of bag", "held out"
REMOVED_BY_STEPS = "impurity of the working response removed"
FITTED_BY_STEPS = "covariance of response and score"
LOST_BY_PERMUTING = "covariance with the response lost by permuting"
BY_THEIR_OWN_ROWS = (
    "The rows that chose the splits also evaluate their importances, which favours predictors of "
    "many values: there are too few rows to hold some out."
)


class MeasuredImportance(NamedTuple):
    """Importances that are shown first, what is shared out, and what should be known of it."""

    table: pd.DataFrame
    measure: str
    notes: tuple[str, ...] = ()


def evaluated_measured(fit: AnyFit, table: pd.DataFrame, rows: str) -> MeasuredImportance:
    """Return importances evaluated by rows that did not grow the trees; `rows` names these."""
    measure = FITTED_BY_STEPS if fit.summed else REMOVED
    if _by_permuting(fit):
        measure = LOST_BY_PERMUTING
    return MeasuredImportance(table, f"{measure}, {rows}")


def _by_permuting(fit: AnyFit) -> bool:
    """Whether splits alone do not tell what predictors do: those of planes, and lines in leaves."""
    return isinstance(fit, GuidedFit) or fit.forest.lines is not None


def impurity_measured(fit: AnyFit) -> MeasuredImportance:
    """Return importances evaluated by the rows that chose the splits, for want of others."""
    measure = REMOVED_BY_STEPS if fit.summed else REMOVED
    return MeasuredImportance(impurity_table(fit), measure, (BY_THEIR_OWN_ROWS,))


def held_out_table(fit: AnyFit, progress: bool = False) -> pd.DataFrame | None:
    """Return the held-out importance of each predictor and its share; None of too few rows."""
    parts = held_out_trees(fit, progress)
    if parts is None:
        return None
    data, control, first = fit.data, fit.control, fit.design.first
    evaluated = parts, data.X, responses_held_out(fit), data.weights, first
    if _by_permuting(fit):
        importance = permuted_importance(*evaluated, control.seed, control.n_jobs)
    else:
        importance = held_out_importance(*evaluated, fit.summed, control.n_jobs)
    return with_shares(fit, importance)


def impurity_table(fit: AnyFit) -> pd.DataFrame:
    """Return the impurity importance of each predictor and its share, the largest first."""
    measure = summed_importance if fit.summed else impurity_importance
    importance = measure(fit.forest, fit.design.first)
    return with_shares(fit, importance)


def out_of_bag_table(fit: Fit, progress: bool = False) -> pd.DataFrame:
    """Return the out-of-bag importance of each predictor and its share, the largest first."""
    data = fit.data
    with progress_bar(total=fit.forest.n_trees, unit="tree", progress=progress) as bar:
        importance = out_of_bag_importance(
            fit.forest, data.X, data.y, fit.design.first, fit.draws, bar.update
        )
    return with_shares(fit, importance)


def with_shares(fit: AnyFit, importance: NDArray[np.float64]) -> pd.DataFrame:
    """Return importances (P,), the largest first, with their shares of the sum of those above 0."""
    above = np.maximum(importance, 0.0)
    total = above.sum()
    share = above / total if total > 0 else np.zeros(len(importance))
    return _sorted(fit, {"importance": importance, "share": share})


def permutation_table(fit: Fit, progress: bool = False) -> pd.DataFrame:
    """Return the permutation importance of each predictor with its errors, the largest first."""
    rise = permutation_rises(fit, progress)
    B = len(rise.of_tree)
    deviation = rise.of_tree.std(axis=0, ddof=1) if B > 1 else np.full(len(rise.of_row), np.nan)
    groups = None if fit.data.structure is None else fit.data.structure.groups
    of_trees, of_rows = deviation / np.sqrt(B), sampling_errors(rise.of_row, rise.share, groups)
    columns = {
        "importance": rise.of_tree.mean(axis=0),
        "std_error": np.hypot(of_rows, of_trees),
        "monte_carlo_error": of_trees,
    }
    return _sorted(fit, columns)


def _sorted(fit: AnyFit, columns: dict[str, NDArray[np.float64]]) -> pd.DataFrame:
    table = pd.DataFrame(columns, index=pd.Index(fit.design.predictors, name="predictor"))
    return table.sort_values("importance", ascending=False, kind="stable")


TOP = 10


@public
class PixelImportance(TableReport):
    """How often splits use each pixel (Perry 2020, section 3.2).

    Returned by `odrf.results.trees.TreeResults.pixel_importance`.

    Attributes
    ----------
    call : str
    n_splits : int
        Splits of all trees.
    table : DataFrame
        One row for each pixel, by its name, in the order of the predictors.  Columns: ``channel``,
        ``row`` and ``column``, from 0; ``count`` π_k, the splits of all trees in which the pixel,
        or the column that tells its missing values, has a nonzero coefficient; ``share``, ``count``
        divided by the number of splits.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.simulate.impulse(height=4.0).sample(200, seed=1)
    >>> forest = odrf.odrf("y ~ .", data, projection="patch", n_trees=20, seed=1)
    >>> forest.pixel_importance().table["share"].idxmax() in ("x19", "x20", "x21")
    True
    """

    _title = "Pixel importance"
    _note = "share is that of the splits in which the pixel has a nonzero coefficient."

    def __init__(
        self, fit: Fit | BoostedFit, shape: tuple[int, int] | None = None,
        channels: int | None = None,
    ) -> None:  # fmt: skip
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

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Used most": self._used_most.head(TOP)}

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
        return plots.importance.plot_pixels(self.images, ax)

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self._used_most)

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


NOTES = {
    "regression": "tree_error is the mean squared error of a tree out of bag, correlation that of "
    "two trees' residuals, bound their product (Breiman 2001, section 11). It bounds the error of "
    "very many trees: error is that of the trees that left a row out, and may be above it.",
    "classification": "strength is the mean margin out of bag, correlation that of two trees' raw "
    "margins, bound the correlation times (1 - strength²)/strength² (Breiman 2001). All are of "
    "votes of trees, as error is; the forest itself averages probabilities.",
}


@public
class StrengthCorrelation(TableReport):
    """Strength of the trees of a forest and correlation between them (Breiman 2001).

    Returned by `odrf.results.forest.ODRFResults.strength_correlation`.

    Attributes
    ----------
    fit : Fit
        A forest.
    table : DataFrame
        One row for each number of ``trees`` or, with `subset_sizes`, for each ``subset_size``, that
        of the fit first.  Columns: for classes ``strength``, the mean out-of-bag margin; for
        numbers ``tree_error``, the out-of-bag mean squared error of a tree; ``correlation`` ρ̄ of
        the trees' raw margins, or residuals, on rows that two trees both left out; ``bound``,
        Breiman's upper bound of the error of very many trees; ``error``, the out-of-bag error of
        the forest, for classes that of its votes.  For numbers the error of fewer trees may be
        above the bound.  Correlation and bound of a few trees are rough: few rows are out of bag
        for two trees.  A correlation that chance puts below 0 has no bound.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("breast_cancer")
    >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
    >>> table = forest.strength_correlation().table
    >>> bool(table["error"].iloc[-1] < table["bound"].iloc[-1])
    True
    """

    _title = "Strength and correlation"

    def __init__(self, fit: Fit, subset_sizes: Sequence[int] | None, progress: bool) -> None:
        self.fit = fit
        n_trees = fit.forest.n_trees
        first = "tree_error" if fit.kind == "regression" else "strength"
        names = ["trees", first, "correlation", "bound", "error"]
        if subset_sizes is None:
            self.table = pd.DataFrame(_strengths(fit, sizes_to_try(n_trees)), columns=names)
            return
        fits: dict[str | int, Fit] = {fit.control.subset_size: fit}
        for size in progress_bar(subset_sizes, unit="forest", progress=progress):
            fits[size] = grow_fit("", fit.design, fit.data, fit.request.giving(subset_size=size))
        table = pd.DataFrame(
            [_strengths(forest, [n_trees])[0] for forest in fits.values()], columns=names
        ).drop(columns="trees")
        table.insert(0, "subset_size", list(fits))
        self.table = table

    @property
    def by(self) -> str:
        """What differs between the rows of the table: ``"trees"`` or ``"subset_size"``."""
        return str(self.table.columns[0])

    def _facts(self) -> dict[str, str]:
        last = self.table.iloc[-1 if self.by == "trees" else 0]
        numbers = last.iloc[1:].items()
        return {str(name): "unknown" if np.isnan(one) else f"{one:.4g}" for name, one in numbers}

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {f"By {self.by}": self.table}

    def _notes(self) -> tuple[str, ...]:
        notes = [NOTES[self.fit.kind]]
        if np.isinf(self.table["bound"]).any():
            notes.append(
                "bound is inf where strength is not above 0: trees that guess no better than "
                "chance bound no error."
            )
        if self.table.isna().to_numpy().any():
            notes.append(
                "Unknown where too few rows of positive weight are out of bag; bound also where "
                "correlation is below 0."
            )
        return tuple(notes)

    @respelled(renamed={"axes": "ax"})
    @public_method
    def plot(self, *, ax: NDArray | None = None) -> NDArray[np.object_]:
        """Plot strength, correlation and error, side by side, against trees or subset size, rising.

        Parameters
        ----------
        ax : array of 3 Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        array of 3 Axes

        Raises
        ------
        InputError
            If `ax` has another number of axes.
        """
        return plots.fits.plot_strength(self.table, ax)

    def _card(self) -> Card:
        return Card(f"Strength and correlation by {self.by}", table=self.table, kept=())


def _strengths(fit: Fit, sizes: list[int]) -> list[Strength]:
    """Return strength and correlation of the fit's first trees, for each of the `sizes`."""
    data, classes = fit.data, fit.design.response.classes
    n, B = data.n_rows, fit.forest.n_trees
    require_memory(
        32.0 * n * B, f"the errors of {n} rows in {B} trees", "use fewer trees (n_trees=)"
    )
    leaves = leaf_nodes(fit.forest, data.X, fit.control.n_jobs)
    out_of_bag = fit.draws.all_unseen().T
    positive = data.weights > 0
    leaves, out_of_bag, y = leaves[positive], out_of_bag[positive], data.y[positive]
    weights = data.weights[positive]
    if classes is None:
        return of_numbers(y[:, None] - fit.forest.value[leaves, 0], out_of_bag, weights, sizes)
    predicted = predicted_classes(fit.forest.value, fit.ordered)[leaves]
    return of_classes(predicted, out_of_bag, y.astype(np.int64), weights, len(classes), sizes)
