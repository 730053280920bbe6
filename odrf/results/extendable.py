"""Results of forests that can be enlarged and combined."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from odrf.checks import MOST, checked_jobs, checked_whole
from odrf.errors import InputError
from odrf.results.fitted import FittedResults

__all__ = ["Extendable"]

Same = TypeVar("Same", bound="Extendable")


class Extendable(FittedResults):
    """Base class of the results of forests that can be enlarged and combined."""

    def grow(self: Same, k: int, *, n_jobs: int | None = None, progress: bool = False) -> Same:
        """Return the forest with `k` more trees, bit for bit as if all had been grown at once.

        The result equals that of the same call with `n_trees` larger by `k` and the same seed.

        Parameters
        ----------
        k : int
            Number of trees to add.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        ODRFResults or GRAFResults
            A new result; this one does not change.

        Raises
        ------
        InputError
            If `k` is not a whole number of at least 1; if the forest was pruned by `prune` (grow
            its ``parent`` and prune that); if it comes from `combine` or `update`.

        Notes
        -----
        Whether a forest of `odrf.odrf` is a blend is decided when it is first grown.  By default a
        forest of 50 trees is not a blend, and `grow` does not make it one.  To enlarge it to a
        blend, start with ``blend=True``.

        The number of pilot trees of a blend depends on `n_trees` for tables of more than 500 rows.
        If the larger forest has more of them, the kinds of trees are weighted again.  Their shares
        may then change, and some trees may leave the forest; otherwise all trees stay.

        A forest that was pruned by its option `alpha` is pruned again by the same rule;
        ``alpha="oob"`` chooses the α anew for the larger forest.

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
        return self._with_more(checked_whole("k", k, 1, MOST), threads, progress)

    def combine(self: Same, other: Same) -> Same:
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
            A new result: first the trees of this forest, then those of `other`.  Its ``seed``, and
            the labels of its rows, are those of this forest.

        Raises
        ------
        InputError
            If the forests differ in anything else; the message names the first difference and why
            it matters.  If they share trees, as forests of one seed do, or if one of them was
            pruned by `prune`.

        Notes
        -----
        Out-of-bag results are those of all trees, each used on the rows that it did not draw.
        `combine` is associative.  The weights and pilot errors in a blend's ``kinds`` are means of
        those of the two forests, weighted by their numbers of trees.  Forests that were pruned by
        their option `alpha` are combined as they were before, and pruned again by the same rule.

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
        return self._with_trees_of(other)

    @abstractmethod
    def _with_more(self: Same, k: int, n_jobs: int, progress: bool) -> Same: ...

    @abstractmethod
    def _with_trees_of(self: Same, other: Same) -> Same: ...
