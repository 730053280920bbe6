"""Results of one oblique decision tree, and of a tree that imitates a fit."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, TypeVar

import pandas as pd

from odrf import exports, fits, plots, reports
from odrf.checks import (
    Seed,
    checked_choice,
    checked_jobs,
    checked_seed,
    checked_truth,
    checked_whole,
    require_default,
)
from odrf.design.folds import Folds, most_folds, rows_to_divide
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.pruning import (
    checked_alpha,
    checked_leaves,
    path_by_folds,
    path_by_rows,
    pruned_at,
    sized_tree,
    stages_by_folds,
    training_path,
    with_forest,
)
from odrf.fits.responses import folds_asked, leaves_rows_out
from odrf.pruning.complexity import ERROR, LOG_RANK, LOSSES, RULES, WEAKEST_LINK, with_leaves
from odrf.pruning.growth_stages import LEAVES
from odrf.public import public, public_method, respelled
from odrf.results.base import AnyResults, FittedResults
from odrf.results.explain import Explained
from odrf.results.proximity import ProximityResults
from odrf.results.shapley import ShapleyResults
from odrf.results.updates import Updatable
from odrf.text.summary import Card, Summary

if TYPE_CHECKING:
    from matplotlib.axes import Axes

    from odrf.reports.explain import Surrogate
    from odrf.reports.paths import GrowthPath, PruningPath


# ------------------------------------------------------------------------------------------------
# The pruning of one tree, by its options, its path, or a number of leaves.
# ------------------------------------------------------------------------------------------------

# Folds of the cross-validation, unless the user says how many.
FOLDS = 10

Own = TypeVar("Own", bound="PrunableTree")


def require_no_folds(cv: Folds | None) -> None:
    """Raise `InputError` if folds are asked for beside new rows, which take their place."""
    if cv is not None:
        require_default("cv", cv, FOLDS, "paths without newdata=")


@public
class PrunableTree(AnyResults):
    """Base class of the results of one tree, of whatever response.

    Parameters
    ----------
    fit : Fit
        Design, data, options and tree.
    parent : results of the same class, optional
        The tree before pruning.
    path : PruningPath, optional
        The pruning path that this tree was chosen from.
    """

    fit: Fit

    def __init__(
        self,
        fit: Fit,
        parent: Any = None,
        path: PruningPath[Any] | None = None,
    ) -> None:
        self.fit = fit
        if parent is None and fit.pruning is not None:
            parent = type(self)(fit.pruning.grown)
            if fit.pruning.path is not None:
                path = reports.paths.PruningPath(parent.fit, fit.pruning.path, parent.prune)
        self.parent, self.path = parent, path

    @cached_property
    def surrogates(self) -> pd.DataFrame:
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

    @respelled(renamed={"rule": "pruning", "validation": "newdata"})
    @public_method
    def pruning_path(
        self: Own,
        pruning: str = WEAKEST_LINK,
        *,
        cv: Folds | None = FOLDS,
        newdata: pd.DataFrame | None = None,
        loss: str = ERROR,
        seed: Seed = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> PruningPath[Own]:
        """Return the nested subtrees from which pruning chooses, with their held-out errors.

        At the complexity parameter α, a subtree T costs R(T) + α·(number of leaves), R being the
        training error.  The path consists of the subtrees with the smallest cost at some α.

        Parameters
        ----------
        pruning : {"weakest_link", "growth"}, default "weakest_link"
            Which subtrees are candidates: all (Breiman et al. 1984, section 3.3), or the trees that
            existed during growth, with 1, 2, … leaves (Zhan, Liu and Xia, section 3.2).
        cv : int, array-like, splitter or None, default 10
            Folds of the cross-validation.  For each fold, a tree is grown without it by the same
            options, pruned at the geometric means of successive critical α, and evaluated on it.
            The path of a pruned tree begins at the α at which it was cut, as a part of its
            parent's.

            - A number of folds, stratified by class.  Of a fit with `groups`, groups are held out
              whole; of one with `order`, each of `cv` blocks of rows is held out from a tree of the
              rows before it.
            - The fold of each row: labels of any kind, for the rows of the data or of the fit.
            - An object with ``split(X, y, groups)``, as in scikit-learn; X are row numbers.  Each
              row may be held out once.

            None gives training errors only.
        newdata : DataFrame, optional
            Rows with responses to evaluate the subtrees on, instead of folds: leave `cv` out then.
            Each counts once.
        loss : {"error", "impurity", "log_rank"}, default "error"
            How R is measured for classes: by the misclassification rate, or by the impurity with
            which the tree was grown.  For a tree with the ordinal impurity, ``"error"`` is the
            mean rank error, which no split can increase.  The held-out error is always the
            misclassification rate.  For times to an event R is the exponential deviance in any
            case (LeBlanc and Crowley 1992): twice the difference of log-likelihood between a hazard
            for each row and one for each leaf, on the scale of time on which the hazard of all rows
            is constant.  Hazards of leaves are shrunken to that of all rows, as by rpart.

            ``"log_rank"``, for times to an event: split complexity (LeBlanc and Crowley 1993).  R
            is the sum of the log-rank statistics of the splits that a subtree lacks, so the path
            has the subtrees with the largest sum of the statistics of their splits, less α for each
            split.  The statistics are those of `nodes`, of the rows that chose the splits unless
            the tree is honest; so they are too large.  LeBlanc and Crowley take α from 2 to 4.  The
            held-out error is the exponential deviance here too; statistics in the trees of folds
            are multiplied as if these had been grown on all rows.
        seed : int, SeedSequence or Generator, optional
            Seed of the folds and their trees; by default that of the fit.
        n_jobs : int, optional
            Threads; by default all cores, or as many as ``OMP_NUM_THREADS`` says.  The result is
            the same for any number.
        progress : bool, default False
            Show a progress bar.

        Returns
        -------
        PruningPath

        Raises
        ------
        InputError
            If an option is invalid, or `newdata` lacks the response, a column or complete rows; if
            `loss` is ``"log_rank"``, and the tree is not for times to an event; or if folds are to
            evaluate a tree that was pruned by another rule or loss, so that its parent's path does
            not have it.

        References
        ----------
        L. Breiman, J. H. Friedman, R. A. Olshen and C. J. Stone (1984). Classification and
        regression trees. Wadsworth.

        M. LeBlanc and J. Crowley (1992). Relative risk trees for censored survival data. Biometrics
        48, 411-425.

        M. LeBlanc and J. Crowley (1993). Survival trees by goodness of split. JASA 88, 457-467.

        H. Zhan, Y. Liu and Y. Xia. Consistency of the oblique decision tree and its random forest.
        arXiv 2211.12653.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, alpha=None, seed=1)
        >>> path = tree.pruning_path(cv=5)
        >>> small = path.best("1se")
        """
        checked_choice("pruning", pruning, RULES)
        checked_choice("loss", loss, (*LOSSES, LOG_RANK))
        fits.pruning.trees_to_prune(self.fit, loss)
        seed = self.seed if seed is None else checked_seed(seed)
        if newdata is not None:
            require_no_folds(cv)
            path = path_by_rows(self.fit, pruning, loss, newdata)
        elif cv is None:
            path = training_path(self.fit, pruning, loss)
        else:
            folds, jobs = folds_asked(self.fit, cv, seed, ", or None"), checked_jobs(n_jobs)
            path = path_by_folds(self.fit, pruning, loss, folds, jobs, progress)
        return reports.paths.PruningPath(self.fit, path, self.prune)

    def prune(
        self: Own,
        alpha: float | None = None,
        *,
        leaves: int | None = None,
        rule: str | None = None,
        path: PruningPath[Any] | None = None,
        loss: str | None = None,
        progress: bool = False,
    ) -> Own:
        """Return the tree pruned to one of its subtrees.

        Give exactly one of `alpha`, `leaves` and `rule`.

        Parameters
        ----------
        alpha : float, optional
            Complexity parameter α: take the subtree with the smallest R + α·(number of leaves), of
            ties the smallest.  R is the training error: mean squared error or misclassification
            rate; for a tree with the ordinal impurity, mean rank error; for times to an event, mean
            exponential deviance; or what `loss` says.
        leaves : int, optional
            The number of leaves.  If weakest link gives no such subtree, take the next smaller one.
        rule : {"min", "1se"}, optional
            Take the subtree that held-out rows choose; see `PruningPath.best`.
        path : PruningPath, optional
            The pruning path; by default that of the option `pruning`, by 10-fold cross-validation,
            or with as many folds as there are groups.
        loss : {"error", "impurity", "log_rank"}, optional
            How R is measured, as in `pruning_path`; by default as in `path`, else ``"error"``.
            With ``"log_rank"``, `alpha` is on the scale of the statistics of splits.
        progress : bool, default False
            Show a progress bar of this cross-validation.

        Returns
        -------
        results of the same class
            With this tree as its ``parent``, and the ``path`` that it was chosen from, if any.

        Raises
        ------
        InputError
            If not exactly one of the three is given, it is invalid, `path` is another tree's, or
            `loss` is not that of `path`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, alpha=None, seed=1)
        >>> int(tree.prune(rule="1se").n_leaves[0]) < int(tree.n_leaves[0])
        True
        """
        if sum(choice is not None for choice in (alpha, leaves, rule)) != 1:
            raise InputError("prune() takes alpha=, leaves= or rule=: give exactly one of them")
        reports.paths.require_own_path(path, self.fit, "tree")
        if loss is not None:
            path = self._path_by(loss, path, evaluated=rule is not None, progress=progress)
        if rule is not None:
            path = path or self.pruning_path(
                self.fit.control.pruning, cv=self._folds, progress=progress
            )
            return self._cut(path.subtrees.alpha(rule), f"rule={rule!r}", path)
        if alpha is not None:
            alpha = checked_alpha(alpha)
            return self._cut(alpha, f"alpha={alpha!r}", path)
        candidates, loss = (path.pruning, path.loss) if path else (self.fit.control.pruning, ERROR)
        kept = checked_leaves(leaves, int(self.n_leaves[0]))
        smaller = with_leaves(fits.pruning.trees_to_prune(self.fit, loss), kept, candidates, loss)
        forest = replace(self.forest, left=smaller.left)
        option = _arguments(f"leaves={leaves}", loss)
        subtrees = None if path is None else path.subtrees
        pruned = with_forest(self.fit, forest, option, subtrees)
        return type(self)(pruned, self, path)

    @property
    def _folds(self) -> int:
        """Number of folds of a path by default: few rows, groups or times have fewer."""
        return min(FOLDS, most_folds(rows_to_divide(self.fit.design, self.fit.data)))

    def _path_by(
        self: Own, loss: str, path: PruningPath[Any] | None, evaluated: bool, progress: bool
    ) -> PruningPath[Any]:
        """Return the path, which must be of `loss`; by default by folds if errors are needed."""
        if path is None:
            cv = self._folds if evaluated else None
            return self.pruning_path(self.fit.control.pruning, cv=cv, loss=loss, progress=progress)
        if loss != path.loss:
            raise InputError(f"loss={loss!r} is not that of path=, {path.loss!r}: leave it out")
        return path

    def _cut(self: Own, alpha: float, option: str, path: PruningPath[Any] | None) -> Own:
        candidates, loss = (path.pruning, path.loss) if path else (self.fit.control.pruning, ERROR)
        subtrees = None if path is None else path.subtrees
        shown = _arguments(option, loss)
        pruned = pruned_at(self.fit, alpha, candidates, shown, loss, subtrees)
        return type(self)(pruned, self, path)


def _arguments(option: str, loss: str) -> str:
    """Return the arguments of `prune` as the call shows them."""
    return option if loss == ERROR else f"{option}, loss={loss!r}"


# ------------------------------------------------------------------------------------------------
# Arguments of a drawn tree, which other plots do not have.
# ------------------------------------------------------------------------------------------------

TREE = "tree"
# What is written in its boxes by default.
MOST_TERMS, DIGITS = 3, 3


def check_drawn_tree(kind: str, max_depth: int | None, max_terms: int, digits: int) -> None:
    """Raise `InputError` if a plot of `kind` is no tree, and ignores an argument that is given.

    Also if a number is below 1.
    """
    if kind != TREE:
        used = f'kind="{TREE}"'
        require_default("max_depth", max_depth, None, used)
        require_default("max_terms", max_terms, MOST_TERMS, used)
        require_default("digits", digits, DIGITS, used)
    checked_whole("max_depth", 1 if max_depth is None else max_depth, 1)
    checked_whole("max_terms", max_terms, 1)
    checked_whole("digits", digits, 1)


# ------------------------------------------------------------------------------------------------
# What is read of one tree: its nodes and splits as tables, its rules as text.
# ------------------------------------------------------------------------------------------------


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
        return reports.tree.nodes_table(self.fit.forest, self.fit.design, self.fit.data.weight_unit)

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
        return reports.tree.splits_table(self.fit.forest, self.fit.design)

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
        return reports.tree.rules_text(self.fit.forest, self.fit.design, digits, max_terms)

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
        return exports.export.exported_sql(self.fit, dialect, type, complete)

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
        return exports.export.exported_dot(self.fit, max_terms, digits)


# ------------------------------------------------------------------------------------------------
# Results of one oblique decision tree.
# ------------------------------------------------------------------------------------------------

PLOTS = ("tree", "importance")


class ODTResults(
    PrunableTree, ReadableTree, Updatable, Explained, ShapleyResults, ProximityResults
):
    """A fitted oblique decision tree, as returned by `odrf.odt`.

    Parameters
    ----------
    fit : Fit
        Design, data, options and tree.
    parent : ODTResults, optional
        The tree before pruning.
    path : PruningPath, optional
        The pruning path that this tree was chosen from.

    Attributes
    ----------
    fit, parent, path

    Examples
    --------
    >>> import odrf
    >>> tree = odrf.odt("progression ~ .", odrf.load_data("diabetes"), max_leaves=8, seed=1)
    >>> int(tree.n_leaves[0])
    8
    >>> int(tree.prune(leaves=3).n_leaves[0])
    3
    """

    fit: Fit

    def growth_path(
        self,
        newdata: pd.DataFrame | None = None,
        along: str = LEAVES,
        *,
        cv: Folds = FOLDS,
        seed: Seed = None,
        n_jobs: int | None = None,
        progress: bool = False,
    ) -> GrowthPath:
        """Return training and test error of the tree stopped at each size.

        The path of a pruned tree is that of the tree before pruning.

        Parameters
        ----------
        newdata : DataFrame, optional
            Test rows with responses; each counts once.  By default cross-validation.
        along : {"leaves", "depth"}, default "leaves"
            ``"leaves"``: the tree as it was when it had τ = 1, 2, … leaves; the tree itself is
            ``prune(leaves=τ, path=fit.pruning_path("growth", cv=None))``.  ``"depth"``: the tree
            without its splits below depth 0, 1, ….
        cv, seed, n_jobs, progress
            As in `pruning_path`.  `cv` and `seed` are for folds, not for `newdata`.

        Returns
        -------
        GrowthPath

        Raises
        ------
        InputError
            If an option is invalid, or `newdata` lacks the response, a column or complete rows.

        Examples
        --------
        >>> import odrf
        >>> path = odrf.odt("salary ~ .", odrf.load_data("hitters").dropna(), seed=1).growth_path()
        >>> bool(path.table["train"].is_monotonic_decreasing)
        True
        >>> path.best_size() < path.size
        True
        """
        of_folds = self.seed if seed is None else checked_seed(seed)
        if newdata is not None:
            require_no_folds(cv)
            return reports.paths.growth_path(self.fit, along, newdata, n_jobs, None, "", progress)
        folds = folds_asked(self.fit, cv, of_folds, ", or give newdata=")
        by_folds = partial(stages_by_folds, along=along, cv=folds, progress=progress)
        return reports.paths.growth_path(
            self.fit, along, None, n_jobs, by_folds, folds.by, progress
        )

    def _summary(self, progress: bool) -> Summary:
        """Return a summary: data, options, size, importances, training and held-out error."""
        return reports.summaries.tree_summary(
            self.fit, self._in_bag, self.path, self._measured_importance(progress)
        )

    def plot(
        self,
        kind: str = "tree",
        *,
        ax: Axes | None = None,
        max_depth: int | None = None,
        max_terms: int = MOST_TERMS,
        digits: int = DIGITS,
        type: str | None = None,
        progress: bool = False,
    ) -> Axes:
        """Plot the tree, or the importances of its predictors.

        Parameters
        ----------
        kind : {"tree", "importance"}, default "tree"
        ax : Axes, optional
            Where to draw.  By default on a new figure that is large enough for the tree.  On given
            axes the text is made small enough to fit.
        max_depth : int, optional
            Levels of splits to draw.  By default all, or as many as stay readable: at most 32
            leaves, 20 inches, letters of 5 points on given axes.  A box shows how many leaves
            below it are not drawn.
        max_terms : int, default 3
            Most terms of a linear combination, or levels of a factor, in a box: those with the
            largest coefficients for predictors scaled to [0, 1].  `rules` and `splits` show all.
        digits : int, default 3
            Significant digits.
        type : str, optional
            Which importances, as in `importance`; tests are drawn with their intervals.  By default
            those of the summary.
        progress : bool, default False
            Show a progress bar while the importances are computed.

        Returns
        -------
        Axes

        Raises
        ------
        InputError
            If `kind` is unknown, or an argument is given that is for the other kind; if a number is
            below 1.
        """
        checked_choice("kind", kind, PLOTS)
        check_drawn_tree(kind, max_depth, max_terms, digits)
        if kind == "importance":
            return self._plot_importance(ax, progress, type)
        require_default("type", type, None, 'kind="importance"')
        return plots.plot_tree(
            self.fit.forest,
            self.fit.design,
            ax=ax,
            max_depth=max_depth,
            max_terms=max_terms,
            digits=digits,
        )

    @staticmethod
    def _sized(fit: Fit) -> Fit:
        return sized_tree(fit)

    def _card(self) -> Card:
        return reports.summaries.tree_card(self.fit, self._in_bag)


# ------------------------------------------------------------------------------------------------
# One tree that imitates a fit.
# ------------------------------------------------------------------------------------------------


@public
class SurrogateTreeResults(Explained):
    """Base class of results that one tree can imitate: of all but single trees."""

    def surrogate(
        self,
        max_leaves: int = 8,
        *,
        cv: Folds = 10,
        seed: Seed = None,
        progress: bool = False,
    ) -> Surrogate[ODTResults]:
        """Return one pruned oblique tree that imitates the predictions of the fit.

        The tree is grown on the fit's predictions of the training rows, and pruned to at most
        `max_leaves` leaves.  Its fidelity says how much of the fit it repeats.  Of a fit with
        offsets it imitates predictions at an offset of 0: of counts, those of one unit of exposure.

        Parameters
        ----------
        max_leaves : int, default 8
            The most leaves: as many as can be read.  The tree has fewer if the larger trees of its
            pruning path have a larger error by cross-validation.
        cv : int, array-like or splitter, default 10
            The folds that choose the tree's size and evaluate it; as in `ODTResults.pruning_path`.
        seed : int, SeedSequence or Generator, optional
            By default that of the fit.
        progress : bool, default False
            Show a progress bar over the folds.

        Returns
        -------
        Surrogate
            With the tree, its fidelity, and the errors of both against the response.

        Raises
        ------
        InputError
            If an argument is invalid; if the fit predicts the same for all rows, or was saved
            without its rows.

        Notes
        -----
        The validation rows were not in the tree's training rows, but in those of the fit.  So the
        fidelity is that of the imitation, and the error of the tree against the response is a
        little too small.

        Of classes, the tree has a copy of each row for each class, weighted by its probability.  So
        its own summary counts copies, and its training error is that of drawing a class at random.
        Its nodes, and the drawn tree, count each row once.

        References
        ----------
        M. W. Craven and J. W. Shavlik (1996). Extracting tree-structured representations of trained
        networks. NeurIPS.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("breast_cancer")
        >>> forest = odrf.odrf("diagnosis ~ .", data, n_trees=50, seed=1)
        >>> bool(forest.surrogate(max_leaves=4).agreement > 0.9)
        True
        """
        leaves = checked_whole("max_leaves", max_leaves, 2)
        chosen = self.seed if seed is None else checked_seed(seed)
        imitation = fits.explain.imitated(
            self.fit, leaves, cv, chosen, checked_truth("progress", progress)
        )
        tree = ODTResults(imitation.fit)
        if leaves_rows_out(self.fit):
            return reports.explain.Surrogate(
                self.call, imitation, tree, self._scored_error, "out of bag"
            )
        return reports.explain.Surrogate(
            self.call, imitation, tree, self.training_error, "in training"
        )
