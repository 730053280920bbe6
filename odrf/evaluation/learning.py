"""Learning curves: error against the number of training rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.api.trees import odrf
from odrf.checks import checked_jobs, checked_seed, checked_whole, is_whole
from odrf.design.formulas.lookup import environment
from odrf.engine.parallel import in_order
from odrf.errors import InputError
from odrf.evaluation.learning_curve import LearningCurve
from odrf.evaluation.metrics import metric_for
from odrf.evaluation.models import read_models
from odrf.evaluation.scoring import Scoring
from odrf.evaluation.tasks import ALONE, Task, read_task

__all__ = ["learning_curve"]

SIZES, FEWEST_ROWS, TEST_SHARE = 8, 20, 0.25
FEWEST_SIZES = 3

Seed = int | np.random.SeedSequence | np.random.Generator | None


def learning_curve(
    formula: str,
    data: pd.DataFrame,
    models: Mapping[str, Any] | None = None,
    *,
    sizes: str | Sequence[int] = "geometric",
    repeats: int = 5,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> LearningCurve:
    """Ask what more rows would buy.

    A quarter of the rows is set aside, models are fitted to nested subsamples of the others and
    judged on that quarter; the law error(n) = a + b·n^(-c) is fitted to the mean errors.

    Parameters
    ----------
    formula : str
        The model; see `odt`.
    data : DataFrame
    models : mapping of str to model, optional
        As in `compare`; by default the forest of `odrf`.
    sizes : "geometric" or sequence of int, default "geometric"
        Numbers of training rows, 3 or more: by default 8 from 20 to three quarters of the table,
        each the same multiple of the one before.
    repeats : int, default 5
        How often the rows are divided anew.
    metric : str or callable, default "auto"
        As in `compare`, of those where less is better.
    seed : int, SeedSequence or Generator, optional
        Makes the curve reproducible, for any number of threads.
    n_jobs : int, optional
        Threads, one fit each; by default all cores.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    LearningCurve
        With ``table``, ``law``, ``extrapolate(n)``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        Naming the argument at fault and the way out; or the model that fails, and where.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> curve = odrf.learning_curve("progression ~ .", data, {"tree": odrf.odt}, seed=1)
    >>> curve.law.columns.tolist()
    ['a', 'b', 'c', 'a_low', 'a_high', 'c_low', 'c_high']
    """
    env = environment(1)
    task = read_task(ALONE, formula, data, env)
    rule = metric_for(metric, task.response.kind, task.n_classes)
    if rule.greater_is_better:
        raise InputError(
            f"metric={metric!r} grows with accuracy: use an error, such as its default"
        )
    named_models = read_models({"odrf": odrf} if models is None else models, fewest=1)
    n_test = max(1, round(TEST_SHARE * len(task.y)))
    rows = _sizes(sizes, len(task.y) - n_test)
    own = checked_seed(seed)
    parts = [
        _SizeSplit(task, size, repeat, *_divided(task, n_test, size, own, repeat))
        for repeat in range(checked_whole("repeats", repeats, 1))
        for size in rows
    ]
    scoring = Scoring(named_models, rule, env)
    lines = []
    with tqdm(total=len(parts), unit="size", disable=not progress) as bar:
        for line in in_order(partial(_errors, scoring), parts, checked_jobs(n_jobs)):
            lines.append(line)
            bar.update()
    index = pd.MultiIndex.from_tuples(
        [(part.repeat + 1, part.size) for part in parts], names=["repeat", "n"]
    )
    errors = pd.DataFrame(lines, index=index, columns=pd.Index(list(named_models), name="model"))
    return LearningCurve(errors, rule, formula, n_test, own)


def _sizes(sizes: str | Sequence[int], most: int) -> list[int]:
    """Return the numbers of training rows, rising; raise `InputError` where they are none."""
    if isinstance(sizes, str):
        if sizes != "geometric":
            raise InputError(f'sizes={sizes!r}: use "geometric" or a list of numbers of rows')
        fewest = min(FEWEST_ROWS, most)
        return sorted({round(size) for size in np.geomspace(fewest, most, SIZES).tolist()})
    found: list[Any] = sorted(set(sizes))
    whole = all(is_whole(size) for size in found)
    if not whole or len(found) < FEWEST_SIZES or found[0] < 2 or found[-1] > most:
        raise InputError(
            f"sizes={sizes!r}: use {FEWEST_SIZES} or more whole numbers of rows from 2 to {most}, "
            "three quarters of the table"
        )
    return [int(size) for size in found]


@dataclass(frozen=True, eq=False)
class _SizeSplit:
    """A number of rows to learn from, and those to be predicted."""

    task: Task
    size: int
    repeat: int
    train: NDArray[np.int64]
    test: NDArray[np.int64]
    seed: int


def _divided(
    task: Task, n_test: int, size: int, seed: int, repeat: int
) -> tuple[NDArray[np.int64], NDArray[np.int64], int]:
    """Return training rows, test rows and a seed; smaller samples are parts of larger ones.

    The rows are in an order in which any run of them has the classes' shares.
    """
    state = np.random.SeedSequence(seed, spawn_key=(repeat,)).generate_state(2)
    place: NDArray[np.float64] = np.random.default_rng(state[0]).random(len(task.y))
    if task.n_classes > 1:
        for code in range(task.n_classes):
            own = np.flatnonzero(task.y == code)
            rank = np.argsort(np.argsort(place[own]))
            place[own] = (rank + place[own]) / len(own)
    order = np.argsort(place, kind="stable")
    return order[n_test : n_test + size], order[:n_test], int(state[1])


def _errors(scoring: Scoring, part: _SizeSplit) -> list[float]:
    """Return each model's error on the test rows."""
    return scoring.scores(part.task, part.train, part.test, part.seed, f"{part.size} rows")
