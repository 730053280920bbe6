"""Where the training rows of models come from, and what is known of the rows they are judged on."""

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
from odrf.evaluation.tasks import ALONE, Task, read_task
from odrf.simulate.problem import RESPONSE, Problem, certain

__all__ = ["SampleSource", "read_source"]

TEST_ROWS, TEST_SHARE = 2000, 0.5
FEWEST_TEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class SampleSource:
    """Training samples without end, and m test rows of which something is known.

    Attributes
    ----------
    name : str
        The problem's; or the formula.
    table : Task
        What a model's own formula is checked against.
    response : Response
        Its classes are those of the problem, whether or not there are rows of them.
    test : DataFrame
        The m test rows.
    truth : (m,) or (m, K) float64
        m(x), or P(class | x); without a truth the response, or 1 for its class.
    noise : float or None
        Variance of a regression's noise, 0 for classes, whose truth has it reckoned in; None if
        the truth is not known.
    most : int or None
        The largest training sample; None if there is none.
    sample : callable
        From a number of rows and a seed to a training sample.
    """

    name: str
    table: Task
    response: Response
    test: pd.DataFrame
    truth: NDArray[np.float64]
    noise: float | None
    most: int | None
    sample: Callable[[int, int], pd.DataFrame]


def read_source(
    problem: Any, test_rows: int | None, seed: int, env: EvalEnvironment
) -> SampleSource:
    """Draw the test rows from a simulated problem, or from a table with its formula.

    Raises
    ------
    InputError
        If `problem` is neither, or is at fault; or `test_rows` is no number of rows that it has.
    """
    if isinstance(problem, Problem):
        return _simulated(problem, test_rows, seed, env)
    if isinstance(problem, tuple) and len(problem) == 2:
        return _observed(*problem, test_rows, seed, env)
    raise InputError(
        f"problem must be one of odrf.simulate's, or a pair (formula, DataFrame), not "
        f"{type(problem).__name__}: write odrf.simulate.sparse_parity(), or ('y ~ .', data)"
    )


def _simulated(
    problem: Problem, test_rows: int | None, seed: int, env: EvalEnvironment
) -> SampleSource:
    m = TEST_ROWS if test_rows is None else test_rows
    test = problem.sample(checked_whole("test_rows", m, FEWEST_TEST_ROWS), seed)
    classes = problem.classes
    return SampleSource(
        name=problem.name,
        table=read_task(problem.name, f"{RESPONSE} ~ .", test, env),
        response=Response(RESPONSE, problem.kind, None if classes is None else pd.Index(classes)),
        test=test,
        truth=problem.truth(test),
        noise=problem.noise**2 if classes is None else 0.0,
        most=None,
        sample=problem.sample,
    )


def _observed(
    formula: Any, data: Any, test_rows: int | None, seed: int, env: EvalEnvironment
) -> SampleSource:
    table = read_task(ALONE, formula, data, env)
    rows = len(table.y)
    m = round(TEST_SHARE * rows) if test_rows is None else test_rows
    m = checked_whole("test_rows", m, FEWEST_TEST_ROWS)
    most = rows - m - 1
    if most < 2:
        raise InputError(
            f"test_rows={m} leaves {max(rows - m, 0)} of {rows} rows to draw training samples "
            "from: use fewer"
        )
    order = np.random.default_rng(seed).permutation(rows)
    rest = order[m:]

    def sample(n: int, seed: int) -> pd.DataFrame:
        return table.data.iloc[np.random.default_rng(seed).choice(rest, n, replace=False)]

    y = table.y[order[:m]]
    return SampleSource(
        name=table.formula,
        table=table,
        response=table.response,
        test=table.data.iloc[order[:m]],
        truth=y if table.n_classes == 1 else certain(y.astype(np.int64), table.n_classes),
        noise=None,
        most=most,
        sample=sample,
    )
