"""Results of fits that can be updated with new rows."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from odrf.checks import checked_choice, checked_jobs, checked_whole, is_word
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.updating import updated_fit
from odrf.reports.drift.drift_path import DriftPath, drift_of
from odrf.results.base import TreeResults

__all__ = ["Updatable"]

# A sample of fewer rows says nothing.
FEWEST_KEPT = 10

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
        keep: int | None = None,
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
        keep : int, optional
            The most training rows that are kept, at least 10.  They are a random sample of all rows
            so far, the first ones included: each has the same chance, whatever its weight.  By
            default that of the last update; without one before, all rows are kept.  It can be
            lowered later, but not raised once rows have left.
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
            `odrf.load` could not restore; if `keep` is not a whole number of at least 10, is larger
            than before, or does not go with an option of the fit (`honest`, `groups`, `strata`,
            surrogates, `split_scale`, a `max_leaves` that depends on n, and families that rotate
            all columns).

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

        If few rows are new, at most one for each 16 training rows, only the nodes on their paths
        are computed, and the rows of the leaves at the ends are searched.  Rows and trees are not
        copied: the new result has them, and an earlier one turns them back when it is asked.  So
        an update takes time of the depth of the trees, not of the number of rows
        (``benchmarks/many_rows/updating_rows.py``).  The first such update of a fit sets this up,
        and takes time of all rows; so does the first question to an updated fit, and an update of a
        fit that is not the last one.  What takes time of all nodes is pruning, by the option
        `alpha`.  Of a fit whose options are named under `keep` above all nodes are computed, or
        copied.

        With `keep`, rows that leave also leave the nodes on their paths: counts, weights and values
        of nodes, and all that is computed from them or from training rows, out-of-bag results too,
        are those of the rows that are kept, not scaled to all rows.  A split of which a child is
        left with fewer than `min_leaf` rows is removed, and its node is searched again.  Other
        splits change by `revise` only: the values of leaves follow a change of the distribution at
        once, as far as the sample does, the splits more slowly.  Which rows are kept follows from
        the seed and their numbers in the stream (those with the smallest hashes, Duffield, Lund and
        Thorup 2007), and does not depend on the batches; nor do the draws of the trees.
        `drift_path` has the errors of all rows, kept or not, in at most 1,024 blocks.

        References
        ----------
        Duffield, Lund and Thorup (2007), Priority sampling for estimation of arbitrary subset sums,
        Journal of the ACM 54 (6).

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
        >>> first.update(data[300:], keep=200).nobs
        200
        """
        least = revise if is_word(revise, "auto") else checked_whole("revise", revise, 0)
        threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
        sized = self._sized
        same = checked_choice("alpha", alpha, ("again", "same")) == "same"
        most = None if keep is None else checked_whole("keep", keep, FEWEST_KEPT)
        fit = updated_fit(self.fit, newdata, weights, least, same, most, threads, progress, sized)
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

    def drift_path(self, rows: int | None = None) -> DriftPath:
        """Return the errors of the rows of all updates, as they came.

        Each row is predicted by the fit before the update that it came with, so it has no part in
        its own prediction, nor have later rows.  Where old and new rows follow one distribution,
        errors fall as the fit learns, or stay level.  A rise tells of drift, or of rows that are
        harder to predict; the out-of-bag error, in which new rows have a part, shows it later.

        Parameters
        ----------
        rows : int, optional
            Size of the blocks of rows whose errors are shown; the last one may be smaller.  By
            default each update is a block.  If updates had `keep`, only the errors of whole
            updates are known: blocks then have at least so many rows.

        Returns
        -------
        DriftPath
            With ``table``, ``summary()`` and ``plot()``.

        Raises
        ------
        InputError
            If the fit has not been updated, or comes from `combine` after its updates; if `rows` is
            out of range.

        Notes
        -----
        Standard errors are those of independent rows.  Two means are compared for each block, and
        a block of the same distribution is above 3 standard errors about once in 700 blocks, if the
        losses of a block are many and not too skew.

        References
        ----------
        Gama, Sebastião and Rodrigues (2013), On evaluating stream learning algorithms, Machine
        Learning 90, 317-346: errors of rows that are predicted first and learned then.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> fit = odrf.odt("progression ~ .", data[:200], alpha=None, seed=1).update(data[200:])
        >>> fit.drift_path(rows=121).table.index.tolist()
        [200, 321]
        """
        return drift_of(self.fit, rows)

    @staticmethod
    @abstractmethod
    def _sized(fit: Fit) -> Fit:
        """Return the fit pruned as its options say."""
