"""What makes a larger forest of a forest."""

from __future__ import annotations

from abc import abstractmethod
from typing import TypeVar

from odrf.checks import checked_jobs, checked_whole
from odrf.errors import InputError
from odrf.results.fitted import FittedResults

__all__ = ["Extendable"]

Same = TypeVar("Same", bound="Extendable")


class Extendable(FittedResults):
    """The part of a forest's results that adds trees to it."""

    def grow(self: Same, k: int, *, progress: bool = False, n_jobs: int | None = None) -> Same:
        """Return the forest with `k` more trees, bit for bit as if all had been grown at once.

        The forest is that of the same call with so many more `n_trees` and the same seed.

        Parameters
        ----------
        k : int
            How many trees to add.
        progress : bool, default False
            Show a progress bar.
        n_jobs : int, optional
            Threads; by default those of the fit.  The result is the same for any number.

        Returns
        -------
        ODRFResults or GRAFResults
            A new one; this stays as it is.

        Raises
        ------
        InputError
            If `k` is no whole number of at least 1; if `prune` has pruned the forest (grow its
            ``parent`` and prune that); if it comes from `combine`.

        Notes
        -----
        Whether a forest of `odrf.odrf` is a blend is settled when it is first grown: one of 50
        trees is none by default, and stays of one kind however many it gets.  To grow on to a
        blend, begin with ``blend=True``.

        A blend's pilots are judged again where the larger forest has larger ones, on tables of
        more than 500 rows.  Their trees are grown then, except those that the forest has.  The
        kinds may come in other proportions, so that some trees may leave the forest; otherwise
        all stay.

        A forest that the option `alpha` has pruned is pruned again by the same rule:
        ``alpha="oob"`` finds the price of a leaf that is best for the larger forest.

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
        return self._with_more(checked_whole("k", k, 1), threads, progress)

    def combine(self: Same, other: Same) -> Same:
        """Return the forest of the trees of both, which predicts the mean over all of them.

        So parts of a forest can be grown elsewhere, or later, each with a seed of its own.

        Parameters
        ----------
        other : ODRFResults or GRAFResults
            A forest of the same function, response, predictors, training rows and options;
            `n_trees`, `seed` and `n_jobs` aside.

        Returns
        -------
        ODRFResults or GRAFResults
            A new one: first the trees of this, then those of `other`.  Its ``seed`` is that of
            the first, as is what else concerns no tree, such as the labels of rows.

        Raises
        ------
        InputError
            Naming the first thing in which the forests differ, and why they cannot be one; or if
            they hold the same trees, being of one seed; or if `prune` has pruned one of them.

        Notes
        -----
        Out-of-bag results are those of all trees, each judged on the rows that it did not draw.
        In the order of the trees `combine` is associative.  A blend's ``kinds`` has means over
        the trees of what each forest's stacking found.  Forests that the option `alpha` has pruned
        are put together as they were grown, and pruned again by the same rule.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> one, other = (odrf.odrf("progression ~ .", data, n_trees=10, seed=s) for s in (1, 2))
        >>> both = one.combine(other)
        >>> both.forest.n_trees
        20
        >>> mean = (one.predict() + other.predict()) / 2
        >>> bool(abs(both.predict() - mean).max() < 1e-9)
        True
        """
        if type(other) is not type(self):
            raise InputError(
                f"other={type(other).__name__}: combine() puts together forests of one function, "
                f"and this is {type(self).__name__}"
            )
        return self._with_trees_of(other)

    @abstractmethod
    def _with_more(self: Same, k: int, n_jobs: int, progress: bool) -> Same: ...

    @abstractmethod
    def _with_trees_of(self: Same, other: Same) -> Same: ...
