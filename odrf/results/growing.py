"""Fits enlarged by more trees, combined, and updated with new rows."""

from __future__ import annotations

from typing import Any, Protocol, TypeVar

import pandas as pd
from numpy.typing import ArrayLike

from odrf import fits
from odrf.checks import MOST, checked_choice, checked_jobs, checked_whole, is_word
from odrf.errors import InputError
from odrf.fits.fit import AnyFit, Fit
from odrf.public import public, public_method
from odrf.results.absent import known
from odrf.results.base import Of


class Growable(Of[AnyFit], Protocol):
    """Results of fits to which trees can be added."""

    def __init__(self, fit: Any) -> None: ...

    def _enlarged(self, k: int, n_jobs: int, progress: bool) -> AnyFit:
        """Return the fit with `k` more trees, or rounds of boosting."""


class Combinable(Of[AnyFit], Protocol):
    """Results of forests that can be combined."""

    def __init__(self, fit: Any) -> None: ...

    def _with_trees_of(self, other: Any) -> AnyFit:
        """Return the fit with the trees of both."""


class Updatable(Of[Fit], Protocol):
    """Results of fits that can be updated with new rows."""

    def __init__(self, fit: Any) -> None: ...

    def _sized(self, fit: Fit) -> Fit:
        """Return the fit pruned as its options say."""


Larger = TypeVar("Larger", bound=Growable)
Combined = TypeVar("Combined", bound=Combinable)
Updated = TypeVar("Updated", bound=Updatable)


@public_method
def grow(self: Larger, k: int, *, n_jobs: int | None = None, progress: bool = False) -> Larger:
    """Return the forest with `k` more trees, bit for bit as if all had been grown at once.

    The result equals that of the same call with `n_trees` larger by `k` and the same seed.

    Parameters
    ----------
    k : int
        Number of trees to add.
    n_jobs : int, optional
        Threads; by default those of the fit.  The result is the same for any number.
    {progress}

    Returns
    -------
    ODRFResults or GRAFResults
        A new result; this one does not change.

    Raises
    ------
    InputError
        If `k` is not a whole number of at least 1; if the forest was pruned by `prune` (grow its
        ``parent`` and prune that); if it comes from `combine` or `update`.

    Notes
    -----
    Whether a forest of `odrf.odrf` is a blend is decided when it is first grown: a forest of 50
    trees is none by default, and does not become one.  To enlarge it to a blend, start with
    ``blend=True``.  The number of pilot trees of a blend depends on `n_trees` for tables of more
    than 500 rows.  If the larger forest has more of them, the kinds of trees are weighted again,
    and some trees may leave the forest; otherwise all trees stay.  A forest that was pruned by its
    option `alpha` is pruned again by the same rule; ``alpha="oob"`` chooses the α anew.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> small = odrf.odrf("progression ~ .", data, n_trees=10, seed=1)
    >>> large = small.grow(10)
    >>> large.call
    "odrf('progression ~ .', data, n_trees=10, seed=1).grow(10)"
    >>> once = odrf.odrf("progression ~ .", data, n_trees=20, seed=1)
    >>> large.oob_error == once.oob_error
    True
    """
    threads = self.fit.control.n_jobs if n_jobs is None else checked_jobs(n_jobs)
    return type(self)(self._enlarged(checked_whole("k", k, 1, MOST), threads, progress))


def combine(self: Combined, other: Combined) -> Combined:
    """Return a forest of the trees of both forests, which predicts the mean of all of them.

    So parts of a forest can be grown on other computers, or later, each with its own seed.

    Parameters
    ----------
    other : ODRFResults or GRAFResults
        A forest of the same function, with the same response, predictors, training rows and
        options, except `n_trees`, `seed` and `n_jobs`.

    Returns
    -------
    ODRFResults or GRAFResults
        A new result: first the trees of this forest, then those of `other`.  Its ``seed``, and the
        labels of its rows, are those of this forest.

    Raises
    ------
    InputError
        If the forests differ in anything else; the message names the first difference and why it
        matters.  If they share trees, as forests of one seed do, or if one of them was pruned by
        `prune`.

    Notes
    -----
    Out-of-bag results are those of all trees, each used on the rows that it did not sample.
    `combine` is associative.  The weights and pilot errors in a blend's ``kinds`` are means of
    those of the two forests, weighted by their numbers of trees.  Forests that were pruned by their
    option `alpha` are combined as they were before, and pruned again by the same rule.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> one, other = (odrf.odrf("progression ~ .", data, n_trees=10, seed=s) for s in (1, 2))
    >>> both = one.combine(other)
    >>> both.forest.n_trees
    20
    >>> mean = (one.predict(data) + other.predict(data)) / 2
    >>> bool(abs(both.predict(data) - mean).max() < 1e-9)
    True
    """
    if type(other) is not type(self):
        raise InputError(
            f"other={type(other).__name__}: combine() needs two forests of one function, "
            f"and this is {type(self).__name__}"
        )
    return type(self)(self._with_trees_of(other))


@public
def update(
    self: Updated,
    newdata: pd.DataFrame,
    *,
    weights: str | ArrayLike | None = None,
    revise: str | int = "auto",
    alpha: str = "again",
    n_jobs: int | None = None,
    progress: bool = False,
) -> Updated:
    """Return the fit with new training rows, from which its trees continue to grow.

    Each tree samples from the new rows as it sampled from the first ones.  The values of its nodes
    are computed again from all rows that it has sampled.  Then leaves with new rows are split
    further, by the same options.  Options that are functions of n are evaluated at the new n.  If
    t_n had stopped a tree and is larger now, its other leaves may be split, too.

    Parameters
    ----------
    newdata : DataFrame
        Rows with responses and the columns that the formula uses; others are ignored.
    weights : str or array of shape (m,), optional
        Case weights of the new rows, as in `odrf.odt`.  By default the column that ``weights=``
        named in the fit.  Required if the fit's weights were given as numbers.  Rows of weight 0
        are not added.
    revise : "auto" or int, default "auto"
        A split that was made on fewer rows than this is removed when its node has at least 1.5
        times as many rows, and the tree grows again from there.  0 keeps all splits.  Larger
        numbers take more time and come closer to a fit to all rows at once
        (``benchmarks/many_rows/updating.py``).  By default 200 for a tree of `odrf.odt`, because
        its error depends on every single split; 100 for a blend, whose update needs no new pilot
        trees and so has time to spare; 0 for other forests, because they average over splits.
    alpha : {"again", "same"}, default "again"
        What is done if the fit's option `alpha` asks for a value that is chosen on held-out rows.
        ``"again"``: it is chosen again.  For a tree this is a cross-validation of all rows, which
        takes much longer than the update if few rows are new.  ``"same"``: the value chosen last is
        kept; of a rate its constant is.
    n_jobs : int, optional
        Threads; by default those of the fit.  The result is the same for any number.
    {progress}

    Returns
    -------
    ODTResults or ODRFResults
        A new result; this one does not change.  Its training rows are the old rows, followed by the
        new ones.  `changes` shows what has changed.

    Raises
    ------
    InputError
        If the new rows lack a column, have classes that the first rows do not have, or have missing
        values that the option `missing` does not allow; if the fit was pruned by `prune` (update
        its ``parent`` and prune that), or a tree that `surrogate` made; if the fit has `order`; if
        an option was a function of n that `odrf.load` could not restore.

    Warns
    -----
    UserWarning
        If a factor of the new rows has levels that no first row has, as in `predict`.

    Notes
    -----
    Each new row is sampled independently: in a bootstrap forest as often as a Poisson number says
    (Oza and Russell 2001), with subsampling with probability `sample_fraction`.  So the draws do
    not depend on how the rows are divided into batches, which may consist of one row; the splits
    do, because they are made on the rows available at the time.  Out-of-bag results include the new
    rows.  In an honest tree, a new row belongs to either half with probability 1/2.

    Of a fit with `groups`, newdata needs that column.  New rows of a known group enter a tree as
    often as its first rows, and new groups are sampled as rows are.  Strata are not balanced among
    new rows.

    Scaling, levels, classes, the shares of kinds of trees in a blend and the constants of rates
    stay as the first rows determined them.  A fit that was pruned by its option `alpha` is updated
    as it was before, and pruned again by the same rule.  The result has its own rows and trees, so
    that the time of an update grows with the number of all rows.

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
    same = checked_choice("alpha", alpha, ("again", "same")) == "same"
    fit = fits.updating.updated_fit(
        self.fit, newdata, weights, least, same, threads, progress, self._sized
    )
    return type(self)(fit)


def _updates(self: Of[Fit]) -> None:
    if self.fit.changes is None:
        raise InputError("changes are known only after update(): call update(newdata) first")


@known(_updates)
def changes(self: Of[Fit]) -> pd.DataFrame:
    """What the last `update` changed, one row for each tree, before any pruning.

    Columns: ``drawn``, the new rows that the tree sampled, with repetitions; ``leaves_before`` and
    ``leaves``, its numbers of leaves; ``withdrawn``, the splits that were removed; after that,
    ``revisited``, the leaves that were searched for a split because new rows reached them or t_n is
    larger, and ``split``, those of them that were split; ``depth_before`` and ``depth``.

    Raises
    ------
    InputError
        If the fit has not been updated.
    """
    assert self.fit.changes is not None
    return self.fit.changes.copy()
