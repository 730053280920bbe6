"""Models that are all fitted to the same rows and judged on the same others."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.contenders import Contender, Trial, predictions
from odrf.errors import InputError
from odrf.metrics import Metric
from odrf.problems import Problem

__all__ = ["Contest"]


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
            self._score(name, contender, trial, observed, where)
            for name, contender in self.contenders.items()
        ]

    def _score(
        self, name: str, contender: Contender, trial: Trial, observed: NDArray[Any], where: str
    ) -> float:
        try:
            predicted = predictions(contender, trial)
        except Exception as error:  # whatever a model of the user's may raise
            cause = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            raise InputError(f"model {name!r} fails on {where}: {cause}{error}") from error
        return float(self.metric.function(observed, predicted))
