"""Result of `bias_variance`: the terms of the expected error of models."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.public import public, respelled
from odrf.text.summary import Card, Carded, Summary

__all__ = ["BiasVariance", "Experiment"]

JAMES = {
    "bayes_error": "Bayes error",
    "systematic_effect": "systematic effect",
    "variance_effect": "variance effect",
}
KOHAVI_WOLPERT = {"kw_noise": "noise", "kw_bias2": "bias²", "kw_variance": "variance"}
SQUARED = {"noise": "noise", "bias2": "bias²", "variance": "variance"}


@dataclass(frozen=True)
class Experiment:
    """How bias and variance were estimated.

    Attributes
    ----------
    problem : str
        Name of the simulated problem, or the formula.
    kind : {"regression", "classification"}
    known : bool
        Whether the truth is known.  If not, the observed responses are taken for it.
    test_rows, repeats, seed : int
    """

    problem: str
    kind: str
    known: bool
    test_rows: int
    repeats: int
    seed: int


@public
class BiasVariance(Carded):
    """Bias, variance and noise of models.  Made by `odrf.bias_variance`.

    Parameters
    ----------
    table, std_error : DataFrame
    experiment : Experiment

    Attributes
    ----------
    table : DataFrame
        Means over the test rows; one row for each ``model`` and ``n``.

        For classes:

        - ``error``, the misclassification rate;
        - James' terms, ``error = bayes_error + systematic_effect + variance_effect``, and with
          them ``bias``, the share of rows whose systematic prediction is not the most likely
          class, and ``variance``, how often another class than the systematic one is predicted.
          The systematic prediction of a row is the class that most training samples lead to;
        - Kohavi and Wolpert's terms, ``error = kw_noise + kw_bias2 + kw_variance``.

        For a numeric response: ``error``, the mean squared error, and
        ``error = noise + bias2 + variance``.

        ``bias2``, ``kw_bias2`` and the variances beside them are unbiased estimates; an estimated
        squared bias can be negative.  If the truth is not known, there are no columns of noise and
        Bayes error: both are part of the bias.
    std_error : DataFrame
        Standard errors of the same means over test rows.  They do not include the variation
        between sets of training samples.
    experiment : Experiment

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.trunk()
    >>> result = odrf.bias_variance(problem, odrf.odt, 100, repeats=10, seed=1)
    >>> row = result.table.loc["odt", 100]
    >>> total = row["bayes_error"] + row["systematic_effect"] + row["variance_effect"]
    >>> bool(abs(row["error"] - total) < 1e-12)
    True
    """

    def __init__(
        self, table: pd.DataFrame, std_error: pd.DataFrame, experiment: Experiment
    ) -> None:
        self.table, self.std_error, self.experiment = table, std_error, experiment

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.table.index.unique("model"))

    @property
    def n(self) -> NDArray[np.int64]:
        """Numbers of training rows (k,)."""
        return self.table.index.unique("n").to_numpy(dtype=np.int64)

    @property
    def call(self) -> str:
        """The call that made the result."""
        experiment = self.experiment
        name = experiment.problem
        problem = f"<{name}>" if experiment.known else f"({name!r}, data)"
        n = self.n.tolist()
        return (
            f"bias_variance({problem}, models, n={n[0] if len(n) == 1 else n}, "
            f"repeats={experiment.repeats}, test_rows={experiment.test_rows}, "
            f"seed={experiment.seed})"
        )

    def summary(self) -> Summary:
        """Return terms and standard errors, as a summary with text, HTML and LaTeX output."""
        sections = {}
        for authors, (title, columns) in self._decompositions().items():
            sections[authors + title] = self._labelled(self.table[columns])
            sections[f"{authors}standard errors, over test rows"] = self._labelled(
                self.std_error[columns]
            )
        return Summary("Bias and variance", self.call, self._facts(), sections, self._notes())

    @respelled(renamed={"axes": "ax"})
    def plot(self, *, ax: NDArray | None = None) -> NDArray[np.object_]:
        """Draw bias, variance and error of each model, side by side.

        Lines against n, or dots if there is only one n; bars are one standard error to either
        side.  For classes bias, variance, variance effect and error, as in Figure 12 of Tomita et
        al. (2020); for a numeric response squared bias, variance and error.  A dashed line is the
        least possible error, if it is known.

        Parameters
        ----------
        ax : array of Axes, optional
            Where to draw, 4 for classes and 3 for numbers; by default on a new figure.

        Returns
        -------
        array of Axes
        """
        return plots.plot_bias_variance(self.table, self.std_error, ax)

    def _card(self) -> Card:
        facts = self._facts()
        return Card(f"Bias and variance on {facts.pop('Problem')}", facts, self.table)

    def _facts(self) -> dict[str, str]:
        experiment, n = self.experiment, self.n
        return {
            "Problem": experiment.problem,
            "Error": "squared" if experiment.kind == "regression" else "0-1 loss",
            "Training rows": str(n[0]) if len(n) == 1 else f"{n[0]} to {n[-1]}",
            "Training samples": f"{experiment.repeats} of each size",
            "Test rows": str(experiment.test_rows),
            "Truth": "known" if experiment.known else "the responses",
        }

    def _decompositions(self) -> dict[str, tuple[str, list[str]]]:
        """Return by author the equation of each decomposition and its columns."""
        if self.experiment.kind == "regression":
            return {"": (_sum(SQUARED, self.table), list(self.table.columns))}
        kw_columns = [name for name in self.table.columns if name.startswith("kw_")]
        return {
            "James: ": (_sum(JAMES, self.table), list(self.table.columns.drop(kw_columns))),
            "Kohavi and Wolpert: ": (_sum(KOHAVI_WOLPERT, self.table), ["error", *kw_columns]),
        }

    def _labelled(self, table: pd.DataFrame) -> pd.DataFrame:
        """Name each row by its model, and by n if there are several."""
        one_size = len(self.n) == 1
        labels = [model if one_size else f"{model}, n = {n}" for model, n in table.index]
        return table.set_index(pd.Index(labels))

    def _notes(self) -> tuple[str, ...]:
        notes = ["Standard errors are over test rows, given these training samples."]
        if (self.table.filter(like="bias2") < 0).to_numpy().any():
            notes.append("bias² is estimated without bias, so that it can fall below 0.")
        if not self.experiment.known:
            notes.append(
                "The observed responses are taken for the truth, so noise counts as bias.  "
                "Training samples overlap, which makes the variance too small."
            )
        return tuple(notes)


def _sum(terms: dict[str, str], table: pd.DataFrame) -> str:
    """Write the equation of those terms that the table has."""
    return "error = " + " + ".join(words for name, words in terms.items() if name in table)
