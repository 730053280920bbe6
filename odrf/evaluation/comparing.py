"""Comparison of models by cross-validation, all on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import MOST, Seed, checked_jobs, checked_seed, checked_whole, is_whole
from odrf.design.folds import Division, FoldRows, Folds, read_division
from odrf.design.functions import environment
from odrf.engine.running import in_order
from odrf.errors import InputError
from odrf.evaluation.comparison import Comparison, FoldsUsed
from odrf.evaluation.metrics import metric_for
from odrf.evaluation.models import read_models
from odrf.evaluation.scoring import Scoring, check_formulas, check_predicted
from odrf.evaluation.tasks import (
    UNNAMED,
    BesideFormula,
    Task,
    arguments_given,
    check_same_kind,
    named_tables,
    read_task,
)
from odrf.public import public
from odrf.public.progress import progress_bar

__all__ = ["compare"]

Tables = pd.DataFrame | Mapping[str, pd.DataFrame] | Mapping[str, tuple[str, pd.DataFrame]]


@public
def compare(
    formula: str | None,
    data: Tables,
    models: Mapping[str, Any],
    *,
    cv: Folds = 10,
    repeats: int = 1,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare models by cross-validation, all on the same folds.

    Parameters
    ----------
    formula : str or None
        The model, such as ``"y ~ ."``; see `odt`.  If the classes are numbers, write
        ``"C(y) ~ ."``.  None if every table comes with its own formula.
    data : DataFrame or mapping
        One table, or several by name: for each a data frame, or a pair (formula, data frame).
        Rows whose response is missing are left out.  A model must predict all others, also those
        with missing values of predictors.  Where the training rows of a fold lack a level of a
        factor, fits of this package take its test rows to have none of the known levels, without a
        warning.
    models : mapping of str to model
        Two or more by name, each one of

        - a function of formula and data that returns a fit with ``predict(newdata)``, such as
          `odt` or ``functools.partial(odrf.odrf, n_trees=100)``; for probabilities it is called
          as ``predict(newdata, type="prob")``, for survival as ``predict(newdata,
          type="survival", times=times)``.  If it has an argument `seed` that is not set yet,
          a seed is passed to it.  Options are set in it: of events of several causes, for example,
          ``functools.partial(odrf.odrf, cause=…)`` splits for one of them;
        - a formula with the same response, for `odrf`;
        - a pair of a formula with the same response and one of the other kinds of models;
        - an estimator with ``fit(X, y)`` and ``predict(X)``, as in scikit-learn.  A copy of it is
          fitted to the columns of the formula's design matrix, each scaled to a range of 1 on the
          training rows, with one 0/1 column per level of a factor.  Missing values are NaN, those
          of a factor a level of their own: begin a pipeline with ``SimpleImputer()`` if the
          estimator takes no NaN.  If its ``random_state`` is None, a seed is set.  For times to
          an event it is one of `odrf.sklearn`, or of scikit-survival.
    cv : int, str, array-like or splitter, default 10
        - A number of folds, stratified by class, or by whether rows had an event.
        - The fold of each row: labels of any kind, or the name of a column that holds them.  Models
          do not see this column unless a formula names it.
        - An object with ``split(X, y, groups)``, as in scikit-learn.  X are row numbers.  If its
          ``random_state`` is None and it draws rows at random, a seed is set.

        Every test row counts once, also if a model is fitted with case weights.
    repeats : int, default 1
        How often the table is divided into new folds.
    metric : str or callable, default "auto"
        - For a numeric response ``"mse"`` (the default), ``"rmse"``, ``"mae"``, ``"r2"``.
        - For classes ``"error"`` (the default) and ``"accuracy"``; on predicted probabilities
          ``"brier"`` (the sum over the classes, so for two classes twice the squared error of
          the probability of one class), ``"log_loss"``, and for two classes ``"auc"``.
        - For times to an event ``"integrated_brier"`` (the default) of predicted survival,
          ``"uno_c"`` and ``"harrell_c"`` of risks.  Up to which time events count, and the
          weights that make up for censored rows, follow from all rows of the table, as in
          ``score()`` of a fit.
        - Or a function of observed and predicted values, numbers or labels, two arrays (n,).  For
          times to an event it takes a data frame with the columns ``time`` and ``event``, and
          ``start`` if rows enter late, and an array (n,) of risks.  It returns a number; smaller is
          better.

        Metrics of times to an event are those of the events of all causes.
    groups : str or array-like, optional
        Which rows belong together, such as all rows of one subject: the name of a column, or a
        value for each row of the only table.  If `cv` is a number, folds hold out whole groups.
    order : str or array-like, optional
        The time of each row: numbers, dates or times, as for `groups`, and not together with it.
        If `cv` is a number, the rows are divided into ``cv + 1`` blocks of successive times, and
        each but the first tests models that are fitted to all rows before it.
    strata : str or array-like, optional
        The stratum of each row, as for `groups`.  If `cv` is a number, folds keep the shares of
        the strata; those in time do not.
    seed : int, SeedSequence or Generator, optional
        Makes the comparison reproducible, for any number of threads.  `Comparison.seed` is the
        seed that was used.
    n_jobs : int, optional
        Threads, one fold each; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
        Models have their own threads beside these.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    Comparison
        Scores, mean scores with standard errors, and tests for each pair of models.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    Notes
    -----
    A model with arguments `groups`, `order` or `strata` that are not set yet, such as `odrf.odrf`,
    gets those of the training rows.  Columns that they name are no predictors unless a formula
    names them.

    References
    ----------
    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> import odrf
    >>> from functools import partial
    >>> models = {"oblique": odrf.odt, "axis": partial(odrf.odt, projection="axis")}
    >>> comparison = odrf.compare("diagnosis ~ .", odrf.load_data("breast_cancer"), models, seed=1)
    >>> comparison.scores.shape
    (10, 2)
    >>> comparison.table.index[0]
    'oblique'
    """
    env = environment(2)
    named_models = read_models(models)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    structure = arguments_given(groups=groups, order=order, strata=strata)
    beside = BesideFormula(structure, cv if isinstance(cv, str) else None, formulas)
    tasks = []
    for name, (table_formula, table) in named_tables(formula, data).items():
        tasks.append(read_task(name, table_formula, table, env, beside, with_times=True))
    check_same_kind(tasks)
    kind = tasks[0].response.kind
    score = metric_for(metric, kind, max(task.n_classes for task in tasks))
    check_predicted(named_models, score)
    check_formulas(named_models, tasks, env)
    repeats, seed = checked_whole("repeats", repeats, 1, MOST), checked_seed(seed)
    divisions = [_division(cv, task) for task in tasks]
    scoring = Scoring(named_models, score, env)
    folds = [
        fold
        for number, (task, division) in enumerate(zip(tasks, divisions, strict=True))
        for fold in _folds(task, number, division, repeats, seed)
    ]
    rows = []
    with progress_bar(total=len(folds), unit="fold", progress=progress) as bar:
        for row in in_order(partial(_scores, scoring), folds, checked_jobs(n_jobs)):
            rows.append(row)
            bar.update()
    index = pd.MultiIndex.from_tuples(
        [(fold.task.name, fold.repeat, fold.number) for fold in folds],
        names=["table", "repeat", "fold"],
    )
    scores = pd.DataFrame(rows, index=index, columns=pd.Index(list(named_models), name="model"))
    sizes = {task.name: len(task.y) for task in tasks}
    k = max(fold.number for fold in folds)
    used = FoldsUsed(
        k,
        _spelled({"cv": k if is_whole(cv) else cv, **structure}),
        divisions[0].words(k, tasks[0].rows),
        sum(fold.rows.test.sum() for fold in folds) / sum(fold.rows.train.sum() for fold in folds),
    )
    return Comparison(scores, score, formula, sizes, used, seed)


@dataclass(frozen=True, eq=False)
class _Fold:
    """One fold of a table; fold and repeat count from 1."""

    task: Task
    repeat: int
    number: int
    rows: FoldRows
    seed: int

    def __str__(self) -> str:
        return f"table {self.task.name!r}, repeat {self.repeat}, fold {self.number}"


def _spelled(arguments: Mapping[str, Any]) -> str:
    """Return arguments as the call shows them: numbers and names of columns, but no values."""
    return ", ".join(
        f"{name}={value!r}" if isinstance(value, int | str) else f"{name}=…"
        for name, value in arguments.items()
    )


def _division(cv: Folds, task: Task) -> Division:
    """Return how the rows of a table are divided; an error names the table."""
    try:
        return read_division(cv, task.rows, task.data.index, task.used, task.table)
    except InputError as error:
        if task.name == UNNAMED:
            raise
        raise InputError(f"table {task.name!r}: {error}") from error


def _folds(task: Task, number: int, division: Division, repeats: int, seed: int) -> Iterator[_Fold]:
    """Divide a table; each division has a seed, and each fold a seed for its models.

    Raises
    ------
    InputError
        If there are several repeats, and the folds are the same in each.
    """
    before: list[FoldRows] = []
    for repeat in range(repeats):
        sequence = np.random.SeedSequence(seed, spawn_key=(number, repeat))
        state = sequence.generate_state((division.k or 0) + 1)
        folds = division.folds(task.rows, int(state[-1]))
        if not division.is_random(task.rows) and repeat > 0 and _are_same(before, folds):
            raise InputError(
                f"repeats={repeats}: every repeat has the same folds; use repeats=1, or a number "
                "of random folds as cv="
            )
        before, seeds = folds, sequence.generate_state(len(folds))
        for k, rows in enumerate(folds):
            yield _Fold(task, repeat + 1, k + 1, rows, int(seeds[k]))


def _are_same(some: list[FoldRows], others: list[FoldRows]) -> bool:
    return len(some) == len(others) and all(
        (one.test == other.test).all() for one, other in zip(some, others, strict=True)
    )


def _scores(scoring: Scoring, fold: _Fold) -> list[float]:
    """Return each model's score on a fold."""
    return scoring.scores(fold.task, *fold.rows, fold.seed, str(fold))
