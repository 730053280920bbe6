"""Models that are all fitted to the same rows and judged on the same others."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.errors import InputError
from odrf.evaluation.metrics import Metric
from odrf.evaluation.models import Contender, Trial, predictions
from odrf.evaluation.tasks import Problem

__all__ = ["Contest", "check_formulas", "predictions_of_all"]


@dataclass(frozen=True, eq=False)
class Contest:
    """The models, what they are judged by, and where formulas look up functions."""

    contenders: dict[str, Contender]
    metric: Metric
    env: EvalEnvironment

    def scores(
        self, problem: Problem, train: NDArray[Any], test: NDArray[Any], seed: int, where: str
    ) -> list[float]:
        """Return each model's score.

        Parameters
        ----------
        problem : Problem
        train, test : arrays of row numbers, or masks (n,)
        seed : int
            For the models that take one.
        where : str
            What the rows are called if a model fails.

        Raises
        ------
        InputError
            Naming the model that fails.
        """
        trial = Trial(
            problem.formula,
            problem.response,
            problem.data.iloc[train],
            problem.data.iloc[test],
            seed,
            self.metric.needs_probabilities,
            self.env,
        )
        observed = problem.observed(test, self.metric)
        return [
            float(self.metric.function(observed, predicted))
            for predicted in predictions_of_all(self.contenders, trial, where)
        ]


def predictions_of_all(
    contenders: Mapping[str, Contender], trial: Trial, where: str
) -> Iterator[NDArray[Any]]:
    """Yield what each model, fitted to the training rows, predicts for the others.

    `where` is what the rows are called if a model fails.

    Raises
    ------
    InputError
        Naming the model that fails.
    """
    for name, contender in contenders.items():
        try:
            predicted = predictions(contender, trial)
        except Exception as error:  # whatever a model of the user's may raise
            cause = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            raise InputError(f"model {name!r} fails on {where}: {cause}{error}") from error
        yield predicted


def check_formulas(
    contenders: Mapping[str, Contender], problems: Sequence[Problem], env: EvalEnvironment
) -> None:
    """Raise `InputError` where a model's own formula does not go with one of the tables."""
    for name, contender in contenders.items():
        if contender.formula is None:
            continue
        for problem in problems:
            try:
                problem.check_formula(contender.formula, env)
            except InputError as error:
                raise InputError(f"model {name!r}: {error}") from error
