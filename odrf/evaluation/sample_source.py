"""Sources of training samples and test rows: simulated problems, and tables."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.checks import checked_whole
from odrf.design import Response
from odrf.errors import InputError
from odrf.evaluation.tasks import UNNAMED, BesideFormula, Task, read_task
from odrf.simulate.problem import RESPONSE, Problem, one_hot
from odrf.simulate.survival import SurvivalProblem

__all__ = ["SampleSource", "read_source"]

TEST_ROWS, TEST_SHARE = 2000, 0.5
FEWEST_TEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class SampleSource:
    """Training samples of any size, and m test rows with their truth.

    Attributes
    ----------
    name : str
        Name of the problem; or the formula.
    task : Task
        Formulas of models are checked against it.
    response : Response
        With all classes of the problem, also those without rows.
    test : DataFrame
        The m test rows.
    truth : (m,) or (m, K) float64
        m(x), or P(class | x).  If it is not known, the observed responses, or 1 for the observed
        class.
    noise : float or None
        Variance of the noise of a regression; 0 for classes, whose `truth` includes the noise;
        None if the truth is not known.
    max_rows : int or None
        Largest size of a training sample; None if there is no limit.
    sample : callable
        Takes a number of rows and a seed, and returns a training sample, with the codes of its
        groups, if there are any, by argument.
    """

    name: str
    task: Task
    response: Response
    test: pd.DataFrame
    truth: NDArray[np.float64]
    noise: float | None
    max_rows: int | None
    sample: Callable[[int, int], tuple[pd.DataFrame, dict[str, NDArray[np.int64]]]]


def read_source(
    problem: Any, test_rows: int | None, seed: int, env: EvalEnvironment, beside: BesideFormula
) -> SampleSource:
    """Draw the test rows from a simulated problem, or from a table with its formula.

    Raises
    ------
    InputError
        If `problem` is neither, or is invalid; if `test_rows` is too small or too large; or if
        there are groups of a simulated problem.
    """
    if isinstance(problem, Problem):
        if beside.structure:
            raise InputError(
                "groups= is for a table: the rows of a simulated problem are independent; leave it "
                "out"
            )
        return _simulated(problem, test_rows, seed, env)
    if isinstance(problem, tuple) and len(problem) == 2:
        return _observed(*problem, test_rows, seed, env, beside)
    if isinstance(problem, SurvivalProblem):
        raise InputError(
            f"problem {problem.name!r} is of times to an event, whose errors have no bias and "
            "variance: compare models by compare() or learning_curve() on a sample of it"
        )
    raise InputError(
        f"problem must be one of odrf.simulate's, or a pair (formula, DataFrame), not "
        f"{type(problem).__name__}: write odrf.simulate.sparse_parity(), or ('y ~ .', data)"
    )


def _simulated(
    problem: Problem, test_rows: int | None, seed: int, env: EvalEnvironment
) -> SampleSource:
    m = TEST_ROWS if test_rows is None else test_rows
    test = problem.sample(checked_whole("test_rows", m, FEWEST_TEST_ROWS), seed=seed)
    classes = problem.classes
    return SampleSource(
        name=problem.name,
        task=read_task(problem.name, f"{RESPONSE} ~ .", test, env),
        response=Response(RESPONSE, problem.kind, None if classes is None else pd.Index(classes)),
        test=test,
        truth=problem.truth(test),
        noise=problem.noise**2 if classes is None else 0.0,
        max_rows=None,
        sample=lambda n, seed: (problem.sample(n, seed=seed), {}),
    )


def _observed(
    formula: Any,
    data: Any,
    test_rows: int | None,
    seed: int,
    env: EvalEnvironment,
    beside: BesideFormula,
) -> SampleSource:
    task = read_task(UNNAMED, formula, data, env, beside)
    rows = len(task.y)
    m = round(TEST_SHARE * rows) if test_rows is None else test_rows
    m = checked_whole("test_rows", m, FEWEST_TEST_ROWS)
    order = _by_groups(np.random.default_rng(seed).permutation(rows), task.rows.groups)
    if task.rows.groups is not None:
        tested = np.isin(task.rows.groups[order], task.rows.groups[order[:m]])
        m = int(tested.sum())
    max_rows = rows - m - 1
    if max_rows < 2:
        raise InputError(
            f"test_rows={m} leaves {max(rows - m, 0)} of {rows} rows to draw training samples "
            "from: use fewer test rows"
        )
    test, training_rows = order[:m], order[m:]

    def sample(n: int, seed: int) -> tuple[pd.DataFrame, dict[str, NDArray[np.int64]]]:
        rng = np.random.default_rng(seed)
        if task.rows.groups is None:
            drawn = rng.choice(training_rows, n, replace=False)
        else:
            drawn = _by_groups(rng.permutation(training_rows), task.rows.groups)[:n]
        return task.data.iloc[drawn], task.structure_of(drawn)

    y = task.y[test]
    return SampleSource(
        name=task.formula,
        task=task,
        response=task.response,
        test=task.data.iloc[test],
        truth=y if task.n_classes == 1 else one_hot(y.astype(np.int64), task.n_classes),
        noise=None,
        max_rows=max_rows,
        sample=sample,
    )


def _by_groups(order: NDArray[np.int64], groups: NDArray[np.int64] | None) -> NDArray[np.int64]:
    """Return the rows with those of each group together, the groups in the order of first rows."""
    if groups is None:
        return order
    _, first, code = np.unique(groups[order], return_index=True, return_inverse=True)
    return order[np.argsort(first[code], kind="stable")]
