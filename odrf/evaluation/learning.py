"""Fitting models to nested samples: error against the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.api.oblique_forests import odrf
from odrf.checks import MOST, Seed, checked_jobs, checked_seed, checked_whole, is_list, is_whole
from odrf.design.folds import last_times, strata_cells
from odrf.design.functions import environment
from odrf.engine.running import in_order
from odrf.errors import InputError
from odrf.evaluation.learning_curve import LearningCurve
from odrf.evaluation.metrics import metric_for
from odrf.evaluation.models import read_models
from odrf.evaluation.scoring import Scoring, check_formulas, check_predicted
from odrf.evaluation.tasks import UNNAMED, BesideFormula, Task, arguments_given, read_task
from odrf.public import public
from odrf.public.progress import progress_bar

__all__ = ["learning_curve"]

SIZES, FEWEST_ROWS, TEST_SHARE = 8, 20, 0.25
FEWEST_SIZES = 3


@public
def learning_curve(
    formula: str,
    data: pd.DataFrame,
    models: Mapping[str, Any] | None = None,
    *,
    sizes: str | Sequence[int] = "geometric",
    repeats: int = 5,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> LearningCurve:
    """Estimate how the error of models falls with the number of training rows.

    A quarter of the rows is held out.  Models are fitted to nested samples of the other rows and
    evaluated on that quarter.  The power law error(n) = a + b·n^(-c) is fitted to the mean errors.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame
    models : mapping of str to model, optional
        As in `compare`; by default the forest of `odrf`.
    sizes : "geometric" or sequence of int, default "geometric"
        Numbers of training rows; 3 or more different ones.  By default 8 from 20 to three quarters
        of the table, in geometric progression.
    repeats : int, default 5
        How often the rows are divided anew into training and test rows.
    metric : str or callable, default "auto"
        As in `compare`, but only metrics for which smaller is better, and whose values are at least
        0, as those of the power law.
    groups : str or array-like, optional
        Which rows belong together; as in `compare`.  Whole groups are held out, about a quarter of
        the rows.  Training samples take one group after the other, the last one in part.
    order : str or array-like, optional
        The time of each row; as in `compare`.  The last quarter of the rows is held out, each time,
        and training samples are random rows before it.
    strata : str or array-like, optional
        The stratum of each row; as in `compare`.  Test rows and training samples keep the shares of
        the strata.
    seed : int, SeedSequence or Generator, optional
        Makes the curve reproducible, for any number of threads.
    n_jobs : int, optional
        Threads, one training sample each; by default all cores, or as many as ``OMP_NUM_THREADS``
        says.  Models have their own threads beside these.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    LearningCurve
        With ``table``, ``law``, ``extrapolate(n)``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> curve = odrf.learning_curve("progression ~ .", data, {"tree": odrf.odt}, seed=1)
    >>> curve.law.columns.tolist()
    ['a', 'b', 'c', 'a_conf_low', 'a_conf_high', 'c_conf_low', 'c_conf_high']
    """
    env = environment(2)
    named_models = read_models({"odrf": odrf} if models is None else models, fewest=1)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    structure = arguments_given(groups=groups, order=order, strata=strata)
    task = read_task(
        UNNAMED, formula, data, env, BesideFormula(structure, formulas=formulas), with_times=True
    )
    loss = metric_for(metric, task.response.kind, task.n_classes)
    if loss.greater_is_better:
        raise InputError(
            f"metric={metric!r} grows with accuracy: use a metric for which smaller is better, "
            'such as the default, "auto"'
        )
    check_predicted(named_models, loss)
    check_formulas(named_models, [task], env)
    seed = checked_seed(seed)
    drawn = [_draw(task, seed, r) for r in range(checked_whole("repeats", repeats, 1, MOST))]
    n_test = max(len(rows.test) for rows in drawn)
    train_sizes = _train_sizes(sizes, min(len(rows.train) for rows in drawn))
    splits = [
        _SizeSplit(task, size, repeat, rows.train[:size], rows.test, rows.seed)
        for repeat, rows in enumerate(drawn)
        for size in train_sizes
    ]
    scoring = Scoring(named_models, loss, env)
    lines = []
    with progress_bar(total=len(splits), unit="size", progress=progress) as bar:
        for line in in_order(partial(_errors, scoring), splits, checked_jobs(n_jobs)):
            lines.append(line)
            bar.update()
    index = pd.MultiIndex.from_tuples(
        [(split.repeat + 1, split.size) for split in splits], names=["repeat", "n"]
    )
    errors = pd.DataFrame(lines, index=index, columns=pd.Index(list(named_models), name="model"))
    return LearningCurve(errors, loss, formula, n_test, seed)


def _train_sizes(sizes: str | Sequence[int], most: int) -> list[int]:
    """Return the numbers of training rows in rising order; raise `InputError` if invalid."""
    if isinstance(sizes, str):
        if sizes != "geometric":
            raise InputError(f'sizes={sizes!r}: use "geometric" or a list of numbers of rows')
        fewest = min(FEWEST_ROWS, most)
        found = sorted({round(size) for size in np.geomspace(fewest, most, SIZES).tolist()})
        if len(found) < FEWEST_SIZES:
            raise InputError(
                f"{most} training rows are too few for sizes from {FEWEST_ROWS} on: give sizes=, "
                f"a list of {FEWEST_SIZES} or more numbers of rows"
            )
        return found
    listed: list[Any] = list(sizes) if is_list(sizes) else []
    whole = all(is_whole(size) for size in listed)
    different = sorted(set(listed)) if whole else []
    if len(different) < FEWEST_SIZES or different[0] < 2 or different[-1] > most:
        raise InputError(
            f"sizes={sizes!r}: use {FEWEST_SIZES} or more whole numbers of rows from 2 to {most}, "
            "the rows that are not held out"
        )
    return [int(size) for size in different]


@dataclass(frozen=True, eq=False)
class _SizeSplit:
    """Training rows of one size, and test rows."""

    task: Task
    size: int
    repeat: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


class _Drawn(NamedTuple):
    """Test rows, the other rows in the order in which samples grow, and a seed for the models."""

    test: NDArray[np.int64]
    train: NDArray[np.int64]
    seed: int


def _draw(task: Task, seed: int, repeat: int) -> _Drawn:
    """Divide the rows: every run of consecutive rows has the shares of classes and strata.

    The rows of a group follow each other.  If the rows have an order, the last ones test.
    """
    state = np.random.SeedSequence(seed, spawn_key=(repeat,)).generate_state(2)
    rows, n = task.rows, len(task.y)
    groups, times = rows.groups, rows.order
    units = np.arange(n) if groups is None else groups
    first = np.unique(units, return_index=True)[1]
    cells = strata_cells(rows)[first]
    place: NDArray[np.float64] = np.random.default_rng(state[0]).random(len(first))
    if cells.any():
        for cell in np.unique(cells):
            of_cell = np.flatnonzero(cells == cell)
            rank = np.argsort(np.argsort(place[of_cell]))
            place[of_cell] = (rank + place[of_cell]) / len(of_cell)
    order = np.argsort(place[units], kind="stable")
    tests = np.arange(n) < max(1, round(TEST_SHARE * n))
    if times is not None:
        tests = last_times(times, TEST_SHARE)[order]
    elif groups is not None:
        tests = np.isin(groups[order], groups[order[tests]])
    return _Drawn(order[tests], order[~tests], int(state[1]))


def _errors(scoring: Scoring, split: _SizeSplit) -> list[float]:
    """Return each model's error on the test rows; raise `InputError` if one is below 0."""
    where = f"{split.size} rows"
    errors = scoring.scores(split.task, split.train, split.test, split.seed, where)
    for name, error in zip(scoring.named_models, errors, strict=True):
        if error < 0:
            raise InputError(
                f"metric {scoring.metric.name!r} is {error:.3g} for model {name!r} on {where}: use "
                "a metric of at least 0, as the power law has no values below 0"
            )
    return errors
