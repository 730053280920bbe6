"""What lets the trees of a fit go on growing as rows come in."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from odrf.checks import checked_jobs, checked_whole
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.updating import updated_fit
from odrf.results.base import TreeResults

__all__ = ["Updatable"]

Same = TypeVar("Same", bound="Updatable")


class Updatable(TreeResults):
    """The part of the results of trees and forests that adds rows to them."""

    def update(
        self: Same,
        newdata: pd.DataFrame,
        *,
        weights: str | ArrayLike | None = None,
        revise: str | int = "auto",
        progress: bool = False,
        n_jobs: int | None = None,
    ) -> Same:
        """Return the fit with its trees grown on by further rows.

        Each tree draws from the new rows as it did from the first; all that it has drawn runs down
        it, and its nodes say what these rows do.  Then leaves with new rows are searched for splits
        as growth searches them, by the same options; rules in n are asked again at the new n, and
        where t_n has held a tree up and rises, its other leaves are searched too.

        Parameters
        ----------
        newdata : DataFrame
            Rows with responses, and the columns that the formula uses; others are ignored.
        weights : str or array of shape (m,), optional
            Their case weights.  By default the column that the fit's `weights` named; where these
            were numbers, the new rows need some.
        revise : "auto" or int, default "auto"
            Splits made on fewer rows than this are given up once their rows have grown by half, and
            the tree grows anew from there; 0 keeps every split.  More takes more time, and comes
            closer to a fit of all rows at once (``benchmarks/updating.py``).  By default 200 for a
            tree of `odrf.odt`, whose error is that of its splits, 100 for a blend, which saves the
            time of its pilots, and 0 for other forests, which average over the splits.
        progress : bool, default False
            Show a progress bar.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.

        Returns
        -------
        ODTResults or ODRFResults
            A new one; this stays as it is.  Its training rows are the old ones and then the new
            ones, and `changes` says what has changed.

        Raises
        ------
        InputError
            If new rows lack a column, or hold classes or levels that the first did not, or values
            that the option `missing` refuses; if `prune` has pruned the fit (update its ``parent``
            and prune that); if a rule in n was lost with `save`.

        Notes
        -----
        Each new row is drawn on its own: in place of a bootstrap it comes a Poisson distributed
        number of times into a tree (Oza and Russell 2001), in place of a subsample with the
        probability of the share.  So draws do not depend on how rows are dealt into batches, which
        may be of one row; splits do, as they are made by the rows that there are at the time.
        Out-of-bag results count the new rows.  In an honest tree each new row that is drawn shapes
        it or fills it, with probability 1/2.

        Scaling, levels, classes, the kinds of trees in a blend and the constants of rates stay
        what the first rows made them.  A fit that the option `alpha` has pruned is updated as it
        was before, and pruned again by the same rule.

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
        least = revise if revise == "auto" else checked_whole("revise", revise, 0)
        threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        sized = self._sized
        return type(self)(updated_fit(self.fit, newdata, weights, least, threads, progress, sized))

    @property
    def changes(self) -> pd.DataFrame:
        """What the last `update` changed, one row for each tree, before any pruning.

        Columns ``drawn``, how many of the new rows the tree drew, repetitions counted;
        ``leaves_before``; ``withdrawn``, how many splits were given up to be made anew; of the
        leaves there were then, how many were ``revisited`` (new rows have reached them, or t_n
        has risen), and of these ``split``; ``leaves``; ``depth_before`` and ``depth``.

        Raises
        ------
        InputError
            If the fit has not been updated.
        """
        if self.fit.changes is None:
            raise InputError("nothing has changed since the fit: update() adds rows to it")
        return self.fit.changes.copy()

    @staticmethod
    @abstractmethod
    def _sized(fit: Fit) -> Fit:
        """Return the fit pruned as its options say."""
