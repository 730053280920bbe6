"""The pruning of one tree, by its options, its path, or a number of leaves."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import pandas as pd

from odrf import fits, reports
from odrf.checks import (
    Seed,
    checked_choice,
    checked_jobs,
    checked_seed,
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
    stages_by_folds,
    training_path,
    with_forest,
)
from odrf.fits.responses import folds_asked
from odrf.pruning.complexity import ERROR, LOG_RANK, LOSSES, RULES, WEAKEST_LINK, with_leaves
from odrf.pruning.growth_stages import LEAVES
from odrf.public import public_method, respelled
from odrf.results.base import Of

if TYPE_CHECKING:
    from odrf.reports.paths import GrowthPath, PruningPath

# Folds of the cross-validation, unless the user says how many.
FOLDS = 10


class OneTree(Of[Fit], Protocol):
    """Results of one tree, of whatever response; `parent` is the tree before pruning."""

    def __init__(
        self, fit: Fit, parent: Any = None, path: PruningPath[Any] | None = None
    ) -> None: ...

    @property
    def path(self) -> PruningPath[Any] | None:
        """The pruning path that the tree was chosen from."""


Own = TypeVar("Own", bound=OneTree)


def before_pruning(
    result: Own, path: PruningPath[Any] | None
) -> tuple[Own | None, PruningPath[Any] | None]:
    """Return the tree before it was pruned by its options, and the path; else None, and `path`."""
    pruning = result.fit.pruning
    if pruning is None:
        return None, path
    parent = type(result)(pruning.grown)
    if pruning.path is not None:
        path = reports.paths.PruningPath(parent.fit, pruning.path, partial(prune, parent))
    return parent, path


def require_no_folds(cv: Folds | None) -> None:
    """Raise `InputError` if folds are asked for beside new rows, which take their place."""
    if cv is not None:
        require_default("cv", cv, FOLDS, "paths without newdata=")


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
    {folds_of_path}
    newdata : DataFrame, optional
        Rows with responses to evaluate the subtrees on, instead of folds: leave `cv` out then.
        Each counts once.
    loss : {"error", "impurity", "log_rank"}, default "error"
        How R is measured for classes: by the misclassification rate, or by the impurity with
        which the tree was grown.  For a tree with the ordinal impurity, ``"error"`` is the
        mean rank error, which no split can increase.  The held-out error is always the
        misclassification rate.  For survival times R is the exponential deviance in any
        case (LeBlanc and Crowley 1992): twice the difference of log-likelihood between a hazard
        for each row and one for each leaf, on the scale of time on which the hazard of all rows
        is constant.  Hazards of leaves are shrunken to that of all rows, as by rpart.

        ``"log_rank"``, for survival times: split complexity (LeBlanc and Crowley 1993).  R
        is the sum of the log-rank statistics of the splits that a subtree lacks, so the path
        has the subtrees with the largest sum of the statistics of their splits, less α for each
        split.  The statistics are those of `nodes`, of the rows that chose the splits unless
        the tree is honest; so they are too large.  LeBlanc and Crowley take α from 2 to 4.  The
        held-out error is the exponential deviance here too; statistics in the trees of folds
        are multiplied as if these had been grown on all rows.
    {seed_of_folds, threads_of_path, progress}

    Returns
    -------
    PruningPath

    Raises
    ------
    InputError
        If an option is invalid, or `newdata` lacks the response, a column or complete rows; if
        `loss` is ``"log_rank"``, and the tree is not for survival times; or if folds are to
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
    fits.pruning.trees_by_loss(self.fit, loss)
    seed = self.fit.control.seed if seed is None else checked_seed(seed)
    if newdata is not None:
        require_no_folds(cv)
        path = path_by_rows(self.fit, pruning, loss, newdata)
    elif cv is None:
        path = training_path(self.fit, pruning, loss)
    else:
        folds, jobs = folds_asked(self.fit, cv, seed, ", or None"), checked_jobs(n_jobs)
        path = path_by_folds(self.fit, pruning, loss, folds, jobs, progress)
    return reports.paths.PruningPath(self.fit, path, partial(prune, self))


@public_method
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
        Complexity parameter α: take the subtree with the smallest R + α·(number of leaves), of ties
        the smallest.  R is the training error: mean squared error or misclassification rate; for a
        tree with the ordinal impurity, mean rank error; for survival times, mean exponential
        deviance; or what `loss` says.
    leaves : int, optional
        The number of leaves.  If weakest link gives no such subtree, take the next smaller one.
    rule : {"min", "1se"}, optional
        Take the subtree that held-out rows choose; see `PruningPath.best`.
    path : PruningPath, optional
        The pruning path; by default that of the option `pruning`, by 10-fold cross-validation, or
        with as many folds as there are groups.
    loss : {"error", "impurity", "log_rank"}, optional
        How R is measured, as in `pruning_path`; by default as in `path`, else ``"error"``.  With
        ``"log_rank"``, `alpha` is on the scale of the statistics of splits.
    {progress}

    Returns
    -------
    results of the same class
        With this tree as its ``parent``, and the ``path`` that it was chosen from, if any.

    Raises
    ------
    InputError
        If not exactly one of the three is given, it is invalid, `path` is another tree's, or `loss`
        is not that of `path`.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tree = odrf.odt("progression ~ .", data, alpha=None, seed=1)
    >>> tree.prune(rule="1se").n_leaves < tree.n_leaves
    True
    """
    if sum(choice is not None for choice in (alpha, leaves, rule)) != 1:
        raise InputError("prune() takes alpha=, leaves= or rule=: give exactly one of them")
    reports.paths.require_own_path(path, self.fit, "tree")
    if loss is not None:
        path = _path_by(self, loss, path, evaluated=rule is not None, progress=progress)
    if rule is not None:
        path = path or pruning_path(
            self, self.fit.control.pruning, cv=_folds(self.fit), progress=progress
        )
        return _cut(self, path.subtrees.alpha(rule), f"rule={rule!r}", path)
    if alpha is not None:
        alpha = checked_alpha(alpha)
        return _cut(self, alpha, f"alpha={alpha!r}", path)
    candidates, loss = (path.pruning, path.loss) if path else (self.fit.control.pruning, ERROR)
    kept = checked_leaves(leaves, int(self.fit.forest.leaves()[0]))
    smaller = with_leaves(fits.pruning.trees_by_loss(self.fit, loss), kept, candidates, loss)
    forest = replace(self.fit.forest, left=smaller.left)
    option = _arguments(f"leaves={leaves}", loss)
    subtrees = None if path is None else path.subtrees
    pruned = with_forest(self.fit, forest, option, subtrees)
    return type(self)(pruned, self, path)


def _folds(fit: Fit) -> int:
    """Return the number of folds of a path by default: few rows, groups or times have fewer."""
    return min(FOLDS, most_folds(rows_to_divide(fit.design, fit.data)))


def _path_by(
    self: Own, loss: str, path: PruningPath[Any] | None, evaluated: bool, progress: bool
) -> PruningPath[Any]:
    """Return the path, which must be of `loss`; by default by folds if errors are needed."""
    if path is None:
        cv = _folds(self.fit) if evaluated else None
        return pruning_path(self, self.fit.control.pruning, cv=cv, loss=loss, progress=progress)
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


@public_method
def growth_path(
    self: Of[Fit],
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
    {folds_of_path}
        They are not for `newdata`.
    {seed_of_folds, threads_of_path, progress}

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
    of_folds = self.fit.control.seed if seed is None else checked_seed(seed)
    if newdata is not None:
        require_no_folds(cv)
        return reports.paths.growth_path(self.fit, along, newdata, n_jobs, None, "", progress)
    folds = folds_asked(self.fit, cv, of_folds, ", or give newdata=")
    by_folds = partial(stages_by_folds, along=along, cv=folds, progress=progress)
    return reports.paths.growth_path(self.fit, along, None, n_jobs, by_folds, folds.by, progress)
