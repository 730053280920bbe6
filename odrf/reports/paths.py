"""Paths: pruning of a tree, pruning of a forest, growth of trees."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable
from typing import TYPE_CHECKING, Any, Generic, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.checks import checked_choice, checked_jobs, is_whole
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.pruning import ForestSizes, labelled_rows, trees_by_loss
from odrf.fits.scores import error_name, loss_name
from odrf.pruning.complexity import CHOICES, GROWTH, MINIMUM, ONE_SE, chosen_row, growth_errors
from odrf.pruning.growth_stages import ALONG, LEAVES, Stages, evaluated_stages, stages_of
from odrf.pruning.validation import HeldOut, SubtreePath
from odrf.public import public, warn_of_old
from odrf.public.progress import progress_bar
from odrf.text.layouts import quantity
from odrf.text.splits import number
from odrf.text.summary import Card, TableReport

if TYPE_CHECKING:
    from matplotlib.axes import Axes

SHOWN = 25
CHOICES_IN_WORDS = {"min": "Smallest error", "1se": "1-SE rule"}
RULES_IN_WORDS = {"weakest_link": "weakest link", "growth": "growth order"}
Made = TypeVar("Made")


@public
class ErrorTable(TableReport):
    """Base class of pruning paths, growth paths and selections of predictors.

    Attributes
    ----------
    fit : Fit
    table : DataFrame
        One row for each size: of a tree, of a forest's trees, or of a set of predictors.
    """

    fit: Fit

    def row(self, rule: str = ONE_SE) -> int:
        """Return the number of the row of `table` that the rule chooses.

        Parameters
        ----------
        {rule}

        Returns
        -------
        int

        Raises
        ------
        InputError
            If `rule` is unknown, or no rows were held out.
        """
        return self._chosen_row(rule)

    def plot(self, *, rule: str = ONE_SE, ax: Axes | None = None) -> Axes:
        """Plot the error of each size, and mark what the rule chooses.

        Without held-out rows, it is the training error.

        Parameters
        ----------
        rule : {"min", "1se"}, default "1se"
            The rule whose choice is marked.
        {about ax}

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        checked_choice("rule", rule, CHOICES)
        return self._plot(rule, ax)

    @abstractmethod
    def _plot(self, rule: str, ax: Axes | None) -> Axes:
        """Plot the errors."""

    @abstractmethod
    def _in_words(self, row: int) -> str:
        """Return the size in a row, in words."""

    def _chosen_row(self, rule: str) -> int:
        """Return the row that the rule chooses by ``error``, the largest size first."""
        return chosen_row(self.table, rule)

    @property
    def _kept(self) -> tuple[int, ...]:
        """The rows that the rules choose, which short tables show, too."""
        return tuple(map(self.row, CHOICES))

    def _choices(self) -> dict[str, str]:
        """Return what the rules choose."""
        words = CHOICES_IN_WORDS.values()
        return dict(zip(words, map(self._in_words, self._kept), strict=True))

    def _some_rows(self, of_what: str, largest_first: bool = False) -> dict[str, pd.DataFrame]:
        """Return about `SHOWN` rows, more of small sizes, and those chosen, under a heading."""
        step = -1 if largest_first else 1
        table = shown = self.table[::step]
        if len(table) > SHOWN:
            at = np.geomspace(1, len(table), SHOWN).round().astype(int) - 1
            shown = table[table.index.isin(table.index[at].append(pd.Index(self._kept)))]
            of_what += f" ({len(shown)} of {len(table)})"
        return {of_what: shown[::step]}


# Evaluates a fit at its stages on held-out rows; takes the number of threads, too.
Evaluate = Callable[[Fit, Stages, int], HeldOut]


@public
class GrowthPath(ErrorTable):
    """Training and test error of a tree or forest along its growth.

    With more leaves, trees approximate the regression function better (less bias), but fewer rows
    estimate the value of each leaf (more variance).  In Theorems 1 and 4 of Zhan, Liu and Xia this
    gives the conditions t_n → ∞ and t_n = o(n/ln⁴n).  Returned by
    `odrf.results.tree.ODTResults.growth_path` and
    `odrf.results.forest.ODRFResults.growth_path`.

    Attributes
    ----------
    fit : Fit
    grown : Fit
        The fit before pruning; `fit` itself if it was not pruned.
    along : {"leaves", "depth"}
        How the size of a tree is measured.
    by : str
        Which rows the test rows are, in words.
    size : int
        Size of the largest tree of `fit`.
    table : DataFrame
        One row for each size, increasing.  Columns: ``leaves`` or ``depth``, the size at which
        trees stop, unless they stop earlier; ``mean_leaves``, for forests, the mean number of
        leaves of the trees (for a tree along the depth, ``leaves``); ``train`` and ``test``, mean
        squared error or misclassification rate of training rows and test rows; ``std_error``, the
        standard error of ``test`` over rows, or over groups of a fit with ``groups=`` (new rows
        without that column count as independent); missing if one row or group evaluates.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.growth_path()
    >>> path.table.columns.tolist()
    ['leaves', 'mean_leaves', 'train', 'test', 'std_error']
    >>> bool(path.table["train"].iloc[-1] < path.table["train"].iloc[0])
    True
    >>> path.best_size("1se") <= path.best_size("min") <= path.size
    True
    """

    _title = "Growth path"

    def __init__(
        self, fit: Fit, grown: Fit, along: str, stages: Stages, train: HeldOut, test: HeldOut,
        by: str,
    ) -> None:  # fmt: skip
        self.fit, self.grown, self.along, self.by = fit, grown, along, by
        stages_of_fit = stages if fit is grown else stages_of(fit.forest, along)
        self.size = int(stages_of_fit.sizes[-1])
        forest = grown.forest
        columns: dict[str, NDArray] = {along: stages.sizes}
        if forest.n_trees > 1:
            columns["mean_leaves"] = stages.leaves
        elif along != LEAVES:
            columns["leaves"] = stages.leaves.astype(np.int64)
        columns |= {"train": train.mean, "test": test.mean, "std_error": test.standard_error}
        for name in ("train", "test", "std_error"):
            columns[name] = columns[name][::-1]
        self.table = pd.DataFrame(columns)

    def best_size(self, rule: str = ONE_SE) -> int:
        """Return the size that the test errors choose: a number of leaves, or a depth.

        Parameters
        ----------
        {rule}

        Returns
        -------
        int

        Raises
        ------
        InputError
            If `rule` is unknown.
        """
        return int(self.table[self.along].iloc[self.row(rule)])

    @property
    def best(self) -> int:
        """The old spelling of ``best_size("min")``."""
        warn_of_old("GrowthPath.best", 'best_size("min")')
        return self.best_size(MINIMUM)

    @property
    def chosen(self) -> int:
        """The old spelling of ``best_size("1se")``."""
        warn_of_old("GrowthPath.chosen", 'best_size("1se")')
        return self.best_size(ONE_SE)

    def _plot(self, rule: str, ax: Axes | None) -> Axes:
        chosen = self.row(rule), CHOICES_IN_WORDS[rule]
        error = error_name(self.fit.kind)
        return plots.pruning.plot_growth(
            self.table, self.along, *chosen, self.size, error, self.by, ax
        )

    def _chosen_row(self, rule: str) -> int:
        # the smallest size is first, and the error is that of the test rows
        return len(self.table) - 1 - chosen_row(self.table[::-1], rule, "test")

    def _card(self) -> Card:
        facts = self._facts()
        title = (
            f"Growth path of {quantity(len(self.table), 'size')}, along the {facts.pop('Along')}"
        )
        return Card(title, facts, self.table, self._kept)

    def _facts(self) -> dict[str, str]:
        return {
            "Along": self.along,
            "Trees": str(self.grown.forest.n_trees),
            "Test error": self.by,
            "This fit": self._sized(self.size),
            **self._choices(),
        }

    def _sections(self) -> dict[str, pd.DataFrame]:
        return self._some_rows("Sizes")

    def _notes(self) -> tuple[str, ...]:
        return (
            f"train and test are the {error_name(self.fit.kind)} of the training rows and of "
            f"{self.by}, std_error the standard error of the latter.",
        )

    def _in_words(self, row: int) -> str:
        line = self.table.iloc[row]
        return f"{self._sized(int(line[self.along]))}, {line['test']:.4g}"

    def _sized(self, size: int) -> str:
        if self.along == LEAVES:
            return quantity(size, "leaf", "leaves")
        return quantity(size, "level of splits", "levels of splits")


def growth_path(
    fit: Fit, along: str, newdata: pd.DataFrame | None, n_jobs: int | None,
    evaluate: Evaluate | None, by: str, progress: bool,
) -> GrowthPath:  # fmt: skip
    """Return the growth path of a fit.

    `evaluate`: returns the test errors if there is no `newdata`.  `by`: of which rows.
    """
    checked_choice("along", along, ALONG)
    jobs = checked_jobs(n_jobs)
    grown = fit.first_grown
    stages = stages_of(grown.forest, along)
    if newdata is None:
        assert evaluate is not None
        test = evaluate(grown, stages, jobs)
    else:
        reading, X, y, groups = labelled_rows(grown, newdata, "newdata")
        test = evaluated_stages(reading.forest, stages, X, y, np.ones(len(y)), jobs, groups=groups)
        by = quantity(len(y), "new row")
    if test.weight == 0:
        raise InputError("every tree sampled every row, and no row is out of bag: give newdata=")
    data = grown.data
    with progress_bar(
        total=len(data.y), desc="training rows", unit="row", progress=progress
    ) as bar:
        train = evaluated_stages(
            grown.forest, stages, data.X, data.y, data.weights, jobs, advance=bar.update
        )
    return GrowthPath(fit, grown, along, stages, train, test, by)


@public
class NestedPath(ErrorTable, Generic[Made]):
    """Base class of the pruning paths of trees and of forests."""

    _title = "Pruning path"

    fit: Fit
    _prune: Callable[..., Made]

    @property
    @abstractmethod
    def pruning(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees are candidates."""

    @property
    def rule(self) -> str:
        """The old name of `pruning`."""
        name = type(self).__name__
        warn_of_old(f"{name}.rule", f"{name}.pruning")
        return self.pruning

    def best(self, rule: str = ONE_SE) -> Made:
        """Return what the errors of rows held out, or out of bag, choose.

        Parameters
        ----------
        {rule}

        Returns
        -------
        ODTResults or ODRFResults

        Raises
        ------
        InputError
            If `rule` is unknown, or no rows were held out.
        """
        return self._best(checked_choice("rule", rule, CHOICES))

    def _best(self, rule: str) -> Made:
        return self._made(self.row(rule))

    def _made(self, k: int) -> Made:
        """Return what is in row `k`; raise `InputError` if there is no such row."""
        if not is_whole(k) or not 0 <= k < len(self.table):
            raise InputError(f"k={k!r} is not a row of the table: use 0 to {len(self.table) - 1}")
        return self._prune(alpha=float(self.table["alpha"].iloc[k]), path=self)


@public
class PruningPath(NestedPath[Made]):
    """The nested subtrees of a tree that are optimal for some α, the largest first.

    Returned by `odrf.results.tree.ODTResults.pruning_path`.

    Attributes
    ----------
    fit : Fit
    subtrees : SubtreePath
    table : DataFrame
        One row for each subtree, from the largest to the root.  The table of a pruned tree is the
        end of its parent's, with the same held-out errors if the folds are the same.  Columns:

        - ``alpha``: the smallest α for which the subtree is optimal; it is optimal up to the
          ``alpha`` of the next row.  In the first row it is 0, or the α at which the tree was
          pruned: a smaller one leaves the tree as it is.  It is 0, too, for a pruned tree that the
          parent has at no α, because ``leaves=`` or another rule or loss cut it; such a tree cannot
          be evaluated by folds.
        - ``leaves``: the number of its leaves.
        - ``error``: its training error: mean squared error, misclassification rate, mean rank
          error, impurity, exponential deviance, or the sum of the log-rank statistics of those
          splits of this tree that it lacks.  For an honest tree the rows are those that give the
          nodes their values.
        - ``relative_error``: ``error`` divided by that of the root.
        - ``xerror`` and ``xstd``, if held-out rows were used: the held-out mean squared error,
          misclassification rate or, for survival times, exponential deviance, divided by that
          of the root on all training rows, and its standard error.  These two names are those of
          the table that rpart's ``printcp`` prints.  As there, the standard error is that of a mean
          over rows, or over groups of a fit with ``groups=`` (new rows without that column count as
          independent), the trees being given.  What the error varies because other samples
          give other trees is not in it: in simulations it was 0.8 of the standard deviation of the
          error over samples, and from 0.5 to 1.0 (``benchmarks/errors/standard_errors.py``).  It is
          missing if one row or group evaluates.

    Notes
    -----
    The smallest ``xerror`` of a path is too small for its subtree: it was chosen for being small.
    So the held-out error in the summary of a tree that a path has chosen is another one.  For each
    fold the errors of the other folds choose α, and this fold gives its error at that α; no further
    tree is grown.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, alpha=None, seed=1)
    >>> path = tree.pruning_path(cv=5)
    >>> path.table.columns.tolist()
    ['alpha', 'leaves', 'error', 'relative_error', 'xerror', 'xstd']
    >>> path.best("1se").n_leaves <= path.best("min").n_leaves
    True
    """

    def __init__(self, fit: Fit, subtrees: SubtreePath, prune: Callable[..., Made]) -> None:
        self.fit, self.subtrees, self._prune = fit, subtrees, prune
        self.table = subtrees.table

    @property
    def pruning(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees are candidates."""
        return self.subtrees.rule

    @property
    def loss(self) -> str:
        """``"error"``, ``"impurity"`` or ``"log_rank"``: how the training error is measured."""
        return self.subtrees.loss

    @property
    def by(self) -> str:
        """Which rows were held out, in words; empty for none."""
        return self.subtrees.by

    @property
    def is_evaluated(self) -> bool:
        """Whether the subtrees were evaluated on held-out rows."""
        return self.subtrees.is_evaluated

    def tree(self, k: int) -> Made:
        """Return the subtree in row `k` of the table.

        Parameters
        ----------
        k : int
            The number of the row; 0 is the largest subtree.

        Returns
        -------
        ODTResults

        Raises
        ------
        InputError
            If there is no such row.
        """
        return self._made(k)

    def _plot(self, rule: str, ax: Axes | None) -> Axes:
        if self.is_evaluated:
            error = f"held-out {error_name(self.fit.kind)}, share of the root's"
            chosen = self.row("min"), self.row(rule), CHOICES_IN_WORDS[rule]
            return plots.pruning.plot_error_path(self.table, *chosen, error, ax)
        along = None
        if self.pruning == GROWTH:
            along = growth_errors(trees_by_loss(self.fit, self.loss), self.loss)
        return plots.pruning.plot_path(self.table, along, loss_name(self.fit, self.loss), ax)

    def _chosen_row(self, rule: str) -> int:
        return self.subtrees.row(rule)

    @property
    def _kept(self) -> tuple[int, ...]:
        return super()._kept if self.is_evaluated else ()

    def _in_words(self, row: int) -> str:
        return quantity(self.table["leaves"].iloc[row], "leaf", "leaves")

    def _card(self) -> Card:
        facts = {"Rule": RULES_IN_WORDS[self.pruning], **self._evaluation()}
        title = f"Pruning path of {quantity(len(self.table), 'subtree')}"
        return Card(title, facts, self.table, self._kept)

    def _facts(self) -> dict[str, str]:
        return {
            "Rule": RULES_IN_WORDS[self.pruning],
            "Leaves grown": str(int(self.fit.forest.leaves()[0])),
            "Subtrees": str(len(self.table)),
            "Training error": loss_name(self.fit, self.loss),
            **self._evaluation(),
        }

    def _evaluation(self) -> dict[str, str]:
        return {"Evaluated by": self.by, **self._choices()} if self.is_evaluated else {}

    def _sections(self) -> dict[str, pd.DataFrame]:
        return self._some_rows("Subtrees", largest_first=True)

    def _notes(self) -> tuple[str, ...]:
        notes: tuple[str, ...] = (
            "prune(alpha=) gives a subtree for any alpha from its row's up to the next row's. "
            "error is that of the training rows; relative_error is divided by the error of the "
            f"root, {number(float(self.table['error'].iloc[-1]))}.",
        )
        if self.is_evaluated:
            notes += (
                f"xerror is the {error_name(self.fit.kind)} of the held-out rows divided by that "
                "of the root on the training rows, xstd its standard error.",
            )
            if self.subtrees.nested:
                error, std_error = self.subtrees.nested[MINIMUM]
                notes += (
                    "The smallest xerror is smallest by chance, too: if the other folds choose the "
                    f"subtree for each fold, it is {number(error)} (SE {number(std_error)}).",
                )
        return notes


@public
class ForestPath(NestedPath[Made]):
    """A forest pruned at increasing α, the same for each tree (Theorem 5).

    Returned by `odrf.results.forest.ODRFResults.pruning_path`.

    Attributes
    ----------
    fit : Fit
    sizes : ForestSizes
        Its sizes and errors at increasing α.
    table : DataFrame
        One row for each α, from 0 to an α at which no splits remain.  Columns: ``alpha``;
        ``leaves``, the mean number of leaves of a tree; ``error``, the out-of-bag mean squared
        error or misclassification rate; ``std_error``, its standard error over rows or groups.

    Examples
    --------
    >>> import odrf
    >>> forest = odrf.odrf("progression ~ .", odrf.load_data("diabetes"), n_trees=25, seed=1)
    >>> path = forest.pruning_path()
    >>> bool(path.table["leaves"].is_monotonic_decreasing)
    True
    """

    _heading = "Forests"

    def __init__(self, fit: Fit, sizes: ForestSizes, prune: Callable[..., Made]) -> None:
        self.fit, self.sizes, self._prune = fit, sizes, prune
        self.table = sizes.table

    @property
    def pruning(self) -> str:
        """``"weakest_link"`` or ``"growth"``: which subtrees of each tree are candidates."""
        return self.sizes.rule

    def _best(self, rule: str) -> Made:
        return self._prune(rule=rule, path=self)

    def forest(self, k: int) -> Made:
        """Return the forest in row `k` of the table.

        Parameters
        ----------
        k : int
            The number of the row, from 0.

        Returns
        -------
        ODRFResults

        Raises
        ------
        InputError
            If there is no such row.
        """
        return self._made(k)

    def _plot(self, rule: str, ax: Axes | None) -> Axes:
        table = self.table.rename(columns={"error": "xerror", "std_error": "xstd"})
        error = f"out-of-bag {error_name(self.fit.kind)}"
        chosen = self.row("min"), self.row(rule), CHOICES_IN_WORDS[rule]
        sizes = "leaves, mean of the trees"
        return plots.pruning.plot_error_path(table, *chosen, error, ax, sizes, "α of all trees")

    def _card(self) -> Card:
        title = f"Pruning path of a forest: {len(self.table)} values of alpha"
        return Card(title, self._facts(), self.table, self._kept)

    def _facts(self) -> dict[str, str]:
        trees = str(self.fit.forest.n_trees)
        return {"Rule": RULES_IN_WORDS[self.pruning], "Trees": trees, **self._choices()}

    def _notes(self) -> tuple[str, ...]:
        return (
            f"error is the out-of-bag {error_name(self.fit.kind)}, std_error its standard error "
            "over rows or groups, leaves the mean of the trees.",
        )

    def _in_words(self, row: int) -> str:
        line = self.table.iloc[row]
        return f"{line['leaves']:.1f} leaves, alpha = {line['alpha']:.3g}"


def require_own_path(path: Any, fit: Fit, whole: str) -> None:
    """Raise `InputError` unless a path is None or the pruning path of this fit, a `whole`."""
    is_path = isinstance(path, PruningPath | ForestPath)
    if path is not None and not (is_path and path.fit.forest is fit.forest):
        raise InputError(
            f"path= belongs to another {whole}, or is no path: use this {whole}'s pruning_path()"
        )
