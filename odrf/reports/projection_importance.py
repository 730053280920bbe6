"""The directions that matter most to a forest."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf import plots
from odrf.engine.trees.forest_arrays import Forest
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.statistics.importance import (
    Directions,
    direction_importance,
    distinct_directions,
    importance_by_tree,
)
from odrf.text.summary import Summary
from odrf.text.wording import number

if TYPE_CHECKING:
    from matplotlib.axes import Axes

__all__ = ["ProjectionImportance"]

MOST_TERMS = 4


class ProjectionImportance:
    """Directions by the impurity that splits along them remove (Tomita et al. 2020, section 4.5).

    θ and -θ are one direction.  `odrf.results.base.TreeResults.projection_importance` makes it.
    It tells most where directions come again, as with ``projection="sparse"`` or ``"axis"``:
    those that are estimated, or have random weights, hardly ever do.

    Parameters
    ----------
    fit : Fit
    top : int
        How many directions, at most.
    resamples : int
        How many random halves of the rows to grow it again on.
    progress : bool
        Show a progress bar.

    Attributes
    ----------
    table : DataFrame
        A row for each of the `top` directions, the most important first.  ``direction``, in
        words; ``importance``, the impurity that its splits remove, weighted by the share of the
        rows, a mean over trees; ``share`` of what all splits remove; ``std_error``, its standard
        error over trees, NaN for one tree; ``splits``, how many there are; ``trees``, the share of
        the trees that have one.  With `resamples`, ``stability``: the share of the halves of the
        rows (Meinshausen and Bühlmann 2010) on which it is again among the `top`.
    coefficients : DataFrame
        Its coefficients, of length 1 on columns scaled to [0, 1]: columns of the design by rank.

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
        spread = by_tree.std(axis=0, ddof=1) if B > 1 else np.full(len(chosen), np.nan)
        self.table = pd.DataFrame(
            {
                "direction": [_in_words(column) for _, column in self.coefficients.items()],
                "importance": importance[chosen],
                "share": importance[chosen] / total if total > 0 else 0.0,
                "std_error": spread / np.sqrt(B),
                "splits": splits[chosen],
                "trees": (by_tree > 0).mean(axis=0),
            },
            index=self.coefficients.columns,
        )
        if resamples:
            self.table["stability"] = self._stability(top, resamples, progress)

    def _stability(self, top: int, resamples: int, progress: bool) -> NDArray[np.float64]:
        """Return how often each direction is among the first of the forests on halves."""
        fit, own = self.fit, _keys(self.coefficients)
        found = np.zeros(len(own))
        rng = np.random.default_rng(fit.control.seed)
        for _ in tqdm(range(resamples), unit="forest", disable=not progress):
            out = rng.permutation(len(fit.data.y)) < len(fit.data.y) // 2
            data = replace(fit.data, weights=np.where(out, 0.0, fit.data.weights))
            forest = grow_fit("", fit.design, data, fit.request).forest
            directions = distinct_directions(forest)
            order = np.argsort(-direction_importance(forest, directions), kind="stable")[:top]
            again = _keys(_coefficients(forest, directions, order, fit.design.columns))
            found += [key in again for key in own]
        return found / resamples

    def summary(self) -> Summary:
        """Return the table as a summary with text, HTML and LaTeX output."""
        facts = {
            "Directions shown": str(len(self.table)),
            "Share of all impurity removed": f"{self.table['share'].sum():.3g}",
        }
        note = "Coefficients are for columns scaled to [0, 1]."
        sections = {"The most important directions": self.table}
        return Summary("Importance of projections", self.fit.call, facts, sections, (note,))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the coefficients as a heat map, the most important direction first.

        Parameters
        ----------
        ax : Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        Axes
        """
        return plots.plot_projections(self.coefficients, self.table["share"], ax)

    def __repr__(self) -> str:
        return f"ProjectionImportance\n{self.table.to_string()}"


def _coefficients(
    forest: Forest, directions: Directions, chosen: NDArray[np.int64], columns: tuple[str, ...]
) -> pd.DataFrame:
    """Return the directions' coefficients, the largest of each positive."""
    theta = np.zeros((len(columns), len(chosen)))
    for k, node in enumerate(directions.example[chosen]):
        terms = slice(forest.start[node], forest.start[node + 1])
        theta[forest.index[terms], k] = forest.coef[terms]
        theta[:, k] *= np.sign(theta[np.argmax(np.abs(theta[:, k])), k])
    ranks = pd.RangeIndex(1, len(chosen) + 1, name="rank")
    return pd.DataFrame(theta, index=pd.Index(columns, name="column"), columns=ranks)


def _keys(coefficients: pd.DataFrame) -> list[tuple[float, ...]]:
    """Return what tells directions apart."""
    return [tuple(column.round(3)) for _, column in coefficients.items()]


def _in_words(theta: pd.Series) -> str:
    """Write a direction as a sum, its largest terms first; those of equal size without factors."""
    terms = theta[theta != 0].sort_values(key=np.abs, ascending=False, kind="stable")
    equal = bool((terms.abs() > 0.999 * terms.abs().max()).all())
    words = [
        f"{'-' if value < 0 else '+'} {'' if equal else number(abs(value), 2) + '·'}{name}"
        for name, value in terms.head(MOST_TERMS).items()
    ]
    if len(terms) > MOST_TERMS:
        words.append(f"+ … ({len(terms)} terms)")
    return " ".join(words).removeprefix("+ ")
