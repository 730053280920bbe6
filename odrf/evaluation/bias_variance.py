"""Bias and variance of models, estimated from repeated training samples."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, TypeGuard, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment

from odrf import plots
from odrf.checks import MOST, Seed, checked_seed, checked_whole, is_list, is_whole
from odrf.design import Response
from odrf.design.functions import environment
from odrf.errors import InputError
from odrf.evaluation.models import (
    UNNAMED,
    BesideFormula,
    Model,
    Split,
    Task,
    arguments_given,
    check_formulas,
    each_in_turn,
    named,
    predictions_of_all,
    read_models,
    read_task,
    two_seeds,
)
from odrf.public import public, public_method, respelled, warn_of_old
from odrf.simulate.problem import RESPONSE, Problem, one_hot
from odrf.simulate.survival import SurvivalProblem
from odrf.text.summary import Card, Report

JAMES = {
    "bayes_error": "Bayes error",
    "systematic_effect": "systematic effect",
    "variance_effect": "variance effect",
}
KOHAVI_WOLPERT = {"kw_noise": "noise", "kw_bias2": "bias²", "kw_variance": "variance"}
SQUARED = {"noise": "noise", "bias2": "bias²", "variance": "variance"}


@dataclass(frozen=True)
class Experiment:
    """How bias and variance were estimated; `known`: the truth, else responses stand for it."""

    problem: str
    kind: str
    known: bool
    test_rows: int
    repeats: int
    seed: int


@public
@dataclass(eq=False, repr=False)
class BiasVariance(Report):
    """Bias, variance and noise of models.  Made by `odrf.bias_variance`.

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

    table: pd.DataFrame
    std_error: pd.DataFrame
    experiment: Experiment

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

    @property
    def _title(self) -> str:
        return "Bias and variance"

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {}
        for authors, (title, columns) in self._decompositions().items():
            sections[authors + title] = self._labelled(self.table[columns])
            sections[f"{authors}standard errors, over test rows"] = self._labelled(
                self.std_error[columns]
            )
        return sections

    @respelled(renamed={"axes": "ax"})
    @public_method
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
        return plots.evaluation.plot_bias_variance(self.table, self.std_error, ax)

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


# Bias, variance and noise: the terms of a model's expected error on a row.
#
# A model is fitted to R training samples and predicts the same m rows each time.  Every function
# takes these predictions and the truth of the rows, and returns the value of each term for each
# row, to be averaged over rows.  In every row the terms add up to the error exactly.
#
# Classes: G. M. James, "Variance and bias for general loss functions", Machine Learning 51 (2003),
# as in Tomita et al., Appendix F; R. Kohavi and D. Wolpert, "Bias plus variance decomposition for
# zero-one loss functions", ICML (1996), as in Gupta et al., equations (26) to (29).


Terms = dict[str, NDArray[np.float64]]
"""Each term by its name, (m,)."""


def james(predicted: NDArray[np.int64], truth: NDArray[np.float64]) -> Terms:
    """Return James' terms: ``error = bayes_error + systematic_effect + variance_effect``.

    `predicted` (R, m) are the codes 0 … K - 1 of the predicted classes, by training sample and row;
    `truth` (m, K) is P(Y = k | x) of each row.  If several classes are equally likely, predicting
    any of them has no bias.  If several are predicted equally often, each of them counts as h̄ with
    equal weight.  So the result does not depend on the names or the order of the classes.

    Examples
    --------
    >>> terms = james(np.array([[0], [0], [1]]), np.array([[0.25, 0.75]]))
    >>> terms["bias"], terms["systematic_effect"], terms["variance_effect"].round(3)
    (array([1.]), array([0.5]), array([-0.167]))
    """
    share = _shares(predicted, truth.shape[1])
    most = share.max(axis=1)
    often = share == most[:, np.newaxis]
    systematic = often / often.sum(axis=1, keepdims=True)
    best = truth.max(axis=1)
    right_if_systematic = np.sum(systematic * truth, axis=1)
    right = np.sum(share * truth, axis=1)
    return {
        "error": 1 - right,
        "bayes_error": 1 - best,
        "bias": np.sum(systematic * (truth < best[:, np.newaxis]), axis=1),
        "variance": 1 - most,
        "systematic_effect": best - right_if_systematic,
        "variance_effect": right_if_systematic - right,
    }


def kohavi_wolpert(predicted: NDArray[np.int64], truth: NDArray[np.float64]) -> Terms:
    """Return Kohavi and Wolpert's terms of the 0-1 loss: ``noise + bias2 + variance``.

    `predicted` (R, m) are class codes as in `james`, R ≥ 2; `truth` (m, K) is P(Y = k | x), 1 for
    an observed label that is taken for the truth.  The shares of the classes among R predictions
    are estimates.  Their sampling error makes the squared distance from the truth too large, and
    the variance too small, by V / (R - 1), where V is half of 1 - Σ share².  Equation (27) of Gupta
    et al. corrects the squared distance only; here both are corrected, so that the terms add up.
    Their equations have no factor of one half: with labels as the truth, twice `bias2` is (27), and
    twice `variance`, times (R - 1)/R, is (28).

    Examples
    --------
    >>> kohavi_wolpert(np.array([[0], [1]]), np.array([[0.0, 1.0]]))
    {'noise': array([0.]), 'bias2': array([0.]), 'variance': array([0.5])}
    """
    share, R = _shares(predicted, truth.shape[1]), len(predicted)
    uncorrected = (1 - np.sum(share**2, axis=1)) / 2
    correction = uncorrected / (R - 1)
    return {
        "noise": (1 - np.sum(truth**2, axis=1)) / 2,
        "bias2": np.sum((truth - share) ** 2, axis=1) / 2 - correction,
        "variance": uncorrected + correction,
    }


def squared(predicted: NDArray[np.float64], truth: NDArray[np.float64], noise: float) -> Terms:
    """Return the terms of the squared error: ``error = noise + bias2 + variance``.

    `predicted` (R, m) are predictions by training sample and row, R ≥ 2; `truth` (m,) is m(x), and
    `noise` the variance of the response given x.  The mean of R predictions is an estimate.  Its
    sampling error makes the squared distance from the truth too large by variance / R, which is
    subtracted.

    Examples
    --------
    >>> squared(np.array([[1.0], [3.0]]), np.array([4.0]), noise=1.0)
    {'error': array([6.]), 'noise': array([1.]), 'bias2': array([3.]), 'variance': array([2.])}
    """
    variance = predicted.var(axis=0, ddof=1)
    bias2 = (truth - predicted.mean(axis=0)) ** 2 - variance / len(predicted)
    error = noise + np.mean((truth - predicted) ** 2, axis=0)
    noises = np.full(len(truth), noise)
    return {"error": error, "noise": noises, "bias2": bias2, "variance": variance}


def _shares(predicted: NDArray[np.int64], n_classes: int) -> NDArray[np.float64]:
    """Return the share of predictions of each class, (m, K)."""
    R, m = predicted.shape
    cell = np.arange(m) * n_classes + predicted
    return np.bincount(cell.ravel(), minlength=m * n_classes).reshape(m, n_classes) / R


TEST_ROWS, TEST_SHARE = 2000, 0.5
FEWEST_TEST_ROWS = 2


@dataclass(frozen=True, eq=False)
class SampleSource:
    """Training samples, and m test rows with their truth, m(x) or P(class | x), or the responses.

    `noise`: variance of a regression's noise; 0 for classes; None if the truth is not known.
    `sample`: takes a number of rows and a seed; returns the rows, and codes of groups by argument.
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
    """Return the source of a problem, or of a table with its formula; draw the test rows."""
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
            f"problem {problem.name!r} is of survival times, whose errors have no bias and "
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
            f"test_rows={m} leaves {max(rows - m, 0)} of {rows} rows to take training samples "
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


FEWEST_ROWS, FEWEST_REPEATS = 2, 2


@respelled(by_name=("repeats",))
@public
def bias_variance(
    problem: Problem | tuple[str, pd.DataFrame],
    models: Any | Mapping[str, Any],
    n: int | Sequence[int],
    *,
    repeats: int = 50,
    test_rows: int | None = None,
    groups: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> BiasVariance:
    """Decompose the expected error of models into noise, bias and variance.

    Each model is fitted to `repeats` training samples of n rows and predicts the same test rows
    each time.

    Parameters
    ----------
    problem : Problem, or pair (formula, DataFrame)
        - A problem of `odrf.simulate`.  Training samples are independent, and because the truth is
          known, noise and bias are separated.
        - A formula and a table.  Some rows are set aside as test rows; training samples are drawn
          from the others without replacement, so they overlap [2]_.  The observed responses are
          taken for the truth, so noise counts as bias.  The closer n is to the number of rows to
          draw from, the more alike the samples are, and the smaller the estimated variance.
    models : model, or mapping of str to model
        One model, or several by name; all are fitted to the same samples.
        {about models}
    n : int or sequence of int
        Rows of a training sample, 2 or more.  A sequence gives curves over n.
    repeats : int, default 50
        Training samples of each size, 2 or more.  They determine which class is predicted most
        often: with few of them, James' bias is too large and his variance too small.
    test_rows : int, optional
        By default 2000 for a problem, or half of the rows of a table.
    {groups}
        Only for a table.  Whole groups are set aside as test rows, `test_rows` or a few more, and a
        training sample takes one group after the other, the last one in part.
    {seed}
        The results at one n do not depend on the other n.
    n_jobs : int, optional
        Threads, one training sample each; by default all cores, or as many as ``OMP_NUM_THREADS``
        says.  Models have their own threads beside these.
    {progress}

    Returns
    -------
    BiasVariance
        With ``table``, ``std_error``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    References
    ----------
    .. [1] T. Tomita et al. (2020). Sparse projection oblique randomer forests. Journal of Machine
       Learning Research 21, Appendix F; after G. M. James (2003). Variance and bias for general
       loss functions. Machine Learning 51.

    .. [2] Gupta et al., Guided random forest, section 7.1, equations (26) to (29); after R. Kohavi
       and D. Wolpert (1996). Bias plus variance decomposition for zero-one loss functions. ICML.

    Examples
    --------
    >>> import odrf
    >>> problem = odrf.simulate.friedman1()
    >>> result = odrf.bias_variance(problem, {"tree": odrf.odt}, [50, 200], repeats=10, seed=1)
    >>> result.table.columns.tolist()
    ['error', 'noise', 'bias2', 'variance']
    >>> error = result.table["error"]
    >>> bool(error["tree", 200] < error["tree", 50])
    True
    """
    if _is_source(models) and not _is_source(problem):
        warn_of_old("bias_variance(models, problem, n)", "bias_variance(problem, models, n)")
        problem, models = models, problem
    env = environment(3)
    seed = checked_seed(seed)
    named_models = read_models(named(models), fewest=1)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    beside = BesideFormula(arguments_given(groups=groups), formulas=formulas)
    source = read_source(problem, test_rows, two_seeds(seed)[0], env, beside)
    check_formulas(named_models, [source.task], env)
    sizes, R = _sizes(n, source), checked_whole("repeats", repeats, FEWEST_REPEATS, MOST)
    samples = [(size, *two_seeds(seed, size, repeat)) for size in sizes for repeat in range(R)]
    predict = partial(_predictions, source, named_models, env)
    predictions = each_in_turn(predict, samples, n_jobs, "sample", progress)
    shape = (len(sizes), R, len(named_models), -1)
    by_model = np.array(predictions).reshape(shape).transpose(2, 0, 1, 3)
    terms = [_terms(predicted, source) for by_size in by_model for predicted in by_size]
    index = pd.MultiIndex.from_product([named_models, sizes], names=["model", "n"])
    table, std_error = (
        pd.DataFrame(
            [{name: statistic(by_row) for name, by_row in each.items()} for each in terms], index
        )
        for statistic in (np.mean, _std_error)
    )
    known, m = source.noise is not None, len(source.test)
    experiment = Experiment(source.name, source.response.kind, known, m, R, seed)
    return BiasVariance(table, std_error, experiment)


def _is_source(value: Any) -> TypeGuard[Problem | tuple[str, pd.DataFrame]]:
    """Return whether the value is a problem, or a pair (formula, table)."""
    pair = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], pd.DataFrame)
    return pair or isinstance(value, Problem)


def _predictions(
    source: SampleSource,
    named_models: dict[str, Model],
    env: EvalEnvironment,
    sample: tuple[int, int, int],
) -> NDArray[Any]:
    """Return each model's predictions of the test rows: numbers, or class codes.

    A `sample` is its number of rows, and the seeds of the rows and of the models.
    """
    (size, row_seed, model_seed), response = sample, source.response
    train, structure = source.sample(size, row_seed)
    formula = source.task.formula
    split = Split(formula, response, train, source.test, model_seed, False, env, structure)
    predicted = list(predictions_of_all(named_models, split, f"{size} rows"))
    if response.classes is None:
        return np.array(predicted)
    return np.array([response.classes.get_indexer(pd.Index(labels)) for labels in predicted])


def _terms(predicted: NDArray[Any], source: SampleSource) -> Terms:
    """Return the terms of each test row, from one model's predictions (R, m)."""
    known = source.noise is not None
    if source.response.classes is None:
        terms = squared(predicted, source.truth, source.noise or 0.0)
        need_truth = ["noise"]
    else:
        terms = james(predicted, source.truth)
        kw_terms = kohavi_wolpert(predicted, source.truth)
        terms |= {f"kw_{name}": by_row for name, by_row in kw_terms.items()}
        need_truth = ["bayes_error", "kw_noise"]
    return {name: by_row for name, by_row in terms.items() if known or name not in need_truth}


def _std_error(by_row: NDArray[np.float64]) -> float:
    # exactly 0 if the rows differ only by rounding
    varies = not np.allclose(by_row, by_row[0], rtol=1e-12, atol=1e-15)
    return float(by_row.std(ddof=1) / np.sqrt(len(by_row))) if varies else 0.0


def _sizes(n: int | Sequence[int], source: SampleSource) -> list[int]:
    """Return the numbers of training rows in rising order; raise `InputError` if invalid."""
    sizes: list[Any] = list(cast(Sequence[Any], n)) if is_list(n) else [n]
    whole = all(is_whole(size) for size in sizes)
    if not sizes or not whole or min(sizes) < FEWEST_ROWS:
        raise InputError(
            f"n={n!r}: use a whole number of training rows of at least {FEWEST_ROWS}, or a list "
            "of them"
        )
    if source.max_rows is not None and max(sizes) > source.max_rows:
        raise InputError(
            f"n={n!r}: use at most {source.max_rows}; samples are drawn from the "
            f"{source.max_rows + 1} rows that are not test rows, and samples of all of them would "
            "be the same"
        )
    return sorted({int(size) for size in sizes})
