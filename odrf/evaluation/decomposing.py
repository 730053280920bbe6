"""Bias and variance of models, over training samples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment
from tqdm import tqdm

from odrf.checks import checked_jobs, checked_seed, checked_whole, is_whole
from odrf.design.formulas.lookup import environment
from odrf.engine.parallel import in_order
from odrf.errors import InputError
from odrf.evaluation.bias_variance import BiasVariance, Experiment
from odrf.evaluation.decomposition import james, kohavi_wolpert, squared
from odrf.evaluation.models import Model, Split, named, read_models
from odrf.evaluation.sample_source import SampleSource, read_source
from odrf.evaluation.scoring import check_formulas, predictions_of_all
from odrf.simulate.problem import Problem

__all__ = ["bias_variance"]

FEWEST_ROWS, FEWEST_REPEATS = 2, 2

Seed = int | np.random.SeedSequence | np.random.Generator | None


def bias_variance(
    models: Any | Mapping[str, Any],
    problem: Problem | tuple[str, pd.DataFrame],
    n: int | Sequence[int],
    repeats: int = 50,
    *,
    test_rows: int | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> BiasVariance:
    """Ask how much of a model's error is noise, bias, and variance.

    Each model is fitted to `repeats` training samples of n rows, and predicts the same test rows
    each time.

    Parameters
    ----------
    models : model, or mapping of str to model
        One, or several by name: whatever `compare` takes.  All are fitted to the same samples.
    problem : Problem, or pair (formula, DataFrame)
        - A problem of `odrf.simulate`: every training sample is drawn afresh, and the truth tells
          noise from bias.
        - A formula and a table, of which some rows are set aside for the test; training samples
          are drawn from the others without replacement, so that they overlap [2]_.  What was
          observed is taken for the truth: noise cannot be told from bias, and counts as such.
          The closer n comes to the number of rows that are left, the more samples are alike, and
          the smaller the variance seems.
    n : int or sequence of int
        Rows of a training sample, 2 or more; a sequence asks for curves.
    repeats : int, default 50
        Training samples of each size, 2 or more.  Which class is predicted most often is decided
        by them: where they are few, James' bias is too large and his variance too small.
    test_rows : int, optional
        By default 2000 rows of a problem, or half of a table's.
    seed : int, SeedSequence or Generator, optional
        Makes the result reproducible, for any number of threads.  What is found for one n does
        not depend on the others.
    n_jobs : int, optional
        Threads, one sample each; by default all cores.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    BiasVariance
        With ``table``, ``se``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        Naming the argument at fault and the way out; or the model that fails, and where.

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
    >>> found = odrf.bias_variance({"tree": odrf.odt}, problem, [50, 200], 10, seed=1)
    >>> found.table.columns.tolist()
    ['error', 'noise', 'bias2', 'variance']
    >>> error = found.table["error"]
    >>> bool(error["tree", 200] < error["tree", 50])
    True
    """
    env = environment(1)
    own = checked_seed(seed)
    source = read_source(problem, test_rows, _drawn(own, ())[0], env)
    named_models = read_models(named(models), fewest=1)
    check_formulas(named_models, [source.table], env)
    sizes, R = _sizes(n, source), checked_whole("repeats", repeats, FEWEST_REPEATS)
    parts = [_Sample(size, *_drawn(own, (size, repeat))) for size in sizes for repeat in range(R)]
    said = []
    with tqdm(total=len(parts), unit="sample", disable=not progress) as bar:
        answer = partial(_predicted, _Study(source, named_models, env))
        for answers in in_order(answer, parts, checked_jobs(n_jobs)):
            said.append(answers)
            bar.update()
    of_model = np.array(said).reshape(len(sizes), R, len(named_models), -1).transpose(2, 0, 1, 3)
    terms = [_terms(predicted, source) for curve in of_model for predicted in curve]
    index = pd.MultiIndex.from_product([named_models, sizes], names=["model", "n"])
    table = pd.DataFrame(
        [{name: by_row.mean() for name, by_row in term.items()} for term in terms], index
    )
    se = pd.DataFrame(
        [{name: _se(by_row) for name, by_row in term.items()} for term in terms], index
    )
    known, m = source.noise is not None, len(source.test)
    return BiasVariance(table, se, Experiment(source.name, source.response.kind, known, m, R, own))


class _Sample(NamedTuple):
    """A training sample: how many rows, and the seeds of the sample and the models."""

    size: int
    sample: int
    models: int


@dataclass(frozen=True, eq=False)
class _Study:
    """Where training samples come from, and who learns from them."""

    source: SampleSource
    named_models: dict[str, Model]
    env: EvalEnvironment


def _predicted(study: _Study, part: _Sample) -> NDArray[Any]:
    """Return what each model predicts for the test rows: numbers, or codes of classes."""
    source, response = study.source, study.source.response
    train = source.sample(part.size, part.sample)
    formula = source.table.formula
    split = Split(formula, response, train, source.test, part.models, False, study.env)
    answers = list(predictions_of_all(study.named_models, split, f"{part.size} rows"))
    if response.classes is None:
        return np.array(answers)
    return np.array([response.classes.get_indexer(pd.Index(labels)) for labels in answers])


def _terms(predicted: NDArray[Any], source: SampleSource) -> dict[str, NDArray[np.float64]]:
    """Return each term of each test row, from one model's predictions (R, m)."""
    known = source.noise is not None
    if source.response.classes is None:
        terms = squared(predicted, source.truth, source.noise or 0.0)._asdict()
        unknown = ["noise"]
    else:
        terms = james(predicted, source.truth)._asdict()
        halves = kohavi_wolpert(predicted, source.truth)._asdict()
        terms |= {f"kw_{name}": by_row for name, by_row in halves.items()}
        unknown = ["bayes_error", "kw_noise"]
    return {name: by_row for name, by_row in terms.items() if known or name not in unknown}


def _se(by_row: NDArray[np.float64]) -> float:
    # what is the same in every row, but for rounding, has none
    varies = not np.allclose(by_row, by_row[0], rtol=1e-12, atol=1e-15)
    return float(by_row.std(ddof=1) / np.sqrt(len(by_row))) if varies else 0.0


def _drawn(seed: int, key: tuple[int, ...]) -> tuple[int, int]:
    """Return two seeds of their own for each key."""
    first, second = np.random.SeedSequence(seed, spawn_key=key).generate_state(2)
    return int(first), int(second)


def _sizes(n: int | Sequence[int], source: SampleSource) -> list[int]:
    """Return the numbers of training rows, rising; raise `InputError` where they are none."""
    found: list[Any] = list(n) if isinstance(n, Sequence | np.ndarray) else [n]
    whole = all(is_whole(size) for size in found)
    if not found or not whole or min(found) < FEWEST_ROWS:
        raise InputError(
            f"n={n!r}: use a whole number of training rows of at least {FEWEST_ROWS}, or a list "
            "of them"
        )
    if source.most is not None and max(found) > source.most:
        raise InputError(
            f"n={n!r}: use at most {source.most}, for samples are drawn from the {source.most + 1} "
            "rows that are not set aside, and would all be the same"
        )
    return sorted({int(size) for size in found})
