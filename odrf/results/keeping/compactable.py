"""Results that can forget their training rows, and what their predictions do not need."""

from __future__ import annotations

from typing import Any, TypeVar

from odrf.checks import is_whole
from odrf.engine.trees.distinct_values import BITS
from odrf.errors import InputError
from odrf.fits.keeping.without_rows import compacted_fit
from odrf.public import public
from odrf.reports.compact.compaction_report import CompactionReport
from odrf.results.keeping.forgetting import ForgettingResults

__all__ = ["CompactableResults"]

Own = TypeVar("Own", bound="CompactableResults")


@public
class CompactableResults(ForgettingResults):
    """Base class of trees, forests and boosted trees, which can be made smaller."""

    fit: Any

    def compact(self: Own, *, bits: int = 32) -> Own:
        """Return a result that keeps only what predicts, a fraction of the memory.

        Nodes keep their direction, threshold and children, in the layout that predictions read.
        Each different value of leaves is kept once: the mean response, or the class shares.  So
        pure leaves, of which there are many alike, take no room for their shares.  Counts, weights,
        impurities and the values of inner nodes are forgotten.

        Parameters
        ----------
        bits : {32, 16}, default 32
            How values of leaves are rounded: to the nearest number of 32 bits, or to the nearest of
            65,536 evenly spaced numbers between the smallest and the largest.  Means of a response
            that have no more than 65,536 different values keep 32 bits, which takes no more room.
            `compaction` tells how much rounding changes predictions.

        Returns
        -------
        result
            Of the same class.  It predicts new rows, also out of bag and by each tree, and can be
            saved.  What needs nodes raises `InputError`: importances by impurity, rules and tables
            of nodes, plots of trees, pruning, more trees, updates, leaves of rows and what follows
            from them, exports, and new rows with empty cells in columns that had none.

        Raises
        ------
        InputError
            If `bits` is another number; if the trees are compact already, or have surrogates; if
            leaves are refitted in each round of boosting; if out-of-bag rows have chosen how a
            forest is pruned, and the training rows are kept.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("breast_cancer")
        >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
        >>> small = forest.compact().without_data()
        >>> bool((small.predict(data) == forest.predict(data)).all())
        True
        >>> bool(small.forest.nbytes < forest.forest.nbytes / 2)
        True
        """
        if not is_whole(bits) or bits not in BITS:
            raise InputError(f"bits={bits!r}: use 32 or 16")
        return type(self)(compacted_fit(self.fit, int(bits)))  # type: ignore[call-arg]

    def compaction(self) -> CompactionReport:
        """Report what a compact fit has kept, and how much its predictions differ.

        Returns
        -------
        CompactionReport
            With ``table``, ``changes`` and ``summary()``.

        Raises
        ------
        InputError
            If the fit is not compact.

        Examples
        --------
        >>> import odrf
        >>> fit = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=20, seed=1)
        >>> fit.compact(bits=16).compaction().changes.columns.tolist()
        ['largest change', 'mean change']
        """
        return CompactionReport(self.fit)
