"""Whether theory covers a fit, and whether the data look as it supposes."""

from __future__ import annotations

from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.engine.trees.forest_arrays import joined
from odrf.errors import InputError
from odrf.fits.fit import AnyFit
from odrf.pruning.complexity import growth_ranks
from odrf.statistics.evidence import (
    leaf_diameters,
    normal_quantiles,
    predictors_per_split,
    tail_index,
    tail_p,
)
from odrf.statistics.theorems import Facts, conclusion, conditions, ratios
from odrf.text.summary import Summary

__all__ = ["ConsistencyReport"]

# Trees whose leaves are measured: they are much alike.
MEASURED = 20
QUARTER = 0.25
LEVEL = 0.01


class ConsistencyReport:
    """What theory says of a fit, and what the data say of theory's conditions.

    `odrf.results.base.TreeResults.consistency` makes it.

    Parameters
    ----------
    fit : AnyFit
    facts : Facts
        What theory asks of it.
    residuals : (n,) float64
        Residuals of a regression, out of bag if there are such; empty for classes, and where
        they say nothing of the noise.

    Attributes
    ----------
    fit : AnyFit
    facts : Facts
    table : DataFrame
        One row for each condition: ``theorem``, ``condition``, ``quantity`` at this n, and
        ``verdict`` on the rule: it holds, it does not, it cannot be judged (a number says nothing
        of how it would go with n), or it is assumed.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> report = odrf.odt(
    ...     "progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1
    ... ).consistency()
    >>> report.conclusion
    'Consistent for any continuous regression function, by [Z] Theorem 1.'
    """

    def __init__(self, fit: AnyFit, facts: Facts, residuals: NDArray[np.float64]) -> None:
        self.fit, self.facts, self._residuals = fit, facts, residuals
        self.table = pd.DataFrame(
            [(c.theorem, c.statement, c.quantity, c.status) for c in conditions(self.facts)],
            columns=["theorem", "condition", "quantity", "verdict"],
        )

    @property
    def conclusion(self) -> str:
        """In a sentence, what follows."""
        return conclusion(self.facts)

    @cached_property
    def evidence(self) -> pd.Series:
        """Numbers by name: tails, leaf sizes, leaf diameters, predictors per split.

        ``tail index`` is Hill's, of the largest 5 % of the residuals; ``tail p`` how probable so
        large a one is if they are normal.  A leaf's diameter is the diagonal of the box around
        its rows, as a share of that of all rows, told row by row; theory needs it to shrink as
        trees grow with n, so the median follows for trees with a quarter of these leaves.  An
        honest fit also has ``leaves without rows``, the share of its leaves whose value is from
        above.
        """
        sizes = self.leaf_sizes
        counts = self.predictors_per_split
        found: dict[str, float] = {}
        if len(self._residuals):
            seed = self.fit.control.seed
            found["tail index"] = tail_index(self._residuals)
            found["tail p"] = tail_p(self._residuals, seed)
        found |= {
            "rows per leaf, median": float(np.median(sizes)),
            "rows per leaf, largest": float(sizes.max()),
            "leaf diameter, median": float(np.median(self.leaf_diameters)),
            "leaf diameter, 90 %": float(np.quantile(self.leaf_diameters, 0.9)),
            "… with a quarter of the leaves": float(np.median(self._diameters(QUARTER))),
        }
        if self.facts.honest:
            found["leaves without rows"] = float((sizes == 0).mean())
        if counts.sum():
            found["splits on one predictor"] = counts[0] / counts.sum()
            found["predictors per split, mean"] = float(
                np.average(np.arange(1, len(counts) + 1), weights=counts)
            )
        return pd.Series(found, name="value")

    @cached_property
    def leaf_sizes(self) -> NDArray[np.int64]:
        """Training rows of each leaf, a row drawn twice counted twice."""
        forest = self.fit.forest
        return forest.count[forest.is_leaf()].astype(np.int64)

    @cached_property
    def predictors_per_split(self) -> NDArray[np.int64]:
        """How many splits combine 1, 2, 3 … predictors."""
        return predictors_per_split(self.fit.forest, self.fit.design.first)

    @cached_property
    def leaf_diameters(self) -> NDArray[np.float64]:
        """Diameter of each training row's leaf in the first trees, (n, B), that of all being 1."""
        return self._diameters(1.0)

    def _diameters(self, share: float) -> NDArray[np.float64]:
        """Return the diameters when trees had this share of their leaves, 2 or more."""
        fit, forest = self.fit, self.fit.forest
        some = min(MEASURED, forest.n_trees)
        trees = joined((forest.tree(b) for b in range(some)), some)
        leaves = np.maximum(np.ceil(share * trees.leaves()), 2)
        kept = growth_ranks(trees) < np.repeat(leaves, np.diff(trees.root))
        young = trees.keeping(trees.is_split() & kept)
        return leaf_diameters(young, fit.data.X, fit.control.n_jobs)

    @property
    def normal_quantiles(self) -> NDArray[np.float64]:
        """The sorted residuals as a normal's would be, for the picture of the tails.

        Raises
        ------
        InputError
            For classes, whose indicators are bounded: there are no tails to look at.  For a guided
            forest, whose leaves are pure, and for boosted trees without rows held out.
        """
        if not len(self._residuals):
            raise InputError(
                "normal_quantiles needs residuals that show the noise: classes have no tails, "
                "guided forests and boosted trees no rows out of bag"
            )
        return normal_quantiles(self._residuals)

    @property
    def ratios(self) -> dict[str, tuple[float, ...]]:
        """What has to go to 0, at n, 10·n, … 10¹²·n rows; empty where the fit has no rule in n."""
        return ratios(self.facts)

    def summary(self) -> Summary:
        """Return conclusion, conditions and evidence as a summary."""
        evidence = self.evidence
        facts = {"Conclusion": self.conclusion}
        notes = [
            "[Z]: Zhan, Liu and Xia (arXiv 2211.12653); [P]: Manifold-aware forests (Perry et "
            "al.). A rate is judged by what its rule gives at n, 10 n, ... 10^12 n rows and beyond."
        ]
        if len(self._residuals):
            heavy = evidence["tail p"] < LEVEL
            notes.append(
                "The residuals' tails are heavier than a normal distribution's: that the response "
                "is sub-Gaussian is doubtful."
                if heavy
                else "The residuals' tails are no heavier than a normal distribution's."
            )
        own = self.facts
        if own.forest and not own.limited and own.drawn < 1 and not own.honest:
            notes.append(
                "A later version of [Z] (arXiv 2211.12653v4) announces consistency of fully grown "
                "forests on subsamples."
            )
        sections = {
            "Conditions": self.table.set_index("theorem"),
            "Evidence": evidence.to_frame(),
        }
        return Summary("Consistency", self.fit.call, facts, sections, tuple(notes))

    def plot(self, *, axes: NDArray | None = None) -> NDArray:
        """Draw rates along n, tails of the residuals, leaf sizes, and predictors per split.

        Parameters
        ----------
        axes : array of 4 Axes, optional
            Where to draw; by default on a new figure.

        Returns
        -------
        array of 4 Axes
        """
        tails = self.normal_quantiles if len(self._residuals) else None
        return plots.plot_consistency(
            self.facts.n, self.ratios, tails, self.leaf_sizes, self.predictors_per_split, axes
        )

    def __repr__(self) -> str:
        return f"ConsistencyReport: {self.conclusion}"
