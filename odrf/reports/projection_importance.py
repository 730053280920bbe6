"""Importance of directions: those whose splits decrease the impurity most."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.design.folds import rows_to_divide
from odrf.engine.trees.forest import Forest
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.public import public
from odrf.public.progress import progress_bar
from odrf.statistics.importance import (
    Directions,
    direction_importance,
    distinct_directions,
    importance_by_tree,
)
from odrf.text.splits import number
from odrf.text.summary import Card, Carded, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ProjectionImportance"]

MOST_TERMS = 4


@public
class ProjectionImportance(Carded):
    """The most important directions (Tomita et al. 2020, section 4.5).

    The importance of a direction is the impurity decrease of the splits along it; θ and -θ count as
    one direction.  This is most useful where directions repeat, as with ``projection="sparse"`` or
    ``"axis"``; directions with estimated or continuous random coefficients hardly ever do.
    Returned by `odrf.results.base.TreeResults.projection_importance`.

    Parameters
    ----------
    fit : Fit
    top : int
        Most directions.
    resamples : int
        Number of random halves of the rows on which the model is fitted again.
    progress : bool
        Show a progress bar.

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

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        note = "Coefficients are for columns scaled to [0, 1]."
        sections = {"The most important directions": self.table}
        return Summary("Importance of projections", self.fit.call, self._facts(), sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Plot the coefficients as a heat map, the most important direction first.

        At most 40 directions are drawn, and the 40 columns with the largest coefficients.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_projections(self.coefficients, self.table["share"], ax)

    def _card(self) -> Card:
        return Card("Importance of projections", self._facts(), self.table)

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
    """Return a direction as text: a sum, the largest terms first.

    Coefficients that are all equal in size are not written.
    """
    terms = theta[theta != 0].sort_values(key=np.abs, ascending=False, kind="stable")
    equal = bool((terms.abs() > 0.999 * terms.abs().max()).all())
    words = [
        f"{'-' if value < 0 else '+'} {'' if equal else number(abs(value), 2) + '·'}{name}"
        for name, value in terms.head(MOST_TERMS).items()
    ]
    if len(terms) > MOST_TERMS:
        words.append(f"+ … ({len(terms)} terms)")
    return " ".join(words).removeprefix("+ ")
