"""How well models learn from parts of the rows that a guided forest chooses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from tqdm import tqdm

from odrf.api.guided_forests import graf
from odrf.api.trees import odrf
from odrf.checks import checked_jobs, checked_seed, checked_whole
from odrf.design.formulas.lookup import environment
from odrf.engine.parallel import in_order
from odrf.errors import InputError
from odrf.evaluation.approximation_curve import ApproximationCurve
from odrf.evaluation.metrics import metric_for
from odrf.evaluation.models import read_models
from odrf.evaluation.scoring import Scoring
from odrf.evaluation.tasks import Task, read_task
from odrf.reports.sensitivity import METHODS, rows_kept
from odrf.results.guided import GRAFResults

__all__ = ["approximation_curve"]

FRACTIONS = (0.05, 0.1, 0.25, 0.5, 0.75, 1.0)
TREES = 100
TABLE = "training and test rows"

Seed = int | np.random.SeedSequence | np.random.Generator | None


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
    """Ask how many rows it takes, if a guided forest chooses them ([G], Figure 13).

    Models are fitted to parts of the training rows of `fit`, and judged on `newdata`.  The parts
    are drawn uniformly, in proportion to the sensitivities of the rows, or are the most sensitive;
    see `GRAFResults.approximate`.

    Parameters
    ----------
    fit : GRAFResults
        A guided forest, whose sensitivities are used; see `odrf.graf`.
    newdata : DataFrame
        Test rows with their responses.
    models : mapping of str to model, optional
        As in `compare`; by default "graf", a guided forest with the options of `fit`, and
        "forest", the forest of `odrf`, of 100 trees each.  All are fitted to the same parts,
        without case weights.
    fractions : sequence of float, default (0.05, 0.1, 0.25, 0.5, 0.75, 1)
        Shares of the rows, above 0 and at most 1.
    repeats : int, default 10
        How often rows are drawn, and models grown, anew.
    seed : int, SeedSequence or Generator, optional
        Makes the curve reproducible, for any number of threads.
    n_jobs : int, optional
        Threads, one part each; by default all cores.
    progress : bool, default False
        Show a progress bar.

    Returns
    -------
    ApproximationCurve
        With ``table``, ``summary()`` and ``plot()``; errors are misclassification rates, or mean
        squared errors.

    Raises
    ------
    InputError
        Naming the argument at fault and the way out; or the model that fails, and where.

    Notes
    -----
    Where the rows of a part are all of one class, every model predicts it.

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
    env = environment(1)
    if not isinstance(fit, GRAFResults):
        raise InputError(
            f"fit is of type {type(fit).__name__}: only guided forests have sensitivities, which "
            "odrf.graf fits"
        )
    shares = _shares(fractions, fit.nobs)
    task = _task(fit, newdata, env)
    named_models = read_models(_usual(fit) if models is None else models, fewest=1)
    rule = metric_for("auto", fit.kind, task.n_classes)
    own, R = checked_seed(seed), checked_whole("repeats", repeats, 1)
    wanted = [
        (repeat, method, share) for repeat in range(R) for method in METHODS for share in shares
    ]
    parts = _parts(fit, wanted, own)
    judge = partial(_errors, Scoring(named_models, rule, env), task, fit.nobs)
    with tqdm(total=len(parts), unit="part", disable=not progress) as bar:
        errors = {}
        found = in_order(judge, parts.values(), checked_jobs(n_jobs))
        for key, line in zip(parts, found, strict=True):
            errors[key] = line
            bar.update()
    index = pd.MultiIndex.from_tuples(
        [(repeat + 1, method, share) for repeat, method, share in wanted],
        names=["repeat", "method", "fraction"],
    )
    lines = [errors[_key(*each)] for each in wanted]
    table = pd.DataFrame(lines, index=index, columns=pd.Index(list(named_models), name="model"))
    n_test = len(task.y) - fit.nobs
    return ApproximationCurve(table, rule, fit.formula, fit.nobs, n_test, own)


def _usual(fit: GRAFResults) -> dict[str, Any]:
    """Return the models by default: those of Figure 13."""
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


def _shares(fractions: Any, n: int) -> list[float]:
    """Return the fractions, rising; raise `InputError` where one is none, or leaves no two rows."""
    if isinstance(fractions, str) or not isinstance(fractions, Sequence | np.ndarray):
        raise InputError(f"fractions={fractions!r}: use a list of shares of the rows")
    for share in fractions:
        if rows_kept(share, n) < 2:
            raise InputError(f"fractions: {share!r} of {n} rows is less than 2 rows: use more")
    if not len(fractions):
        raise InputError("fractions is empty: name at least one share of the rows")
    return sorted({float(share) for share in fractions})


def _task(fit: GRAFResults, newdata: pd.DataFrame, env: Any) -> Task:
    """Return training rows and test rows as one table, of what the formula uses."""
    design = fit.design
    _, complete = design.matrix(newdata)
    test = newdata[complete]
    design.response.numbers(test)
    columns = list(dict.fromkeys([*design.schema.columns, *design.response.columns]))
    train = fit.fit.frame[columns]
    # a category that only one of them knows would make text of the column
    same = {name: of for name, of in train.dtypes.items() if isinstance(of, pd.CategoricalDtype)}
    table = pd.concat([train, test[columns].astype(same)], ignore_index=True)
    if design.response.classes is not None and design.response.evaluation is None:
        table[design.response.name] = table[design.response.name].astype("category")
    task = read_task(TABLE, design.formula, table, env)
    if task.response.kind != fit.kind:
        raise InputError(
            f"fit takes {design.response.name!r} for classes, which models would take for numbers: "
            "put classes into a column of text"
        )
    return task


@dataclass(frozen=True, eq=False)
class _Part:
    """Rows to learn from, what they are called, and a seed for models."""

    rows: NDArray[np.int64]
    words: str
    seed: int


Key = tuple[int, str, float]


def _key(repeat: int, method: str, share: float) -> Key:
    """Return what tells parts apart: all rows are the same by any method."""
    return repeat, next(iter(METHODS)) if share == 1 else method, share


def _parts(fit: GRAFResults, wanted: Sequence[Key], seed: int) -> dict[Key, _Part]:
    parts: dict[Key, _Part] = {}
    sensitivity = fit.sensitivity()
    for repeat, method, share in wanted:
        key = _key(repeat, method, share)
        drawn, grown = np.random.SeedSequence(seed, spawn_key=(repeat,)).generate_state(2)
        if key not in parts:
            # one order of the rows for all fractions: smaller parts belong to larger ones
            rows = sensitivity.order(method, int(drawn))[: rows_kept(share, fit.nobs)]
            words = f"{share:.3g} of the rows, {METHODS[method]}"
            parts[key] = _Part(np.sort(rows), words, int(grown))
    return parts


def _errors(scoring: Scoring, task: Task, n: int, part: _Part) -> list[float]:
    """Return each model's error on the rows from n on."""
    test = np.arange(n, len(task.y))
    seen = np.unique(task.y[part.rows])
    if len(seen) == 1:
        observed = task.observed(test, scoring.metric)
        alone = np.repeat(task.observed(part.rows[:1], scoring.metric), len(test))
        return [float(scoring.metric.function(observed, alone))] * len(scoring.named_models)
    return scoring.scores(task, part.rows, test, part.seed, part.words)
