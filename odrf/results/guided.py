"""Results of a guided random forest."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import is_whole
from odrf.engine.guided.guided_forest import GuidedForest
from odrf.errors import InputError
from odrf.fits.combining import combined_guided_fits
from odrf.fits.enlarging import enlarged_guided_fit
from odrf.fits.guided_fit import GuidedFit
from odrf.fits.prediction.scores import mean_loss
from odrf.options.guided_control import GuidedControl
from odrf.reports.consistency import ConsistencyReport
from odrf.reports.consistency_facts import facts_of_guided
from odrf.reports.guided_summary import guided_card, guided_summary
from odrf.reports.sensitivity import Sensitivity, rows_kept
from odrf.results.extendable import Extendable
from odrf.results.panelled import Drawing, Panelled
from odrf.results.row_predicting import RowPredicting
from odrf.statistics.guidance import leaf_codes, regions_divided, remaining_impurity
from odrf.text.summary import Summary

__all__ = ["GRAFResults"]


class GRAFResults(Extendable, RowPredicting, Panelled):
    """A fitted guided random forest (Gupta et al., GRAF).

    Parameters
    ----------
    fit : GuidedFit
        Design, data, options and the trees.

    Attributes
    ----------
    fit : GuidedFit

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.graf("diagnosis ~ .", odrf.load_data("breast_cancer"), n_trees=20, seed=1)
    >>> forest.codes(0).loc[:, "code"].is_unique
    True
    """

    fit: GuidedFit

    def __init__(self, fit: GuidedFit) -> None:
        self.fit = fit

    @property
    def control(self) -> GuidedControl:
        """Every option of the fit, resolved."""
        return self.fit.control

    @property
    def guided(self) -> GuidedForest:
        """The trees as flat arrays, each plane stored once."""
        return self.fit.guided

    @property
    def n_planes(self) -> NDArray[np.int64]:
        """Planes of each tree (B,): TW of section 4.4."""
        return self.guided.n_planes

    @property
    def n_inner(self) -> NDArray[np.int64]:
        """Inner nodes of each tree (B,), regions that a plane divides: TNL."""
        return self.guided.n_inner

    @property
    def model_size(self) -> int:
        """Numbers that prediction needs: TW·(M + 1) + 3·TNL + TL, summed over the trees.

        M is the number of columns that a tree uses.
        """
        return int(self.guided.sizes.sum())

    @cached_property
    def training_error(self) -> float:
        """Mean squared error or misclassification rate of the training rows.

        It says nothing of new rows: trees grow until their regions are pure.
        """
        return mean_loss(self.fit, self._fitted)

    @cached_property
    def growth(self) -> pd.DataFrame:
        """What share of the impurity is left after 0, 1, 2, … planes of a tree.

        Columns ``mean`` over the trees, and ``low`` and ``high``, their 10 and 90 % quantiles.
        Where some classes are rarer than others it can rise for a while: that of equation (8)
        need not fall when a region is divided.
        """
        left = remaining_impurity(self.guided)
        low, high = np.quantile(left, [0.1, 0.9], axis=0)
        index = pd.RangeIndex(left.shape[1], name="planes")
        return pd.DataFrame({"mean": left.mean(axis=0), "low": low, "high": high}, index=index)

    def codes(self, tree: int = 0) -> pd.DataFrame:
        """Return the codes of a tree's regions, one row for each leaf.

        Parameters
        ----------
        tree : int, default 0

        Returns
        -------
        DataFrame
            Index: the leaf's number, as ``predict(type="leaf")`` has it.  ``code``, its bits, 1
            beyond a plane; ``planes``, which planes gave them, from 1 in the order of growth
            (a plane that does not cut a region gives it none); ``count``, its training rows; for
            a regression ``value``; for classes ``prediction``.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        b = self._tree(tree)
        found = leaf_codes(self.guided, b)
        nodes = np.array(list(found), dtype=np.int64) + self.guided.root[b]
        value = self.guided.value[nodes]
        said: dict[str, Any] = (
            {"value": value[:, 0]}
            if self.classes is None
            else {"prediction": self.classes[value.argmax(axis=1)]}
        )
        return pd.DataFrame(
            {
                "code": [code for code, _ in found.values()],
                "planes": [planes for _, planes in found.values()],
                "count": self.guided.count[nodes],
                **said,
            },
            index=pd.Index(list(found), name="leaf"),
        )

    def planes(self, tree: int = 0) -> pd.DataFrame:
        """Return the planes of a tree in the user's units, in the order of its growth.

        Parameters
        ----------
        tree : int, default 0

        Returns
        -------
        DataFrame
            Index: the plane's number, from 1.  A column for each column that the tree uses, with
            its coefficient; ``threshold``: a row lies beyond the plane where the sum is above it;
            ``divides``, how many regions it divides.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        b = self._tree(tree)
        guided, scaling = self.guided, self.design.scaling
        columns = guided.columns[guided.first_column[b] : guided.first_column[b + 1]]
        own = slice(int(guided.first_plane[b]), int(guided.first_plane[b + 1]))
        terms = slice(int(guided.first_coef[b]), int(guided.first_coef[b + 1]))
        theta = guided.coef[terms].astype(np.float64).reshape(-1, max(1, len(columns)))
        theta = theta[:, : len(columns)] / scaling.range[columns]
        table = pd.DataFrame(theta, columns=[self.design.columns[j] for j in columns])
        table["threshold"] = guided.threshold[own] + theta @ scaling.low[columns]
        table["divides"] = regions_divided(guided)[own]
        table.index = pd.RangeIndex(1, len(table) + 1, name="plane")
        return table

    def _tree(self, tree: int) -> int:
        if not is_whole(tree) or not 0 <= tree < self.guided.n_trees:
            last = self.guided.n_trees - 1
            raise InputError(f"tree={tree!r} is no tree of this forest: use 0 to {last}")
        return int(tree)

    def sensitivity(self) -> Sensitivity:
        """Ask how much each training row matters to where the classes part (section 8).

        θ of a row is the number of planes that its tree had when its leaf was made, divided by
        the rank of the row among those of the leaf, equation (30); s = ln(1 + θ/Θ), Θ being the
        sum of θ over the row's class, equation (31); its mean over the trees is the sensitivity.

        Returns
        -------
        Sensitivity
            With ``table``, ``overlap(svm)``, ``summary()`` and ``plot()``.

        Notes
        -----
        The rank is arbitrary in the paper.  Here it is that in one random order of all rows, drawn
        from the fit's seed, the same for all trees: so some rows of each large region come first
        in most trees, and are kept as its examples.

        A regression is ours, not in the paper: its rows are all of one class.

        Case weights count for the planes, not for the sensitivities.
        """
        return self._sensitivity

    @cached_property
    def _sensitivity(self) -> Sensitivity:
        return Sensitivity(self.fit)

    def approximate(
        self,
        fraction: float,
        method: str = "sample",
        seed: int | np.random.SeedSequence | np.random.Generator | None = None,
    ) -> pd.DataFrame:
        """Return a part of the training rows to learn from instead of all (section 8).

        Parameters
        ----------
        fraction : float
            The share of the rows, above 0 and at most 1; ⌈fraction · n⌉ rows are kept.
        method : {"sample", "top", "uniform"}, default "sample"
            - ``"sample"``: drawn without replacement, in proportion to the sensitivities.
            - ``"top"``: those of the largest sensitivity.
            - ``"uniform"``: drawn without replacement, all alike, to compare with.
        seed : int, SeedSequence or Generator, optional
            Of what is drawn; by default it follows from the fit's seed.  With one seed a smaller
            part belongs to a larger one.

        Returns
        -------
        DataFrame
            Rows of the data, all columns, in their order.  A class may be without any.

        Raises
        ------
        InputError
            If an argument is out of range.

        Notes
        -----
        By sensitivity classes come more nearly equally often than they do in the data: models that
        do not weigh their classes then err more often where classes are rare and overlap.

        With ``"top"`` grow the forest with ``min_split=10`` or more unless classes are well apart.
        In leaves that are pure a row amidst another class stands alone, and so comes first, while
        those around it share a leaf: where classes overlap, the wrong rows are kept, and models
        learn the opposite.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.checkerboard().sample(300, seed=1)
        >>> fit = odrf.graf("y ~ .", data, subspace="all", n_trees=50, seed=1)
        >>> part = fit.approximate(0.25)
        >>> part.shape
        (75, 3)
        """
        k = rows_kept(fraction, self.nobs)
        return self.fit.frame.iloc[np.sort(self.sensitivity().order(method, seed)[:k])]

    def consistency(self) -> ConsistencyReport:
        """Ask which theorem covers this fit: none that is known, and why.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.
        """
        # no row is out of bag, and what pure leaves miss of their own rows is rounding
        return ConsistencyReport(self.fit, facts_of_guided(self.fit), np.empty(0))

    def _with_more(self, k: int, n_jobs: int, progress: bool) -> GRAFResults:
        return GRAFResults(enlarged_guided_fit(self.fit, k, n_jobs, progress))

    def _with_trees_of(self, other: GRAFResults) -> GRAFResults:
        return GRAFResults(combined_guided_fits(self.fit, other.fit))

    def summary(self) -> Summary:
        """Return a summary: data, options, planes and regions, importances."""
        return guided_summary(self.fit, self._fitted)

    def _drawing(self) -> Drawing:
        return "growth", lambda panel: plots.plot_guided_growth(self.growth, panel)

    def __repr__(self) -> str:
        return guided_card(self.fit, self._fitted)
