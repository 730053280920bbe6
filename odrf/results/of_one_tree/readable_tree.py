"""What is read of one tree: its nodes and splits as tables, its rules as text."""

from __future__ import annotations

from functools import cached_property

import pandas as pd

from odrf.checks import checked_whole
from odrf.exports.export import exported_dot, exported_sql
from odrf.reports.tree import nodes_table, rules_text, splits_table
from odrf.results.fitted import FittedResults

__all__ = ["ReadableTree"]


class ReadableTree(FittedResults):
    """Base class of the results of one tree: its nodes, its splits and its rules."""

    @cached_property
    def nodes(self) -> pd.DataFrame:
        """The nodes, one row each; the index is the node's number, 0 for the root.

        Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
        ``count`` and ``weight`` (number and total weight of the training rows), ``impurity``,
        ``gain`` (impurity decrease of the split, per unit of weight), ``order`` (rank of the split
        in the tree's growth); for a regression ``value``, the mean response; for classes
        ``prediction`` and a column ``P(class)`` for each class.  In an honest tree ``count`` and
        the columns after it, except ``order``, are those of the rows that did not choose splits.
        """
        return nodes_table(self.fit.forest, self.fit.design, self.fit.data.weight_unit)

    @cached_property
    def splits(self) -> pd.DataFrame:
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
        return splits_table(self.fit.forest, self.fit.design)

    def rules(self, digits: int = 4, max_terms: int | None = None) -> str:
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
        return rules_text(self.fit.forest, self.fit.design, digits, max_terms)

    def to_sql(self, dialect: str, type: str = "response", *, complete: bool = False) -> str:
        """Return the tree as an expression of SQL, to be put between SELECT and FROM.

        A split on one column compares it with a threshold in the column's own unit, or its label
        with a list.  A sum of several columns is compared as in `predict`, for columns scaled to
        [0, 1], in floats of 32 bits: in DuckDB and PostgreSQL every row goes to the leaf that
        `predict` sends it to.  SQLite has floats of 64 bits only.  There a row whose sum lies
        within about 1e-7 of a threshold may go to the other side.

        Parameters
        ----------
        dialect : {"duckdb", "postgres", "sqlite"}
        type : {"response", "class", "prob", "leaf"}, default "response"
            As in `predict`: the mean response or the class; an expression for the probability of
            each class, with the class as its name; the number of the leaf, as in `nodes`.
        complete : bool, default False
            Whether the rows have no empty cells, and no labels that training rows do not have.
            The text is then shorter.

        Returns
        -------
        str
            A ``CASE`` expression of the columns that the formula uses, in quotes.  NULL is an empty
            cell, and NaN must not be one.  With ``missing="drop"`` and ``"raise"`` the prediction
            of a row with an empty cell is NULL.

        Raises
        ------
        InputError
            If an argument is unknown, or needs classes in a regression; if the tree has
            surrogates; if a term of the formula, or a column such as a date, is unknown to SQL; if
            the dialect cannot hold a name, a level or a class, or takes two names for the same,
            such as names that differ in capitals only.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ bmi", odrf.load_data("diabetes"), max_leaves=2, seed=1)
        >>> print(tree.to_sql("sqlite", type="leaf"))
        CASE
          WHEN "bmi" <= 27.250000587105752 OR "bmi" IS NULL THEN
            1
          ELSE
            2
        END
        """
        return exported_sql(self.fit, dialect, type, complete)

    def to_dot(self, *, max_terms: int | None = 3, digits: int = 3) -> str:
        r"""Return the tree in the language of Graphviz, for ``dot -Tsvg`` and other programs.

        Parameters
        ----------
        max_terms : int, optional, default 3
            Most terms of a linear combination, or levels of a factor, in a box, as in `plot`.  All
            if None.
        digits : int, default 3
            Significant digits.

        Returns
        -------
        str
            A graph of the nodes, called by their numbers, with the words that `plot` draws.
            Graphviz is not needed to write it.

        Raises
        ------
        InputError
            If a number is below 1.

        Examples
        --------
        >>> import odrf
        >>> tree = odrf.odt("progression ~ bmi", odrf.load_data("diabetes"), max_leaves=2, seed=1)
        >>> print(tree.to_dot(), end="")
        digraph tree {
            label="progression";
            labelloc="t";
            node [shape="box", fontname="Helvetica"];
            edge [fontname="Helvetica"];
            0 [label="bmi ≤ 27.25"];
            0 -> 1 [label="yes"];
            0 -> 2 [label="no"];
            1 [label="121\nn = 277", style="rounded"];
            2 [label="205\nn = 165", style="rounded"];
        }
        """
        return exported_dot(self.fit, max_terms, digits)
