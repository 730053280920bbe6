"""Errors of models that are trained on subsets of rows selected by a guided forest."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.api.forests import odrf
from odrf.api.guided import graf
from odrf.checks import MOST, Seed, checked_seed, checked_whole, is_list
from odrf.design.functions import environment
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric, metric_for
from odrf.evaluation.models import (
    RowSplit,
    Scoring,
    Task,
    check_formulas,
    each_in_turn,
    means_over_repeats,
    read_models,
    read_task,
    two_seeds,
)
from odrf.public import public
from odrf.reports.sensitivity import METHODS, rows_kept
from odrf.results.guided import GRAFResults
from odrf.text.summary import Card, Report


@public
@dataclass(eq=False, repr=False)
class ApproximationCurve(Report):
    """Error against the share of the training rows that is kept.

    Made by `odrf.approximation_curve`.

    Attributes
    ----------
    errors : DataFrame
        One row for each ``repeat``, ``method`` and ``fraction``; one column for each model.
    metric : Metric
    formula : str
    n, n_test : int
        Training rows to choose from, and test rows.
    seed : int
    """

    errors: pd.DataFrame
    metric: Metric
    formula: str
    n: int
    n_test: int
    seed: int
    _note = "Each repeat samples new subsets and refits the models; the test rows stay the same."

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.errors.columns)

    @cached_property
    def table(self) -> pd.DataFrame:
        """Mean error, ``error``, and its standard error over repeats, ``std_error``.

        Indexed by ``model``, ``method`` and ``fraction``.  The methods are those of
        `GRAFResults.approximate`.  The standard error is NaN if there is one repeat only.
        """
        levels = ["model", "method", "fraction"]
        means = means_over_repeats(self.errors, levels)
        fractions = self.errors.index.unique("fraction")
        return means.reindex(
            pd.MultiIndex.from_product([self.models, METHODS, fractions], names=levels)
        )

    @property
    def call(self) -> str:
        """The call that made the curve."""
        return f"approximation_curve(fit, newdata, …, seed={self.seed})"

    @property
    def _title(self) -> str:
        return "Approximation of data"

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {}
        for model in self.models:
            for column, title in (
                ("error", "mean error"),
                ("std_error", "standard error over repeats"),
            ):
                wide = self.table.loc[model][column].unstack("fraction")
                wide = wide.reindex([*METHODS]).rename(index=METHODS)
                sections[f"{model}: {title}, by the share of rows kept"] = wide
        return sections

    def plot(self, *, ax: NDArray | None = None) -> NDArray[np.object_]:
        """Draw the mean error against the share of rows that is kept ([G], Figure 13).

        Bars are one standard error to either side.

        Parameters
        ----------
        ax : Axes or array of Axes, optional
            Where to draw, one for each model; by default on a new figure.

        Returns
        -------
        array of Axes
        """
        return plots.evaluation.plot_approximation(self.table, METHODS, self.metric.words, ax)

    def _card(self) -> Card:
        errors = self.table["error"].unstack("fraction", sort=False)
        title = "Approximation of data: mean errors by the share of rows kept"
        return Card(title, self._facts(), errors)

    def _facts(self) -> dict[str, str]:
        return {
            "Metric": self.metric.words,
            "Rows": str(self.n),
            "Repeats": str(self.errors.index.unique("repeat").size),
            "Test rows": str(self.n_test),
        }


FRACTIONS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
TREES = 100
TABLE_NAME = "training and test rows"


@public
def approximation_curve(
    fit: GRAFResults,
    newdata: pd.DataFrame,
    models: Mapping[str, Any] | None = None,
    *,
    fractions: Sequence[float] = FRACTIONS,
    repeats: int = 10,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> ApproximationCurve:
    """Compare models trained on subsets of the rows, chosen by a guided forest ([G], Figure 13).

    Models are fitted to subsets of the training rows of `fit` and evaluated on `newdata`.  A subset
    is sampled uniformly, or in proportion to the sensitivities of the rows, or consists of the most
    sensitive rows; see `GRAFResults.approximate`.

    Parameters
    ----------
    fit : GRAFResults
        A guided forest; its sensitivities choose the rows.  See `odrf.graf`.
    newdata : DataFrame
        Test rows, with the response.  Rows that `fit` cannot predict are left out.
    models : mapping of str to model, optional
        {about models}

        By default "graf", a guided forest with `subspace`, `trials`, `min_split` and `origin` as in
        `fit`, and "forest", the forest of `odrf`, both with 100 trees.  All models are fitted to
        the same subsets, without case weights.
    fractions : sequence of float, default (0.05, 0.1, 0.25, 0.5, 0.75, 1)
        Shares of the training rows to keep, above 0 and at most 1.
    repeats : int, default 10
        How often new subsets are sampled and the models refitted with new seeds.
    {seed}
    n_jobs : int, optional
        Threads, one subset each; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
        Models have their own threads beside these.
    {progress}

    Returns
    -------
    ApproximationCurve
        With ``table``, ``summary()`` and ``plot()``.  The error is the misclassification rate, or
        the mean squared error for a numeric response.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    Notes
    -----
    If the rows of a subset are all of one class, no model is fitted: that class is predicted.

    References
    ----------
    .. [G] P. Gupta, A. Jindal, Jayadeva, D. Sengupta. Guided random forest and its application to
       data approximation, section 8.

    Examples
    --------
    >>> import odrf
    >>> task = odrf.simulate.rings()
    >>> fit = odrf.graf("y ~ .", task.sample(400, seed=1), subspace="all", seed=1)
    >>> curve = odrf.approximation_curve(
    ...     fit, task.sample(500, seed=2), {"tree": odrf.odt}, fractions=[0.1, 1], repeats=2
    ... )
    >>> error = curve.table["error"]
    >>> bool(error["tree", "uniform", 1.0] < error["tree", "uniform", 0.1])
    True
    """
    env = environment(2)
    if not isinstance(fit, GRAFResults):
        raise InputError(
            f"fit is of type {type(fit).__name__}: only guided forests have sensitivities; fit one "
            "with odrf.graf"
        )
    shares = _checked_fractions(fractions, fit.nobs)
    task = _task(fit, newdata, env)
    named_models = read_models(_default_models(fit) if models is None else models, fewest=1)
    check_formulas(named_models, [task], env)
    metric = metric_for("auto", fit.kind, task.n_classes)
    seed, n_repeats = checked_seed(seed), checked_whole("repeats", repeats, 1, MOST)
    cells = [
        (repeat, method, share)
        for repeat in range(n_repeats)
        for method in METHODS
        for share in shares
    ]
    subsets = _subsets(fit, task, cells, seed)
    errors_on = partial(_errors, Scoring(named_models, metric, env))
    lines = each_in_turn(errors_on, list(subsets.values()), n_jobs, "subset", progress)
    errors = dict(zip(subsets, lines, strict=True))
    index = pd.MultiIndex.from_tuples(
        [(repeat + 1, method, share) for repeat, method, share in cells],
        names=["repeat", "method", "fraction"],
    )
    of_cells = [errors[_key(*cell)] for cell in cells]
    table = pd.DataFrame(of_cells, index=index, columns=pd.Index(list(named_models), name="model"))
    n_test = len(task.y) - fit.nobs
    return ApproximationCurve(table, metric, fit.formula, fit.nobs, n_test, seed)


def _default_models(fit: GRAFResults) -> dict[str, Any]:
    """Return the models of Figure 13."""
    control = fit.control
    guided = partial(
        graf,
        n_trees=TREES,
        subspace=control.subspace,
        trials=control.trials,
        min_split=control.min_split,
        origin=control.origin,
    )
    return {"graf": guided, "forest": partial(odrf, n_trees=TREES)}


def _checked_fractions(fractions: Any, n: int) -> list[float]:
    """Return the fractions in rising order."""
    if not is_list(fractions):
        raise InputError(f"fractions={fractions!r}: use a list of shares of the rows")
    for share in fractions:
        if rows_kept(share, n) < 2:
            raise InputError(
                f"fractions: {share!r} of {n} rows is less than 2 rows: use a larger fraction"
            )
    if not len(fractions):
        raise InputError("fractions is empty: name at least one share of the rows")
    return sorted({float(share) for share in fractions})


def _task(fit: GRAFResults, newdata: pd.DataFrame, env: Any) -> Task:
    """Return training rows, then test rows, as one table with the columns of the formula."""
    design = fit.design
    _, complete = design.matrix(newdata)
    test = newdata[complete]
    design.response.numbers(test)
    columns = list(dict.fromkeys([*design.schema.columns, *design.response.columns]))
    train = fit.fit.frame[columns]
    # columns with different categories would be concatenated as text
    categorical = {
        name: dtype
        for name, dtype in train.dtypes.items()
        if isinstance(dtype, pd.CategoricalDtype)
    }
    table = pd.concat([train, test[columns].astype(categorical)], ignore_index=True)
    if design.response.classes is not None and design.response.evaluation is None:
        table[design.response.name] = table[design.response.name].astype("category")
    # The table lacks columns that the formula as written leaves out, as in "y ~ . - a".
    spelled_out = design.keeping(range(len(design.recipe.terms))).formula
    task = read_task(TABLE_NAME, spelled_out, table, env)
    if task.response.kind != fit.kind:
        raise InputError(
            f"fit takes {design.response.name!r} for classes, which other models would take for "
            "numbers: put the classes into a column of text"
        )
    return task


Key = tuple[int, str, float]


def _key(repeat: int, method: str, share: float) -> Key:
    """Return the key of a subset; all rows together are one subset, whatever the method."""
    return repeat, next(iter(METHODS)) if share == 1 else method, share


def _subsets(fit: GRAFResults, task: Task, cells: Sequence[Key], seed: int) -> dict[Key, RowSplit]:
    """Return the rows of each subset; test rows follow the training rows of the fit."""
    subsets: dict[Key, RowSplit] = {}
    sensitivity, test = fit.sensitivity(), np.arange(fit.nobs, len(task.y))
    for repeat, method, share in cells:
        key = _key(repeat, method, share)
        row_seed, model_seed = two_seeds(seed, repeat)
        if key not in subsets:
            # one order of the rows for all fractions, so that smaller subsets are nested
            rows = sensitivity.order(method, seed=row_seed)[: rows_kept(share, fit.nobs)]
            description = f"{share:.3g} of the rows, {METHODS[method]}"
            subsets[key] = RowSplit(task, np.sort(rows), test, model_seed, description)
    return subsets


def _errors(scoring: Scoring, rows: RowSplit) -> list[float]:
    """Return each model's error on the test rows; one class alone is predicted without a model."""
    task = rows.task
    if len(np.unique(task.y[rows.train])) > 1:
        return scoring.scores(rows)
    value = np.asarray(task.observed(rows.train[:1], scoring.metric))
    constant = np.repeat(value, len(rows.test))
    error = scoring.metric.score(task.observed(rows.test, scoring.metric), constant)
    return [error] * len(scoring.named_models)
