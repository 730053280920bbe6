"""Results of a guided random forest."""

from __future__ import annotations

from collections.abc import Mapping
from functools import cached_property
from typing import TYPE_CHECKING, Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import fits, plots, reports
from odrf.checks import Seed, is_whole
from odrf.engine.guided.forest import GuidedForest
from odrf.errors import InputError
from odrf.fits.fit import GuidedFit
from odrf.fits.predicting import class_labels
from odrf.options.guided import ResolvedGuidedOptions
from odrf.public import public_method, respelled
from odrf.results import explain, export, growing, predictions
from odrf.results import importance as importances
from odrf.results import proximity as proximities
from odrf.results import tree as trees
from odrf.results.importance import Drawing
from odrf.results.models import TreeModelResults
from odrf.statistics.sensitivity import (
    leaf_codes,
    regions_divided,
    remaining_impurity,
)
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from odrf.reports.consistency import ConsistencyReport
    from odrf.reports.sensitivity import Sensitivity

# Columns of the table of planes that are no coefficients.
THRESHOLD, DIVIDES = "threshold", "divides"
ALL_ROWS = "every tree uses all rows, so that none are out of bag"
GUIDED_TREES = "its regions are made by planes that they share: see planes() and codes()"
DIRECTIONS = "it combines all columns of a tree in every plane, so that there are none to compare"


class GRAFResults(TreeModelResults):
    """A fitted guided random forest (Gupta et al., GRAF), as returned by `odrf.graf`.

    Parameters
    ----------
    fit : GuidedFit
        Design, data, options and trees.

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
    _lacks: ClassVar[Mapping[str, str]] = {
        "nodes": GUIDED_TREES,
        "to_sql": "its trees are many: use to_python()",
        "splits": GUIDED_TREES,
        "pixel_importance": DIRECTIONS,
        "projection_importance": DIRECTIONS,
        "several trees": ALL_ROWS,
        "tree": GUIDED_TREES,
        "kinds": "its trees are of one kind",
        "error_path": f"{ALL_ROWS}: see growth",
        "subtrees": "regions are divided as long as they are impure: use min_split= for larger "
        "leaves",
        "growth_path": "see growth",
        "out-of-bag rows": ALL_ROWS,
        "a distribution": f"{ALL_ROWS}; use forests of odrf()",
        "rows to add": "its planes divide all regions of a tree at once, so that new rows would "
        "change all of them: fit again",
        "rows to leave out": "save it by save(data=False), and load() it again",
        "rounds": 'its trees have no order: see predict(type="trees")',
    }

    # The trees

    @property
    def control(self) -> ResolvedGuidedOptions:
        """The options of the fit, with the values that were used."""
        return self.fit.control

    @property
    def guided(self) -> GuidedForest:
        """The trees as flat arrays, each plane stored once."""
        return self.fit.guided

    @property
    def n_planes(self) -> NDArray[np.int64]:
        """Number of planes of each tree (B,): TW in section 4.4 of the paper."""
        return self.guided.n_planes

    @property
    def n_inner(self) -> NDArray[np.int64]:
        """Number of inner nodes of each tree (B,), the regions that planes divide: TNL."""
        return self.guided.n_inner

    @property
    def model_size(self) -> int:
        """How many numbers prediction needs: TW·(M + 1) + 3·TNL + TL, summed over the trees.

        M is the number of columns that a tree uses, TW its planes, TNL its inner nodes and TL its
        leaves (section 4.4 of the paper).
        """
        return int(self.guided.sizes.sum())

    @cached_property
    def growth(self) -> pd.DataFrame:
        """Total impurity after 0, 1, 2, … planes of a tree, as a share of the impurity of the root.

        Columns: ``mean`` over the trees; ``low`` and ``high``, the 10 and 90 % quantiles over the
        trees.  With classes of unequal frequency the share can increase for a while, because the
        impurity of equation (8) can increase when a region is divided.
        """
        impurity = remaining_impurity(self.guided)
        low, high = np.quantile(impurity, [0.1, 0.9], axis=0)
        index = pd.RangeIndex(impurity.shape[1], name="planes")
        return pd.DataFrame({"mean": impurity.mean(axis=0), "low": low, "high": high}, index=index)

    def codes(self, tree: int = 0) -> pd.DataFrame:
        """Return the codes of a tree's regions, one row for each leaf.

        Parameters
        ----------
        tree : int, default 0
            The number of the tree, from 0.

        Returns
        -------
        DataFrame
            Index: the number of the leaf, as in ``predict(type="leaf")``.  Columns: ``code``, a bit
            for each plane that cut a region around the leaf, 1 above its threshold and 0 else;
            ``planes``, the numbers of these planes, from 1 in the order of growth; ``count``, the
            training rows of the leaf, without those of weight 0; for a regression ``value``, for
            classes ``prediction``.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        b = self._checked_tree(tree)
        codes = leaf_codes(self.guided, b)
        nodes = np.array(list(codes), dtype=np.int64) + self.guided.root[b]
        value = self.guided.value[nodes]
        prediction: dict[str, Any] = (
            {"value": value[:, 0]}
            if self.classes is None
            else {"prediction": class_labels(value.argmax(axis=1), self.design.response)}
        )
        return pd.DataFrame(
            {
                "code": [code for code, _ in codes.values()],
                "planes": [planes for _, planes in codes.values()],
                "count": self.guided.count[nodes],
                **prediction,
            },
            index=pd.Index(list(codes), name="leaf"),
        )

    def planes(self, tree: int = 0) -> pd.DataFrame:
        """Return the planes of a tree in the units of the data, in the order of growth.

        Parameters
        ----------
        tree : int, default 0
            The number of the tree, from 0.

        Returns
        -------
        DataFrame
            Index: the number of the plane, from 1.  Columns: the coefficient of each column of the
            design that the tree uses; ``threshold``: a row goes to the left if the sum of
            coefficient times column is at most the threshold (bit 0 in `codes`), else to the right;
            ``divides``, the number of regions that the plane divides.  The coefficient of a column
            of the data that has one of these two names is ``coefficient of threshold``, or
            ``coefficient of divides``.  A missing value counts as the mean of its column in
            training, and as 1 in the column that marks it, such as ``x[missing]``, which is 0 for
            other rows.  Dates are in seconds since the first one of the training rows, and a column
            that `data_summary` calls a number by rank is its rank, from 0.

        Raises
        ------
        InputError
            If there is no such tree.
        """
        b = self._checked_tree(tree)
        guided, scaling = self.guided, self.design.scaling
        columns = guided.columns[guided.first_column[b] : guided.first_column[b + 1]]
        planes = slice(int(guided.first_plane[b]), int(guided.first_plane[b + 1]))
        terms = slice(int(guided.first_coef[b]), int(guided.first_coef[b + 1]))
        theta = guided.coef[terms].astype(np.float64).reshape(-1, max(1, len(columns)))
        theta = theta[:, : len(columns)] / scaling.range[columns]
        names = [self.design.columns[j] for j in columns]
        taken = (THRESHOLD, DIVIDES)
        names = [f"coefficient of {name}" if name in taken else name for name in names]
        table = pd.DataFrame(theta, columns=names)
        table[THRESHOLD] = guided.threshold[planes] + theta @ scaling.low[columns]
        table[DIVIDES] = regions_divided(guided)[planes]
        table.index = pd.RangeIndex(1, len(table) + 1, name="plane")
        return table

    def _checked_tree(self, tree: int) -> int:
        if not is_whole(tree) or not 0 <= tree < self.guided.n_trees:
            last = self.guided.n_trees - 1
            raise InputError(f"tree={tree!r} is not a tree of this forest: use 0 to {last}")
        return int(tree)

    # More trees
    grow = growing.grow
    combine = growing.combine

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> GuidedFit:
        return fits.updating.enlarged_guided_fit(self.fit, k, n_jobs, progress)

    def _with_trees_of(self, other: GRAFResults) -> GuidedFit:
        return fits.updating.combined_guided_fits(self.fit, other.fit)

    # Rows
    proximity = proximities.proximity
    prototypes = proximities.prototypes
    outliers = proximities.outliers
    map = proximities.map
    impute = proximities.impute

    def sensitivity(self) -> Sensitivity:
        """Return the sensitivity of each training row: its importance for the class boundaries.

        Section 8 of the paper.  In each tree, θ of a row is the number of planes that the tree had
        when the row's leaf was made, divided by the rank of the row within the leaf (equation
        (30)).  Then s = ln(1 + θ/Θ), Θ being the sum of θ over the rows of the same class (equation
        (31)).  The sensitivity is the mean of s over the trees (equation (32)).

        Returns
        -------
        Sensitivity
            With ``table``, ``overlap(svm)``, ``summary()`` and ``plot()``.

        Notes
        -----
        The paper leaves the ranks within a leaf open.  Here they follow one random order of all
        rows, which is sampled from the fit's seed and is the same for all trees.  So in each large
        region the same few rows come first in most trees, and represent the region.

        Regression is not in the paper; here all its rows count as one class.

        Case weights affect the planes, but not the sensitivities.
        """
        return self._sensitivity

    @cached_property
    def _sensitivity(self) -> Sensitivity:
        return reports.sensitivity.Sensitivity(self.fit)

    @respelled(by_name=("seed",))
    @public_method
    def approximate(
        self,
        fraction: float,
        method: str = "sample",
        *,
        seed: Seed = None,
    ) -> pd.DataFrame:
        """Return a part of the training rows, from which a model can be learned faster (section 8).

        Parameters
        ----------
        fraction : float
            The share of the rows, above 0 and at most 1; ⌈fraction · n⌉ rows are kept.
        method : {"sample", "top", "uniform"}, default "sample"
            {about rows_selected}
        seed : int, SeedSequence or Generator, optional
            Seed of the sample, which ``"top"`` does not have; by default it follows from the fit's
            seed.  With the same seed, a smaller part is contained in a larger one.

        Returns
        -------
        DataFrame
            Rows of the data with all columns, in their original order.  Rare classes may be absent.

        Raises
        ------
        InputError
            If an argument is out of range.

        Notes
        -----
        Selection by sensitivity makes the class shares more equal than in the data.  Where a rare
        class overlaps with others, models without class weights then make more errors.

        Use ``"top"`` with a forest of ``min_split=10`` or more, unless the classes are well
        separated. With pure leaves, a row surrounded by another class has a leaf to itself and gets
        a large sensitivity, so that mainly atypical rows are kept, and models learn the opposite of
        the truth.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.simulate.checkerboard().sample(300, seed=1)
        >>> fit = odrf.graf("y ~ .", data, subspace="all", n_trees=50, seed=1)
        >>> part = fit.approximate(0.25)
        >>> part.shape
        (75, 3)
        """
        k = reports.sensitivity.rows_kept(fraction, self.nobs)
        return self.fit.frame.iloc[np.sort(self.sensitivity().order(method, seed=seed)[:k])]

    # Checks
    surrogate = trees.surrogate

    def consistency(self) -> ConsistencyReport:
        """Report why no consistency theorem covers this fit.

        Returns
        -------
        ConsistencyReport
            With ``table``, ``conclusion``, ``evidence``, ``summary()`` and ``plot()``.
        """
        # no row is out of bag, and residuals of training rows in pure leaves are rounding errors
        return reports.consistency.ConsistencyReport(
            self.fit, reports.consistency.properties_of_guided(self.fit), np.empty(0)
        )

    # Predictions
    predict = predictions.predict

    # Single predictions
    shap = explain.shap
    shap_interactions = explain.shap_interactions
    row_predictor = predictions.row_predictor

    # Export
    to_python = export.to_python
    to_c = export.to_c
    to_onnx = export.to_onnx

    # Plots and summary
    plot = importances.plot

    def _summary(self, progress: bool) -> Summary:
        """Return a summary of data, options, planes, regions and importances."""
        return reports.summaries.guided_summary(
            self.fit, self._in_bag, self._measured_importance(progress)
        )

    def _drawing(self) -> Drawing:
        return "growth", lambda panel: plots.fits.plot_guided_growth(self.growth, panel)

    def _card(self) -> Card:
        return reports.summaries.guided_card(self.fit, self._in_bag)
