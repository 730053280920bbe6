"""Bias and variance of models as a result."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.text.summary import Summary

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
    """What was done to tell bias from variance.

    Attributes
    ----------
    problem : str
        Its name; or the formula.
    kind : {"regression", "classification"}
    known : bool
        Whether the truth was known; else labels, or responses, were taken for it.
    test_rows, repeats, seed : int
    """

    problem: str
    kind: str
    known: bool
    test_rows: int
    repeats: int
    seed: int


class BiasVariance:
    """What the errors of models are made of; `odrf.bias_variance` makes it.

    Parameters
    ----------
    table, se : DataFrame
    experiment : Experiment

    Attributes
    ----------
    table : DataFrame
        Means over the test rows; one row for each ``model`` and ``n``.

        Of classes first ``error``; then James' terms: ``bayes_error``; ``bias``, the share of
        rows whose systematic prediction, that which most training samples lead to, is not the
        best one; ``variance``, how often another than the systematic class is predicted;
        ``systematic_effect`` and ``variance_effect``, what the two cost:
        ``error = bayes_error + systematic_effect + variance_effect``.  Then Kohavi and Wolpert's:
        ``error = kw_noise + kw_bias2 + kw_variance``.

        Of numbers ``error``, the mean squared one, and its parts:
        ``error = noise + bias2 + variance``.

        Squared biases and the variances that go with them are unbiased estimates, of which the
        first can fall below 0.  Where the truth was not known, there are no columns of noise and
        Bayes error: they are part of the bias.
    se : DataFrame
        Standard errors of the same, over test rows: how far others would change the means, the
        training samples being as they were.
    experiment : Experiment

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.trunk()
    >>> found = odrf.bias_variance(odrf.odt, problem, 100, repeats=10, seed=1)
    >>> row = found.table.loc["odt", 100]
    >>> parts = row["bayes_error"] + row["systematic_effect"] + row["variance_effect"]
    >>> bool(abs(row["error"] - parts) < 1e-12)
    True
    """

    def __init__(self, table: pd.DataFrame, se: pd.DataFrame, experiment: Experiment) -> None:
        self.table, self.se, self.experiment = table, se, experiment

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
        """The call that made it."""
        done = self.experiment
        problem = f"<{done.problem}>" if done.known else f"({done.problem!r}, data)"
        n = self.n.tolist()
        return (
            f"bias_variance(models, {problem}, n={n[0] if len(n) == 1 else n}, "
            f"repeats={done.repeats}, test_rows={done.test_rows}, seed={done.seed})"
        )

    def summary(self) -> Summary:
        """Return the terms and their standard errors as a summary with text, HTML and LaTeX."""
        done, n = self.experiment, self.n
        facts = {
            "Problem": done.problem,
            "Error": "squared" if done.kind == "regression" else "0-1 loss",
            "Training rows": str(n[0]) if len(n) == 1 else f"{n[0]} to {n[-1]}",
            "Training samples": f"{done.repeats} of each size",
            "Test rows": str(done.test_rows),
            "Truth": "known" if done.known else "the responses",
        }
        sections = {}
        for whose, (title, columns) in self._parts().items():
            sections[whose + title] = self._labelled(self.table[columns])
            sections[f"{whose}standard errors, over test rows"] = self._labelled(self.se[columns])
        return Summary("Bias and variance", self.call, facts, sections, self._notes())

    def plot(self, *, axes: NDArray | None = None) -> NDArray[np.object_]:
        """Draw bias, variance and error of each model, side by side.

        Lines against n, or dots where there is one n; with one standard error to either side.
        Of classes bias, variance, variance effect and error, as in Figure 12 of Tomita et al.
        (2020); of numbers squared bias, variance and error.  The least possible error is a dashed
        line, where it is known.

        Parameters
        ----------
        axes : array of Axes, optional
            Where to draw, 4 for classes and 3 for numbers; by default on a new figure.

        Returns
        -------
        array of Axes
        """
        return plots.plot_bias_variance(self.table, self.se, axes)

    def __repr__(self) -> str:
        done = self.experiment
        return (
            f"BiasVariance on {done.problem}: {done.repeats} training samples, "
            f"{done.test_rows} test rows\n{self.table.to_string()}"
        )

    def _parts(self) -> dict[str, tuple[str, list[str]]]:
        """Return for each decomposition what it says, and its columns."""
        if self.experiment.kind == "regression":
            return {"": (_sum(SQUARED, self.table), list(self.table.columns))}
        theirs = [name for name in self.table.columns if name.startswith("kw_")]
        return {
            "James: ": (_sum(JAMES, self.table), list(self.table.columns.drop(theirs))),
            "Kohavi and Wolpert: ": (_sum(KOHAVI_WOLPERT, self.table), ["error", *theirs]),
        }

    def _labelled(self, table: pd.DataFrame) -> pd.DataFrame:
        """Name each row by its model, and by n where there are several."""
        alone = len(self.n) == 1
        labels = [model if alone else f"{model}, n = {n}" for model, n in table.index]
        return table.set_index(pd.Index(labels))

    def _notes(self) -> tuple[str, ...]:
        notes = ["Standard errors are over test rows, for these training samples."]
        if (self.table.filter(like="bias2") < 0).to_numpy().any():
            notes.append("bias² is estimated without bias, so that it can fall below 0.")
        if not self.experiment.known:
            notes.append(
                "What was observed is taken for the truth: noise counts as bias.  Training samples "
                "overlap, which makes the variance too small."
            )
        return tuple(notes)


def _sum(terms: dict[str, str], table: pd.DataFrame) -> str:
    return "error = " + " + ".join(words for name, words in terms.items() if name in table)
