"""Estimating bias and variance of models from repeated training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple, cast

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment

from odrf.checks import MOST, Seed, checked_jobs, checked_seed, checked_whole, is_list, is_whole
from odrf.design.functions import environment
from odrf.engine.running import in_order
from odrf.errors import InputError
from odrf.evaluation.bias_variance import BiasVariance, Experiment
from odrf.evaluation.decomposition import james, kohavi_wolpert, squared
from odrf.evaluation.models import Model, Split, named, read_models
from odrf.evaluation.sample_source import SampleSource, read_source
from odrf.evaluation.scoring import check_formulas, predictions_of_all
from odrf.evaluation.tasks import BesideFormula, arguments_given
from odrf.public import respelled, warn_of_old
from odrf.public.progress import progress_bar
from odrf.simulate.problem import Problem

__all__ = ["bias_variance"]

FEWEST_ROWS, FEWEST_REPEATS = 2, 2


@respelled(by_name=("repeats",))
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
          known, noise and bias are told apart.
        - A formula and a table.  Some rows are set aside as test rows; training samples are drawn
          from the others without replacement, so they overlap [2]_.  The observed responses are
          taken for the truth, so noise counts as bias.  The closer n is to the number of rows to
          draw from, the more alike the samples are, and the smaller the estimated variance.
    models : model, or mapping of str to model
        One model, or several by name, of any kind that `compare` takes.  All are fitted to the
        same samples.
    n : int or sequence of int
        Rows of a training sample, 2 or more.  A sequence gives curves over n.
    repeats : int, default 50
        Training samples of each size, 2 or more.  They determine which class is predicted most
        often: with few of them, James' bias is too large and his variance too small.
    test_rows : int, optional
        By default 2000 for a problem, or half of the rows of a table.
    groups : str or array-like, optional
        For a table: which rows belong together, as in `compare`.  Whole groups are set aside as
        test rows, `test_rows` or a few more, and a training sample takes one group after the other,
        the last one in part.
    seed : int, SeedSequence or Generator, optional
        Makes the result reproducible, for any number of threads.  The results at one n do not
        depend on the other n.
    n_jobs : int, optional
        Threads, one training sample each; by default all cores, or as many as ``OMP_NUM_THREADS``
        says.  Models have their own threads beside these.
    progress : bool, default False
        Show a progress bar.

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
        problem, models = cast(Problem, models), problem
    env = environment(2)
    seed = checked_seed(seed)
    named_models = read_models(named(models), fewest=1)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    beside = BesideFormula(arguments_given(groups=groups), formulas=formulas)
    source = read_source(problem, test_rows, _two_seeds(seed, ())[0], env, beside)
    check_formulas(named_models, [source.task], env)
    sizes, R = _sizes(n, source), checked_whole("repeats", repeats, FEWEST_REPEATS, MOST)
    samples = [
        _Sample(size, *_two_seeds(seed, (size, repeat))) for size in sizes for repeat in range(R)
    ]
    predictions = []
    with progress_bar(total=len(samples), unit="sample", progress=progress) as bar:
        predict = partial(_predictions, _Study(source, named_models, env))
        for of_models in in_order(predict, samples, checked_jobs(n_jobs)):
            predictions.append(of_models)
            bar.update()
    shape = (len(sizes), R, len(named_models), -1)
    by_model = np.array(predictions).reshape(shape).transpose(2, 0, 1, 3)
    terms = [_terms(predicted, source) for by_size in by_model for predicted in by_size]
    index = pd.MultiIndex.from_product([named_models, sizes], names=["model", "n"])
    table = pd.DataFrame(
        [{name: by_row.mean() for name, by_row in term.items()} for term in terms], index
    )
    std_error = pd.DataFrame(
        [{name: _std_error(by_row) for name, by_row in term.items()} for term in terms], index
    )
    known, m = source.noise is not None, len(source.test)
    experiment = Experiment(source.name, source.response.kind, known, m, R, seed)
    return BiasVariance(table, std_error, experiment)


def _is_source(value: Any) -> bool:
    """Return whether the value is a problem, or a pair (formula, table)."""
    pair = isinstance(value, tuple) and len(value) == 2 and isinstance(value[1], pd.DataFrame)
    return pair or isinstance(value, Problem)


class _Sample(NamedTuple):
    """A training sample: its number of rows, and the seeds of the rows and of the models."""

    size: int
    row_seed: int
    model_seed: int


@dataclass(frozen=True, eq=False)
class _Study:
    """The source of the training samples, and the models that are fitted to them."""

    source: SampleSource
    named_models: dict[str, Model]
    env: EvalEnvironment


def _predictions(study: _Study, sample: _Sample) -> NDArray[Any]:
    """Return each model's predictions of the test rows: numbers, or class codes."""
    source, response = study.source, study.source.response
    train, structure = source.sample(sample.size, sample.row_seed)
    split = Split(
        source.task.formula,
        response,
        train,
        source.test,
        sample.model_seed,
        False,
        study.env,
        structure,
    )
    predicted = list(predictions_of_all(study.named_models, split, f"{sample.size} rows"))
    if response.classes is None:
        return np.array(predicted)
    return np.array([response.classes.get_indexer(pd.Index(labels)) for labels in predicted])


def _terms(predicted: NDArray[Any], source: SampleSource) -> dict[str, NDArray[np.float64]]:
    """Return the terms of each test row, from one model's predictions (R, m)."""
    known = source.noise is not None
    if source.response.classes is None:
        terms = squared(predicted, source.truth, source.noise or 0.0)._asdict()
        need_truth = ["noise"]
    else:
        terms = james(predicted, source.truth)._asdict()
        kw_terms = kohavi_wolpert(predicted, source.truth)._asdict()
        terms |= {f"kw_{name}": by_row for name, by_row in kw_terms.items()}
        need_truth = ["bayes_error", "kw_noise"]
    return {name: by_row for name, by_row in terms.items() if known or name not in need_truth}


def _std_error(by_row: NDArray[np.float64]) -> float:
    # exactly 0 if the rows differ only by rounding
    varies = not np.allclose(by_row, by_row[0], rtol=1e-12, atol=1e-15)
    return float(by_row.std(ddof=1) / np.sqrt(len(by_row))) if varies else 0.0


def _two_seeds(seed: int, key: tuple[int, ...]) -> tuple[int, int]:
    """Return two seeds, different for each key."""
    first, second = np.random.SeedSequence(seed, spawn_key=key).generate_state(2)
    return int(first), int(second)


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
