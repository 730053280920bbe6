"""What is read of trees: nodes, splits and surrogates as tables, rules as text."""

from __future__ import annotations

import pandas as pd

from odrf import reports
from odrf.checks import checked_whole
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.public import public_method
from odrf.results.absent import known
from odrf.results.base import AnyResults, Of


@known(kept=True)
def nodes(self: Of[Fit]) -> pd.DataFrame:
    """The nodes, one row each; the index is the node's number, 0 for the root.

    Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
    ``count`` and ``weight`` (number and total weight of the training rows), ``impurity``,
    ``gain`` (impurity decrease of the split, per unit of weight), ``order`` (rank of the split
    in the tree's growth); for a regression ``value``, the mean response; for classes
    ``prediction`` and a column ``P(class)`` for each class.  In an honest tree ``count`` and
    the columns after it, except ``order``, are those of the rows that did not choose splits.
    """
    return reports.tree.nodes_table(self.fit.forest, self.fit.design, self.fit.data.weight_unit)


@known(kept=True)
def splits(self: AnyResults) -> pd.DataFrame:
    """The splits, one row for each coefficient, the largest scaled coefficient of a node first.

    A row of the data goes to the left child of ``node`` if the sum of ``coefficient`` times
    ``column`` is at most ``threshold``, all in the units of the data.  To compare predictors
    use ``scaled_coefficient``: for columns scaled to [0, 1], and of Euclidean length 1.
    ``predictor`` is the term of the formula that the column belongs to.  If training rows have
    empty cells, ``fill`` is what an empty cell of a column of numbers counts as; missing where
    there are none.

    Dates are in seconds since the first one of the training rows, durations in seconds.  A
    column that counts as its rank (see `data_summary`) has its own values where a node splits
    on it alone, and its rank, from 0, in a sum.
    """
    return reports.tree.splits_table(self.fit.forest, self.fit.design)


@known(kept=True)
def splits_of_trees(self: AnyResults) -> pd.DataFrame:
    """The splits of all trees, one row for each coefficient.

    Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The
    other columns are those of `ODTResults.splits`.
    """
    return reports.tree.splits_of_trees(self.fit.forest, self.fit.design)


@public_method
def rules(self: AnyResults, digits: int = 4, max_terms: int | None = None) -> str:
    """Return the tree as text: an indented line for each node, with ``*`` at the leaves.

    In a sum, a factor of two levels counts 1 for one of them, as in ``0.3*(sex in {f})``, and
    an ordered factor counts by the ranks of its levels, which the first lines explain.  A split
    on a factor alone is written as two sets of levels, as in ``state in {CA, NV}`` and ``state
    in {OR, TX, others}``.  The others are levels that the rows of the node do not have: they go
    to the side with more weight.

    Parameters
    ----------
    digits : int, default 4
        Significant digits.
    max_terms : int, optional
        Most terms of a sum, those with the largest coefficients for predictors scaled to
        [0, 1], or levels of a factor; the number of others is written.  By default all.

    Returns
    -------
    str

    Raises
    ------
    InputError
        If `digits` or `max_terms` is not a whole number of at least 1.

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ bmi", odrf.load_data("diabetes"), max_leaves=2, seed=1)
    >>> print(tree.rules())  # doctest: +ELLIPSIS
    n = 442, progression ~ bmi
    node) split  n  mean of progression;  * marks a leaf
    <BLANKLINE>
    0) root  n = 442  152.1
      1) bmi <= ...
    """
    digits = checked_whole("digits", digits, 1)
    if max_terms is not None:
        max_terms = checked_whole("max_terms", max_terms, 1)
    return reports.tree.rules_text(self.fit.forest, self.fit.design, digits, max_terms)


def _surrogate_splits(self: AnyResults) -> None:
    if self.forest.surrogates is None:
        reports.tree.surrogates_table(self.forest, self.design)  # it says why there are none


@known(_surrogate_splits, kept=True)
def surrogates(self: AnyResults) -> pd.DataFrame:
    """The surrogates of a tree with ``missing="surrogate"``, one row each, best first.

    A row of the data that has no value for the ``split`` of a ``node`` goes by the first
    ``surrogate`` that it has values for; both columns hold the condition to go left.  Without
    any it goes to the larger side.  ``agree`` is the share of the rows with values for the
    split that the surrogate sends to the same side; rows without a value for the surrogate
    count as sent to the other.  ``adj`` is 0 if it is no better than sending all rows to the
    larger side and 1 if it agrees for all.  ``n_split`` rows of the training data went by it.
    These are the columns of rpart's summary.

    Raises
    ------
    InputError
        If the tree has no surrogates.
    """
    return reports.tree.surrogates_table(self.fit.forest, self.fit.design)


def _kinds(self: Of[Fit]) -> None:
    if self.fit.blend is None:
        raise InputError("all trees are of one kind: fit with blend=True for several")


@known(_kinds)
def kinds(self: Of[Fit]) -> pd.DataFrame:
    """The kinds of trees in a blended forest, one row each.

    The page "A forest that chooses its trees" says what the kinds are, by name.

    Columns: ``trees``, how many; ``weight``, the share found by stacking; ``pilot_error``, the
    out-of-bag mean squared error (for classes the Brier score; for times the sum of the Brier
    scores at nine quantiles of the event times) of very many such trees,
    estimated from the pilot trees; ``rows``, the share of the rows that a tree draws; ``cuts``,
    the random thresholds tried along a direction, or "all"; ``min_leaf``; ``singles`` and
    ``directions``, the single predictors and the oblique directions tried at a node.

    Raises
    ------
    InputError
        If all trees are of one kind.
    """
    assert self.fit.blend is not None
    return reports.data_summary.kinds_table(self.fit.blend, self.fit.kinds)
