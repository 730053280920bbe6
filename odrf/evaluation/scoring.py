"""Scoring models that are fitted to the same training rows on the same test rows."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.errors import InputError
from odrf.evaluation.metrics import Metric
from odrf.evaluation.models import Model, Split, predictions
from odrf.evaluation.tasks import Task

__all__ = ["Scoring", "check_formulas", "check_predicted", "predictions_of_all"]


@dataclass(frozen=True, eq=False)
class Scoring:
    """The models, the metric, and the environment in which formulas look up functions."""

    named_models: dict[str, Model]
    metric: Metric
    env: EvalEnvironment

    def scores(
        self, task: Task, train: NDArray[Any], test: NDArray[Any], seed: int, where: str
    ) -> list[float]:
        """Return each model's score.

        Parameters
        ----------
        task : Task
        train, test : arrays of row numbers, or masks (n,)
        seed : int
            For the models that take one.
        where : str
            Description of the rows, for the message if a model fails.

        Raises
        ------
        InputError
            If a model fails, or its score is not finite; the message names it.
        """
        split = Split(
            task.formula,
            task.response,
            task.data.iloc[train],
            task.data.iloc[test],
            seed,
            self.metric.needs_probabilities,
            self.env,
            task.structure_of(train),
            task.times.at if task.times is not None and self.metric.needs_curves else None,
        )
        observed = task.observed(test, self.metric)
        scores = [
            self.metric.score(observed, predicted)
            for predicted in predictions_of_all(self.named_models, split, where)
        ]
        for name, score in zip(self.named_models, scores, strict=True):
            if not np.isfinite(score):
                raise InputError(
                    f"metric {self.metric.name!r} is {score} for model {name!r} on {where}: use "
                    "another metric, or more test rows, as of fewer folds"
                )
        return scores


def predictions_of_all(
    named_models: Mapping[str, Model], split: Split, where: str
) -> Iterator[NDArray[Any]]:
    """Yield each model's predictions of the test rows, fitted to the training rows.

    `where` describes the rows, for the message if a model fails.

    Raises
    ------
    InputError
        If a model fails; the message names it.
    """
    for name, model in named_models.items():
        try:
            predicted = predictions(model, split)
        except Exception as error:  # a user's model may raise anything
            cause = "" if isinstance(error, InputError) else f"{type(error).__name__}: "
            raise InputError(f"model {name!r} fails on {where}: {cause}{error}") from error
        yield predicted


def check_formulas(
    named_models: Mapping[str, Model], tasks: Sequence[Task], env: EvalEnvironment
) -> None:
    """Raise `InputError` if the formula of a model cannot be used on one of the tables."""
    for name, model in named_models.items():
        if model.formula is None:
            continue
        for task in tasks:
            try:
                task.check_formula(model.formula, env)
            except InputError as error:
                raise InputError(f"model {name!r}: {error}") from error


def check_predicted(named_models: Mapping[str, Model], metric: Metric) -> None:
    """Raise `InputError` if the metric needs probabilities or curves and a model has none."""
    for name, model in named_models.items():
        if metric.needs_probabilities and not model.has_probabilities:
            raise InputError(
                f"model {name!r} has no predict_proba, which metric={metric.name!r} needs: use an "
                'estimator with probabilities, or metric="error"'
            )
        if metric.needs_curves and not model.has_curves:
            raise InputError(
                f"model {name!r} has no predict_survival_function, which metric={metric.name!r} "
                'needs: use an estimator with survival curves, or metric="uno_c"'
            )
