"""Results of fits that can be updated with new rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from odrf import fits
from odrf.checks import checked_choice, checked_jobs, checked_whole, is_word
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.results.trees import TreeResults

Same = TypeVar("Same", bound="Updatable")


class Updatable(TreeResults):
    """Base class of results that can be updated with new rows."""

    def update(
        self: Same,
        newdata: pd.DataFrame,
        *,
        weights: str | ArrayLike | None = None,
        revise: str | int = "auto",
        alpha: str = "again",
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> Same:
        """Return the fit with new training rows, from which its trees continue to grow.

        Each tree draws from the new rows as it drew from the first ones.  The values of its nodes
        are computed again from all rows that it has drawn.  Then leaves with new rows are split
        further, by the same options.  Options that are functions of n are evaluated at the new n.
        If t_n had stopped a tree and is larger now, its other leaves may be split, too.

        Parameters
        ----------
        newdata : DataFrame
            Rows with responses and the columns that the formula uses; others are ignored.
        weights : str or array of shape (m,), optional
            Case weights of the new rows, as in `odrf.odt`.  By default the column that ``weights=``
            named in the fit.  Required if the fit's weights were given as numbers.  Rows of weight
            0 are not added.
        revise : "auto" or int, default "auto"
            A split that was made on fewer rows than this is removed when its node has at least 1.5
            times as many rows, and the tree grows again from there.  0 keeps all splits.  Larger
            numbers take more time and come closer to a fit to all rows at once
            (``benchmarks/many_rows/updating.py``).  By default 200 for a tree of `odrf.odt`,
            because its error depends on every single split; 100 for a blend, whose update needs no
            new pilot trees and so has time to spare; 0 for other forests, because they average over
            splits.
        alpha : {"again", "same"}, default "again"
            What is done if the fit's option `alpha` asks for a value that is chosen on held-out
            rows.  ``"again"``: it is chosen again.  For a tree this is a cross-validation of all
            rows, which takes much longer than the update if few rows are new.  ``"same"``: the
            value chosen last is kept; of a rate its constant is.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODTResults or ODRFResults
            A new result; this one does not change.  Its training rows are the old rows, followed by
            the new ones.  `changes` shows what has changed.

        Raises
        ------
        InputError
            If the new rows lack a column, have classes that the first rows do not have, or have
            missing values that the option `missing` does not allow; if the fit was pruned by
            `prune` (update its ``parent`` and prune that), or a tree that
            `surrogate` made; if the fit has `order`; if an option was a function of n that
            `odrf.load` could not restore.

        Warns
        -----
        UserWarning
            If a factor of the new rows has levels that no first row has, as in `predict`.

        Notes
        -----
        Each new row is drawn independently.  In a bootstrap forest the number of times that it
        enters a tree has a Poisson distribution (Oza and Russell 2001); with subsampling it is
        drawn with probability `sample_fraction`.  So the draws do not depend on how the rows are
        divided into batches, which may consist of one row.  The splits do depend on it, because
        they are made on the rows available at the time.  Out-of-bag results include the new rows.
        In an honest tree, a new row that is drawn belongs to either half with probability 1/2.

        Of a fit with `groups`, newdata needs that column.  New rows of a known group enter a tree
        as often as its first rows, and new groups are drawn as rows are.  Strata are not balanced
        among new rows.  A fit with `order` cannot be updated.

        Scaling, levels, classes, the shares of kinds of trees in a blend and the constants of rates
        stay as they were determined on the first rows.  A fit that was pruned by its option `alpha`
        is updated as it was before pruning, and pruned again by the same rule.

        The result has its own rows and trees, so that the time of an update grows with the number
        of all rows, however few are new.

        References
        ----------
        Oza and Russell (2001), Online bagging and boosting, AISTATS, 105-112.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> first = odrf.odrf("progression ~ .", data[:300], n_trees=10, seed=1)
        >>> fit = first.update(data[300:])
        >>> fit.nobs
        442
        >>> fit.call
        "odrf('progression ~ .', data, n_trees=10, seed=1).update(newdata)"
        >>> bool((fit.n_leaves > first.n_leaves).all())
        True
        >>> bool((fit.changes["leaves"] == fit.n_leaves).all())
        True
        """
        least = revise if is_word(revise, "auto") else checked_whole("revise", revise, 0)
        threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        sized = self._sized
        same = checked_choice("alpha", alpha, ("again", "same")) == "same"
        fit = fits.updating.updated_fit(
            self.fit, newdata, weights, least, same, threads, progress, sized
        )
        return type(self)(fit)

    @property
    def changes(self) -> pd.DataFrame:
        """What the last `update` changed, one row for each tree, before any pruning.

        Columns: ``drawn``, the new rows that the tree drew, with repetitions; ``leaves_before`` and
        ``leaves``, its numbers of leaves; ``withdrawn``, the splits that were removed; after that,
        ``revisited``, the leaves that were searched for a split because new rows reached them or
        t_n is larger, and ``split``, those of them that were split; ``depth_before`` and ``depth``.

        Raises
        ------
        InputError
            If the fit has not been updated.
        """
        if self.fit.changes is None:
            raise InputError("changes are known only after update(): call update(newdata) first")
        return self.fit.changes.copy()

    @staticmethod
    @abstractmethod
    def _sized(fit: Fit) -> Fit:
        """Return the fit pruned as its options say."""
