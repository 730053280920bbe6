"""Trees as tables and text, and fits in other languages."""

from __future__ import annotations

from typing import Any

import pandas as pd

from odrf import exports, fits, reports
from odrf.checks import checked_whole
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.public import public_method
from odrf.results.absent import known
from odrf.results.base import AnyResults, FittedResults, Of
from odrf.text.layouts import IndentedText


@known(kept=True)
def nodes(self: Of[Fit]) -> pd.DataFrame:
    """The nodes, one row each; the index is the node's number, 0 for the root.

    Columns: ``parent``, ``depth``, ``leaf``, ``left``, ``right`` (numbers of the children),
    ``count`` and ``weight`` (number and total weight of the training rows), ``impurity``, ``gain``
    (impurity decrease of the split, per unit of weight), ``order`` (rank of the split in the tree's
    growth); for a regression ``value``, the mean response; for classes ``prediction`` and a column
    ``P(class)`` for each class.  In an honest tree ``count`` and the columns after it, except
    ``order``, are those of the rows that did not choose splits.
    """
    return reports.tree.nodes_table(self.fit.forest, self.fit.design, self.fit.training.weight_unit)


@known(kept=True)
def splits(self: AnyResults) -> pd.DataFrame:
    """The splits, one row for each coefficient, the largest scaled coefficient of a node first.

    A row of the data goes to the left child of ``node`` if the sum of ``coefficient`` times
    ``column`` is at most ``threshold``, all in the units of the data.  To compare predictors use
    ``scaled_coefficient``: for columns scaled to [0, 1], and of Euclidean length 1.  ``predictor``
    is the term of the formula that the column belongs to.  If training rows have missing values,
    ``fill`` is what a missing value of a column of numbers counts as; missing where there are none.

    Dates are in seconds since the first one of the training rows, durations in seconds.  A column
    that counts as its rank (see `data_summary`) has its own values where a node splits on it alone,
    and its rank, from 0, in a sum.
    """
    return reports.tree.splits_table(self.fit.forest, self.fit.design)


@known(kept=True)
def splits_of_trees(self: AnyResults) -> pd.DataFrame:
    """The splits of all trees, one row for each coefficient.

    Column ``tree`` is the number of the tree, from 0, as in ``predict(type="leaf")``.  The other
    columns are those of `ODTResults.splits`.
    """
    return reports.tree.splits_of_trees(self.fit.forest, self.fit.design)


@known(kept=True)
def lines(self: Of[Fit]) -> pd.DataFrame:
    """The lines of the leaves, one row for each coefficient, in the units of the data.

    A row of the data that reaches the leaf ``node`` is predicted by the sum of ``coefficient``
    times ``column``, with 1 for the intercept, but no further than 5 % beyond the range of the
    leaf's training responses.  A line is an average of that of the leaf and of those of the nodes
    above.  If training rows have missing cells, ``fill`` is what stands in place of the product
    where the cell is missing.
    """
    return reports.tree.lines_table(self.fit.forest, self.fit.design)


@public_method
def rules(self: AnyResults, digits: int = 4, max_terms: int | None = None) -> IndentedText:
    """Return the tree as text: an indented line for each node, with ``*`` at the leaves.

    In a sum, a factor of two levels counts 1 for one of them, as in ``0.3*(sex in {f})``, and an
    ordered factor counts by the ranks of its levels, which the first lines explain.  A split on a
    factor alone is written as two sets of levels, as in ``state in {CA, NV}`` and ``state in {OR,
    TX, others}``.  The others are levels that the rows of the node do not have: they go to the side
    with more weight.

    Of survival times each line has the number of rows and of events, the median time and the
    relative hazard, as in `nodes`; of several causes the events of each.  Of a tree whose splits
    are about one cause, the events are of this one, and its incidence by the last event time stands
    in place of the median.

    Parameters
    ----------
    digits : int, default 4
        Significant digits.
    max_terms : int, optional
        Most terms of a sum, those with the largest coefficients for predictors scaled to [0, 1], or
        levels of a factor; the number of others is written.  By default all.

    Returns
    -------
    str
        It has ``as_latex()``, too.

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
    if self.kind == "survival" and isinstance(self.fit, fits.survival.fit.SurvivalFit):
        text = reports.survival.summaries.hazard_rules(self.fit, digits, max_terms)
    else:
        text = reports.tree.rules_text(self.fit.forest, self.fit.design, digits, max_terms)
    return IndentedText(text)


# Terms of a sum in a printed tree.
MOST_TERMS_PRINTED = 5


def tree_as_text(self: AnyResults) -> str:
    """Return the tree for ``print``: its title and `rules`, as much as a screen or two hold."""
    card = self._shown_card()
    title = f"{card.title}\n"
    if "Events" in card.facts:  # with the unit of times, and what means censored
        title += f"events: {card.facts['Events']}\n"
    return title + reports.tree.printed(rules(self, max_terms=MOST_TERMS_PRINTED))


def _surrogate_splits(self: AnyResults) -> None:
    if self.forest.surrogates is None:
        reports.tree.surrogates_table(self.forest, self.design)  # it says why there are none


@known(_surrogate_splits, kept=True)
def surrogates(self: AnyResults) -> pd.DataFrame:
    """The surrogates of a tree with ``missing="surrogate"``, one row each, best first.

    A row of the data that has no value for the ``split`` of a ``node`` goes by the first
    ``surrogate`` that it has values for; both columns hold the condition to go left.  Without any
    it goes to the larger side.  ``agree`` is the share of the rows with values for the split that
    the surrogate sends to the same side; rows without a value for the surrogate count as sent to
    the other.  ``adj`` is 0 if it is no better than sending all rows to the larger side and 1 if it
    agrees for all.  ``n_split`` rows of the training data went by it.  These are the columns of
    rpart's summary.

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
    scores at nine quantiles of the event times) of very many such trees, estimated from the pilot
    trees; ``rows``, the share of the rows that a tree draws; ``cuts``, the random thresholds tried
    along a direction, or "all"; ``min_leaf``; ``singles`` and ``directions``, the single predictors
    and the oblique directions tried at a node.

    Raises
    ------
    InputError
        If all trees are of one kind.
    """
    assert self.fit.blend is not None
    return reports.data_summary.kinds_table(self.fit.blend, self.fit.kinds)


def to_python(self: FittedResults, type: str = "response", *, name: str = "predict") -> str:
    """Return the source of a function in Python that predicts a row and needs no package.

    Its predictions are those of `predict`, bit by bit: sums are rounded to 32 bits, as the engine
    rounds them.  It takes much longer.

    Parameters
    ----------
    type : {"response", "class", "prob"}, default "response"
        What the function returns, as `row_predictor` does: a number, a label, or a dictionary of
        the classes and their probabilities.
    name : str, default "predict"
        The name of the function.

    Returns
    -------
    str
        Source text of the function and what it needs.  The function takes a mapping from the names
        of the columns to the values of a row.  None, NaN and pandas' missing values are missing
        values.  Labels that no training row has count as `predict` counts them.  Where
        ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses them, it returns None for
        a class and NaN for a number.

    Raises
    ------
    InputError
        If `type` is unknown, or needs classes in a regression; if `name` is no name; if a term of
        the formula, or a column such as a date, is unknown to other languages.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("wine")
    >>> tree = odrf.odt("cultivar ~ .", data, seed=1)
    >>> there = {}
    >>> exec(tree.to_python(), there)
    >>> bool(there["predict"](data.loc[0]) == tree.predict(data)[0])
    True
    """
    return exports.export.exported_function(self.fit, exports.python.python_text, type, name)


def to_c(self: FittedResults, type: str = "response", *, name: str = "predict") -> str:
    """Return the source of a function in C that predicts a row and needs no library.

    Its predictions are those of `predict`, bit by bit, with any compiler of C99 that follows the
    standard for floats: products and sums are stored in variables of 32 bits, so that they are
    never fused.  Do not compile it with ``-ffast-math``.

    Parameters
    ----------
    type : {"response", "class", "prob"}, default "response"
        What the function returns: the mean response, a double; the number of the class, an int, in
        the array ``predict_classes`` of the text; or it writes the probabilities of the classes to
        a second argument.
    name : str, default "predict"
        The name of the function, with which those of its row and its classes begin.

    Returns
    -------
    str
        Source text.  The function takes a pointer to a ``struct predict_row`` with a member for
        each column, in their order in the data: a double, NAN if the cell is empty; or a text in
        UTF-8, NULL if it is empty.  A character of a name that C does not allow is "_" there.
        Where ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses them, the class is
        -1, and numbers are NAN.

    Raises
    ------
    InputError
        As by `to_python`; if C cannot hold a level or a class, such as whole numbers from 2**53 on,
        of which a double does not tell one from the next, or levels of several types.

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ bmi + bp", odrf.load_data("diabetes"), seed=1)
    >>> text = tree.to_c(name="progression")
    >>> "double progression(const struct progression_row *row) {" in text
    True
    """
    return exports.export.exported_function(self.fit, exports.c.c_text, type, name)


def to_onnx(self: FittedResults) -> Any:
    """Return a model of ONNX, which many programs can run; it needs ``odrf[onnx]``.

    Its predictions are those of `predict`, bit by bit, where the program adds numbers as the model
    says; onnxruntime does.

    Returns
    -------
    onnx.ModelProto
        To be written with ``onnx.save(model, path)``.  It has an input of shape (n, 1) for each
        column that the formula uses: of doubles, in which NaN is a missing value, or of text, in
        which "" is one; True and False are 1 and 0.  For a regression it returns ``prediction`` (n,
        1), for classes ``label`` (n,) and ``probabilities`` (n, K), numbers as doubles.  Where
        ``missing="drop"`` leaves rows out, or ``missing="raise"`` refuses them, numbers are NaN and
        labels of text ""; labels that are numbers, or True and False, are doubles then.

    Raises
    ------
    InputError
        If onnx is not installed; if a term of the formula, or a column such as a date, is unknown
        to ONNX; if ONNX cannot hold a name, a level or a class, such as an empty text.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("cultivar ~ .", odrf.load_data("wine"), n_trees=5, seed=1)
    >>> model = forest.to_onnx()
    >>> [output.name for output in model.graph.output]
    ['label', 'probabilities']
    """
    return exports.export.exported_onnx(self.fit)


def to_sql(self: Of[Fit], dialect: str, type: str = "response", *, complete: bool = False) -> str:
    """Return the tree as an expression of SQL, to be put between SELECT and FROM.

    A split on one column compares it with a threshold in the column's own unit, or its label
    with a list.  A sum of several columns is compared as in `predict`, for columns scaled to
    [0, 1], in floats of 32 bits: in DuckDB and PostgreSQL every row goes to the leaf that
    `predict` sends it to.  SQLite has floats of 64 bits only.  There a row whose sum lies
    within about 1e-7 of a threshold may go to the other side, and what lines in leaves predict
    differs by about 1e-7 of its size.

    Parameters
    ----------
    dialect : {"duckdb", "postgres", "sqlite"}
    type : {"response", "class", "prob", "leaf"}, default "response"
        What the expression is: the mean response or the class; an expression for the probability of
        each class, with the class as its name; the number of the leaf, as in `nodes`.
    complete : bool, default False
        Whether the rows have no missing values, and no labels that training rows do not have.
        The text is then shorter.

    Returns
    -------
    str
        A ``CASE`` expression of the columns that the formula uses, in quotes.  NULL is a missing
        value, and NaN must not be one.  With ``missing="drop"`` and ``"raise"`` the prediction
        of a row with a missing value is NULL.

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
    return exports.export.exported_sql(self.fit, dialect, type, complete)


@public_method
def to_dot(self: Of[Fit], *, max_terms: int | None = 3, digits: int = 3) -> str:
    r"""Return the tree in the language of Graphviz, for ``dot -Tsvg`` and other programs.

    Parameters
    ----------
    max_terms : int, optional, default 3
        Most terms of a linear combination, or levels of a factor, in a box, as in `plot`.  All if
        None.
    digits : int, default 3
        Significant digits.

    Returns
    -------
    str
        A graph of the nodes, called by their numbers, with the words that `plot` draws.  Graphviz
        is not needed to write it.

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
    return exports.export.exported_dot(self.fit, max_terms, digits)
