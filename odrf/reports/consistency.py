"""Consistency: which theorem covers a fit, and what the data show of its conditions."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.engine.trees.forest import joined
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, BoostedFit, Fit
from odrf.options.table import REFIT
from odrf.pruning.complexity import growth_ranks
from odrf.public import public, respelled
from odrf.statistics.theorems import (
    DRAWS,
    TAIL,
    FitProperties,
    conclusion,
    conditions,
    leaf_diameters,
    normal_quantiles,
    predictors_per_split,
    ratios,
    tail_index,
    tail_p,
)
from odrf.text.splits import number
from odrf.text.summary import Card, Carded, Summary

__all__ = ["ConsistencyReport"]

# Most trees whose leaf diameters are computed; more would change little.
MEASURED_TREES = 20
QUARTER = 0.25
# Residuals, and responses, with smaller p-values have heavier tails than normal ones.
HEAVY, HEAVY_RESPONSE = 0.01, 0.05


@public
class ConsistencyReport(Carded):
    """Which consistency theorem covers a fit, and what the data show of its conditions.

    Returned by the method `consistency` of results.

    Parameters
    ----------
    fit : AnyFit
        The fit.
    facts : FitProperties
        Its options and sizes, as the theorems use them.
    residuals : (n,) float64
        Residuals of a regression, out of bag if possible; empty for classes, and where residuals
        do not estimate the noise.

    Attributes
    ----------
    fit : AnyFit
    facts : FitProperties
    table : DataFrame
        One row for each condition.  Columns: ``theorem``; ``condition``; ``quantity``, its value at
        this n; ``verdict``: "holds", "does not hold", "cannot be judged" (an option given as a
        number does not tell how it would change with n), "assumed", "differs" (the fit is known to
        depart from what the theorem is about, and how much that matters is not known), or
        "contradicted" (the data speak against it).

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> report = odrf.odt(
    ...     "progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1
    ... ).consistency()
    >>> report.conclusion[:50]
    'Consistent for any continuous regression function '
    >>> report.conclusion[50:]
    'if Y is sub-Gaussian and what differs does no harm, by [Z] Theorem 1.'
    """

    def __init__(self, fit: AnyFit, facts: FitProperties, residuals: NDArray[np.float64]) -> None:
        self.fit, self._residuals = fit, residuals
        self.facts = replace(facts, tails=self._heavy_tails())
        self.table = pd.DataFrame(
            [(c.theorem, c.statement, c.quantity, c.status) for c in conditions(self.facts)],
            columns=["theorem", "condition", "quantity", "verdict"],
        )

    @cached_property
    def _tails(self) -> tuple[float, float]:
        """Hill's tail index of the residuals, and its p-value."""
        return tail_index(self._residuals), tail_p(self._residuals, self.fit.control.seed)

    def _heavy_tails(self) -> str:
        """Return the test in words if tails are heavier than normal ones; else nothing.

        Residuals of a bounded response may have heavy tails, too, where trees are too small for it:
        so those of the responses must be heavier as well.
        """
        if not len(self._residuals) or self._tails[1] > HEAVY:
            return ""
        y = self.fit.data.y
        if tail_p(y - np.median(y), self.fit.control.seed) > HEAVY_RESPONSE:
            return ""
        index, p = self._tails
        return f"tail index {index:.3g}, p = {p:.2g}"

    @property
    def conclusion(self) -> str:
        """The conclusion, in one sentence: what a theorem says, and on which conditions.

        It says so if the data speak against a condition: if the tails of residuals (p < 0.01) and
        of responses (p < 0.05) are heavier than normal ones, or if trees have far fewer leaves than
        the theorem asks for.
        """
        return conclusion(self.facts)

    @cached_property
    def evidence(self) -> pd.Series:
        """What the data show: tails of residuals, leaf sizes, leaf diameters, predictors per split.

        ``tail index`` is Hill's estimate from the largest 5 % of the absolute residuals; ``tail p``
        is the p-value of so large an index for normal residuals.

        ``rows per leaf`` are the sizes of leaves.  A leaf's diameter is the diagonal of the
        bounding box of its rows, divided by that of all rows; median and quantile are over rows
        and trees.  Theory needs the diameter to shrink as trees grow with n.  For comparison,
        ``… with a quarter of the leaves`` is the median diameter when trees had a quarter of their
        leaves.

        ``leaves without rows``, for honest fits only, is the share of leaves whose value comes from
        a node above.
        """
        sizes = self.leaf_sizes
        counts = self.predictors_per_split
        values: dict[str, float] = {}
        if len(self._residuals):
            values["tail index"], values["tail p"] = self._tails
        values |= {
            "rows per leaf, median": float(np.median(sizes)),
            "rows per leaf, largest": float(sizes.max()),
            "leaf diameter, median": float(np.median(self.leaf_diameters)),
            "leaf diameter, 90 %": float(np.quantile(self.leaf_diameters, 0.9)),
            "… with a quarter of the leaves": float(np.median(self._diameters(QUARTER))),
        }
        if self.facts.honest:
            values["leaves without rows"] = float((sizes == 0).mean())
        if counts.sum():
            values["splits on one predictor"] = counts[0] / counts.sum()
            values["predictors per split, mean"] = float(
                np.average(np.arange(1, len(counts) + 1), weights=counts)
            )
        return pd.Series(values, name="value")

    @cached_property
    def leaf_sizes(self) -> NDArray[np.int64]:
        """Number of training rows in each leaf; a row drawn twice counts twice."""
        forest = self.fit.forest
        return forest.count[forest.is_leaf()].astype(np.int64)

    @cached_property
    def predictors_per_split(self) -> NDArray[np.int64]:
        """Number of splits that combine 1, 2, 3, … predictors."""
        return predictors_per_split(self.fit.forest, self.fit.design.first)

    @cached_property
    def leaf_diameters(self) -> NDArray[np.float64]:
        """Diameter of each training row's leaf (n, b) in the first b trees; the root's is 1."""
        return self._diameters(1.0)

    def _diameters(self, share: float) -> NDArray[np.float64]:
        """Return the diameters when trees had this share of their leaves, and at least 2."""
        fit, forest = self.fit, self.fit.forest
        n_trees = min(MEASURED_TREES, forest.n_trees)
        trees = joined((forest.tree(b) for b in range(n_trees)), n_trees)
        leaves = np.maximum(np.ceil(share * trees.leaves()), 2)
        kept = growth_ranks(trees) < np.repeat(leaves, np.diff(trees.root))
        smaller = trees.keeping(trees.is_split() & kept)
        return leaf_diameters(smaller, fit.data.X, fit.control.n_jobs)

    @property
    def normal_quantiles(self) -> NDArray[np.float64]:
        """The sorted residuals, standardised by their median absolute deviation.

        For normal residuals these are normal quantiles.  The plot compares the two.

        Raises
        ------
        InputError
            For classes, whose residuals are bounded; for guided forests, which have no out-of-bag
            rows; for boosted trees of one run without held-out rows.
        """
        if not len(self._residuals):
            raise InputError(
                "normal_quantiles needs a regression with residuals that estimate the noise: "
                "classes have no tails, guided forests have no out-of-bag rows, and boosted trees "
                "need rows held out by validation=, or several runs"
            )
        return normal_quantiles(self._residuals)

    @property
    def ratios(self) -> dict[str, tuple[float, ...]]:
        """Quantities that must converge to 0, by name, each at n, 10·n, … 10¹²·n rows.

        Empty if no option of the fit is a function of n or a rate.
        """
        return ratios(self.facts)

    def summary(self) -> Summary:
        """Return conclusion, conditions and evidence as a summary: text, HTML or LaTeX."""
        evidence = self.evidence
        facts = {"Conclusion": self.conclusion}
        notes = [
            "[Z]: Zhan, Liu and Xia (arXiv 2211.12653); [P]: Manifold-aware forests (Perry et "
            "al.). A rate is judged by what its rule gives at n, 10 n, ... 10^12 n rows and beyond."
        ]
        if len(self._residuals):
            index, p = evidence["tail index"], evidence["tail p"]
            notes.append(
                "Tested: are the tails of the residuals heavier than those of a normal "
                f"distribution? Hill's tail index of the largest {100 * TAIL:.0f} % of |residuals| "
                f"is {index:.3g}, p = {p:.2g} by {DRAWS} normal samples."
            )
        fact = self.facts
        if fact.forest and not fact.limited and fact.drawn < 1 and not fact.honest:
            notes.append(
                "A later version of [Z] (arXiv 2211.12653v4) announces consistency of fully grown "
                "forests on subsamples."
            )
        if isinstance(self.fit, Fit) and self.fit.changes is not None:
            notes.append(
                "The fit was updated, and splits that were made on fewer rows may have stayed: the "
                "results are about trees that are grown on all rows at once."
            )
        if isinstance(self.fit, BoostedFit) and self.fit.control.leaf_values == REFIT:
            notes.append(
                "A later version of [Z] (arXiv 2211.12653v4) announces consistency of boosting by "
                'orthogonal matching pursuit, as leaf_values="refit" is.'
            )
        sections = {
            "Conditions": self.table.set_index("theorem"),
            "Evidence": evidence.map(lambda value: number(value, 3)).to_frame(),
        }
        return Summary("Consistency", self.fit.call, facts, sections, tuple(notes))

    @respelled(renamed={"axes": "ax"})
    def plot(self, *, ax: NDArray | None = None) -> NDArray:
        """Plot the ratios against n, the tails of the residuals, leaf sizes and split sizes.

        Parameters
        ----------
        ax : array of 4 Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        array of 4 Axes

        Raises
        ------
        InputError
            If `ax` has another number of axes.
        """
        tails = self.normal_quantiles if len(self._residuals) else None
        return plots.plot_consistency(
            self.facts.n, self.ratios, tails, self.leaf_sizes, self.predictors_per_split, ax
        )

    def _card(self) -> Card:
        conditions = self.table.set_index("theorem").rename_axis(None)
        return Card("Consistency", {"Conclusion": self.conclusion}, conditions)
