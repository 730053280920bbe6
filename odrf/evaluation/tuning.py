"""Choosing options of a model by out-of-bag error or cross-validation."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import product
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype

from odrf import plots
from odrf.api.calling import DESIGN_ARGUMENTS
from odrf.api.forests import odrf
from odrf.checks import (
    MOST,
    Seed,
    checked_choice,
    checked_jobs,
    checked_seed,
    checked_switch,
    checked_truth,
    checked_whole,
    is_list,
)
from odrf.design import build_design
from odrf.design.folds import Folds
from odrf.design.functions import environment, looked_up_in
from odrf.errors import InputError
from odrf.evaluation.compare import compare
from odrf.evaluation.metrics import Metric, metric_for, out_of_bag_score
from odrf.evaluation.models import arguments_given, with_weight
from odrf.options.options import trees_by_default
from odrf.public import public, warn_of_old
from odrf.public.arguments import suggestion
from odrf.public.progress import progress_bar
from odrf.results.base import FittedResults
from odrf.text.layouts import quantity
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


SHOWN = 20


class Evaluated(NamedTuple):
    """How a candidate was evaluated: its score, the standard error, and the trees if halved."""

    estimate: float
    std_error: float
    trees: int | None = None


class _Refitted(NamedTuple):
    """Returns the best model, which has been fitted already."""

    fit: FittedResults

    def __call__(self, **_: Any) -> FittedResults:
        return self.fit


class BestModel:
    """The method ``best()``, which was an attribute once.

    Calling it is right, and fits the model at the first call.  Using it as the model works, with a
    `FutureWarning`.
    """

    def __init__(self, fitted: Callable[..., FittedResults]) -> None:
        self._fitted = fitted
        self._model: FittedResults | None = None

    def __call__(self, *, progress: bool = False) -> FittedResults:
        """Return the model; `progress` shows a bar of its fit."""
        if self._model is None:
            self._model = self._fitted(progress=progress)
        return self._model

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("_"):
            raise AttributeError(attribute)
        warn_of_old("Tuning.best", "Tuning.best()")
        return getattr(self(), attribute)

    def __repr__(self) -> str:
        warn_of_old("Tuning.best", "Tuning.best()")
        return repr(self())


@public
class Tuning(Report):
    """Candidates, which are combinations of options, and their errors.  Made by `odrf.tune`.

    It is made from the options of each candidate by its number, as given and `complete` with the
    model's defaults, how each was `evaluated`, and `refit`, which fits the model to all rows.

    Attributes
    ----------
    call : str
    table : DataFrame
        One row for each candidate, the best first; the index has its number, from 0, in the order
        of the grid.  One column for each option of the grid, with the values as they were given, or
        the model's default where a combination does not name the option; ``error``, or ``score``
        for a metric of which more is better; ``std_error``, its standard error.  After successive
        halving also ``trees``, the number of trees in the last round that the candidate took part
        in; the candidates with the most trees come first.
    metric : Metric
    seed : int
    """

    def __init__(
        self,
        call: str,
        candidates: Mapping[int, dict[str, Any]],
        complete: Mapping[int, dict[str, Any]],
        evaluated: Mapping[int, Evaluated],
        metric: Metric,
        refit: Callable[..., FittedResults],
        facts: Mapping[str, str],
        seed: int,
    ) -> None:
        self.call, self.metric, self.seed = call, metric, seed
        self._candidates, self._refit, self._how = candidates, refit, dict(facts)
        self.options = list(complete[0])
        """The options of the grid."""
        errors = [evaluated[i] for i in complete]
        columns = {
            name: _as_given([options[name] for options in complete.values()])
            for name in self.options
        }
        if any(one.trees is not None for one in errors):
            columns["trees"] = pd.Series([one.trees for one in errors])
        columns[self._column] = pd.Series([one.estimate for one in errors])
        columns["std_error"] = pd.Series([one.std_error for one in errors])
        table = pd.DataFrame(columns)
        loss = metric.sign * table[self._column]
        order = loss.sort_values(kind="stable").index
        if "trees" in table:
            order = table["trees"][order].sort_values(ascending=False, kind="stable").index
        self.table = table.loc[order]

    @property
    def _column(self) -> str:
        return "score" if self.metric.greater_is_better else "error"

    @property
    def best_options(self) -> dict[str, Any]:
        """The options of the best candidate."""
        return dict(self._candidates[int(self.table.index[0])])

    @cached_property
    def best(self) -> BestModel:
        """The method ``best()``: the model with the best candidate's options, fitted to all rows.

        ``best(progress=True)`` shows a progress bar of this fit.

        It was once an attribute; without the parentheses it works as the model, with a
        `FutureWarning`.
        """
        return BestModel(self._fitted)

    def _fitted(self, *, progress: bool = False) -> FittedResults:
        bar = {"progress": True} if checked_truth("progress", progress) else {}
        return self._refit(**self.best_options, **bar)

    def __getstate__(self) -> dict[str, Any]:
        """Keep the best model in place of the functions that fit it, which may not pickle."""
        state = {name: value for name, value in vars(self).items() if name != "best"}
        return {**state, "_refit": _Refitted(self.best())}

    @property
    def _title(self) -> str:
        return "Tuning"

    def _sections(self) -> dict[str, pd.DataFrame]:
        of = f" (best {SHOWN} of {len(self.table)})" if len(self.table) > SHOWN else ""
        return {f"Candidates{of}": self.table.head(SHOWN)}

    def _notes(self) -> tuple[str, ...]:
        best = ", ".join(f"{name}={value!r}" for name, value in self.best_options.items())
        return (
            f"Best: {best}.  Its {self._column} is optimistic, because it is the best of several: "
            "evaluate the best model on new rows.",
        )

    def _facts(self) -> dict[str, str]:
        return self._how

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw the errors, with bars of one standard error to either side.

        If the grid has a single option, and its values are numbers, the error is drawn against
        them.  Otherwise each candidate is a row, the best on top.
        """
        error, table = self.metric.words, self.table.rename(columns={self._column: "error"})
        if len(self.options) == 1:
            values = self.table[self.options[0]]
            if is_numeric_dtype(values) and not is_bool_dtype(values):
                return plots.evaluation.plot_option(self.options[0], values, table, error, ax)
        return plots.evaluation.plot_candidates(self.table[self.options], table, error, ax)

    def _card(self) -> Card:
        return Card(f"Tuning of {len(self.table)} candidates", self._how, self.table)


def _as_given(values: list[Any]) -> pd.Series:
    """Return values of an option as a column, in which None stays None."""
    column = pd.Series(values, dtype=object)
    return column if column.isna().any() else column.infer_objects()


METHODS = ("oob", "cv")
OUT_OF_BAG = "out-of-bag rows"
# With more candidates than MANY, halving="auto" means successive halving.
MANY, ROUNDS, FEWEST_TREES = 16, 4, 100
FEWEST = 2
FOLDS = 10
# Arguments of a model that tune() sets itself.
OWN = ("formula", "data", "seed", "n_jobs", "progress")

Grid = Mapping[str, Sequence[Any]] | Sequence[Mapping[str, Any]]


@public
def tune(
    formula: str,
    data: pd.DataFrame,
    grid: Grid,
    *,
    model: Callable[..., FittedResults] = odrf,
    method: str = "oob",
    cv: Folds | None = None,
    repeats: int = 1,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    halving: str | bool = "auto",
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
    **fixed: Any,
) -> Tuning:
    """Evaluate combinations of options and find the best.

    Parameters
    ----------
    {formula, data}
    grid : mapping of str to sequence, or sequence of mappings
        Values to try of each option, in all combinations; or a list of combinations.
    model : callable, default `odrf`
        `odrf`, `odbt`, `auto`, `graf` or `odt`, or a function of formula, data and options that
        returns such a fit.
    method : {"oob", "cv"}, default "oob"
        - ``"oob"``: the error on out-of-bag rows.  Only for forests of `odrf`, boosted trees with
          several runs, and stacks of `auto`.  By the default metric, rows of forests of `odrf`
          count by their case weights.  By another metric, and in other fits, each row of positive
          weight counts once.  Of survival times rows count by their weights.
        - ``"cv"``: the error by cross-validation, on the same folds for all candidates.  Every row
          counts once, unless its weight is 0.  Case weights must then be a column of the data,
          given by its name.  If the classes are numbers, write ``"C(y) ~ ."``: `kind` does not
          suffice.
    cv : int, str, array-like or splitter, optional
        Folds, only for ``method="cv"``; by default 10.

        {about cv}
    repeats : int, default 1
        How often the candidates are evaluated: on new folds, or, out of bag, with a new seed of
        the fits.  Errors are means.
    {metric}
        For survival times out of bag only by name.
    halving : "auto" or bool, default "auto"
        Whether to use successive halving (Jamieson and Talwalkar 2016).  Rounds have an eighth, a
        quarter and a half of the trees, and all of them; rounds of fewer than 100 trees become one
        round of 100, or of all trees if they are fewer.  All candidates take part in the first
        round, and the better half of them in the next one.  ``"auto"`` uses it for more than 16
        candidates.  Only for ``method="oob"``, and for models with an option `n_trees` that is not
        in the grid.
    {groups}
        Models that have this argument are fitted with it, so that out-of-bag rows are those of
        whole groups.  If `cv` is a number, folds hold out whole groups.
    {order}
        Models that have this argument are fitted with it, so that out-of-bag rows are those of
        later times.  Folds are blocks of successive times, fitted to all rows before them.
    {strata}
        Models that have this argument are fitted with it, and folds keep the shares of the strata.
    {seed}
        It is the seed of every fit and of the folds, so that candidates differ only by their
        options.
    n_jobs : int, optional
        Threads of each fit.  With ``method="cv"``, threads of the folds; if it is given, each fit
        then has one thread.  By default all cores, or as many as ``OMP_NUM_THREADS`` says.
    {progress}
    **fixed
        Options that all candidates share.

    Returns
    -------
    Tuning
        With ``table``, ``best()``, ``best_options``, ``summary()`` and ``plot()``.

    Raises
    ------
    InputError
        If `grid` has fewer than two combinations, or names an option that is unknown or also
        fixed; if another argument is invalid; or if a fit fails.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> tuning = odrf.tune("progression ~ .", data, {"min_leaf": [2, 30]}, n_trees=30, seed=1)
    >>> tuning.best_options
    {'min_leaf': 30}
    """
    checked_choice("method", method, METHODS)
    known = _options_of(model)
    candidates = _candidates(grid, known, fixed)
    env, seed = environment(2), checked_seed(seed)
    repeats = checked_whole("repeats", repeats, 1, MOST)
    structure = arguments_given(groups=groups, order=order, strata=strata)
    given = {name: fixed[name] for name in DESIGN_ARGUMENTS if name in fixed} | structure
    response = build_design(formula, data, with_times=True, env=env, **given)[0].response
    score = metric_for(metric, response.kind, response.n_classes)
    settled = {"seed": seed} if known.takes("seed") else {}
    if n_jobs is not None and known.takes("n_jobs"):
        settled["n_jobs"] = checked_jobs(n_jobs)
    if method == "oob":
        if cv is not None:
            raise InputError(
                'cv= is for method="cv", and method is "oob": give one, or leave cv out'
            )
        _require_taken(structure, known)
    elif checked_switch("halving", halving) is True:
        raise InputError('halving=True is for method="oob": leave it out')
    of_rows = {name: value for name, value in structure.items() if known.takes(name)}
    fit = partial(model, formula, data, **settled, **of_rows, **fixed)
    with looked_up_in(env):
        if method == "cv":
            of_fold = {**settled, **({"n_jobs": 1} if "n_jobs" in settled else {})}
            models = {i: partial(model, **of_fold, **fixed, **candidates[i]) for i in candidates}
            folds = {
                "cv": FOLDS if cv is None else cv,
                "repeats": repeats,
                "metric": metric,
                "seed": seed,
                **structure,
            }
            rows = data
            if isinstance(fixed.get("weights"), str):
                rows, folds = with_weight(data, fixed["weights"], folds)
            evaluated, by = _by_folds(
                formula, rows, models, **folds, n_jobs=n_jobs, progress=progress
            )
        else:
            _require_same_weights(candidates)
            rounds = _rounds(halving, candidates, known, fixed)
            seeds = _seeds(seed, repeats, known)
            evaluated, by = _out_of_bag(fit, candidates, score, rounds, seeds, progress), OUT_OF_BAG
    facts = {
        "Candidates": str(len(candidates)),
        "Evaluated by": by,
        **({"Repeats": str(repeats)} if repeats > 1 else {}),
        "Metric": score.words,
        "Seed": str(seed),
    }

    def refit(**options: Any) -> FittedResults:
        with looked_up_in(env):
            return fit(**options)

    call = f"tune({formula!r}, data, …)"
    complete = {i: known.completed(options, candidates) for i, options in candidates.items()}
    return Tuning(call, candidates, complete, evaluated, score, refit, facts, seed)


@dataclass(frozen=True)
class _Known:
    """The options of a model, with their defaults; `open_ended` if it takes any option."""

    defaults: Mapping[str, Any]
    open_ended: bool

    def takes(self, name: str) -> bool:
        return self.open_ended or name in self.defaults

    def completed(
        self, options: Mapping[str, Any], candidates: Mapping[int, Mapping[str, Any]]
    ) -> dict[str, Any]:
        """Return the options of a candidate, with defaults of those that only others name."""
        names = dict.fromkeys(name for others in candidates.values() for name in others)
        return {name: options.get(name, self.defaults.get(name)) for name in names}


def _options_of(model: Any) -> _Known:
    """Return the options of a model; raise `InputError` if it is none."""
    if not callable(model):
        raise InputError(
            f"model={model!r}: use odrf.odrf, odrf.odbt, odrf.auto, odrf.graf or odrf.odt, or a "
            "function of formula, data and options that returns such a fit"
        )
    try:
        parameters = inspect.signature(model).parameters.values()
    except (TypeError, ValueError):  # some built-in functions have no signature
        return _Known({}, True)
    empty = inspect.Parameter.empty
    defaults = {p.name: None if p.default is empty else p.default for p in parameters}
    return _Known(defaults, any(p.kind is p.VAR_KEYWORD for p in parameters))


def _require_taken(structure: Mapping[str, Any], known: _Known) -> None:
    """Raise `InputError` if the model has no argument that out-of-bag rows are to follow."""
    for name in structure:
        if not known.takes(name):
            raise InputError(
                f"model has no argument {name!r}, which its out-of-bag rows would follow: use "
                'method="cv", or a model such as odrf.odrf'
            )


def _candidates(grid: Any, known: _Known, fixed: Mapping[str, Any]) -> dict[int, dict[str, Any]]:
    """Return the options of each candidate by its number; raise `InputError` if invalid."""
    if isinstance(grid, Mapping):
        _require_options(grid, known, fixed)
        for name, values in grid.items():
            if not is_list(values):
                raise InputError(f"grid[{name!r}]={values!r}: use a list of values to try")
        combinations = [dict(zip(grid, values, strict=True)) for values in product(*grid.values())]
    elif is_list(grid) and all(isinstance(options, Mapping) for options in grid):
        combinations = [dict(options) for options in grid]
        _require_options([name for options in combinations for name in options], known, fixed)
    else:
        raise InputError(
            f"grid={grid!r}: use a mapping of options to lists of values, as in "
            '{"min_leaf": [1, 5, 20]}, or a list of mappings of options to values'
        )
    if len(combinations) < FEWEST or not all(combinations):
        raise InputError(
            f"grid holds {quantity(len(combinations), 'combination')} of options: name at least "
            "one option, with at least two values to try"
        )
    return dict(enumerate(combinations))


def _require_options(names: Iterable[Any], known: _Known, fixed: Mapping[str, Any]) -> None:
    """Raise `InputError` if a name of the grid is no option of the model, or is fixed as well."""
    for name in names:
        if name in fixed:
            raise InputError(f"{name!r} is in grid and fixed as well: leave one of them out")
        if name in OWN:
            raise InputError(f"grid names {name!r}, which is no option to try: give it to tune()")
        if not isinstance(name, str) or not known.takes(name):
            options = [each for each in known.defaults if each not in OWN]
            hint = suggestion(str(name), options)
            if options and not hint:
                hint = f": use some of {', '.join(options)}"
            raise InputError(f"grid names {name!r}, which is no option to try{hint}")


def _require_same_weights(candidates: Mapping[int, Mapping[str, Any]]) -> None:
    """Raise `InputError` if candidates would weigh the out-of-bag rows differently."""
    for name in ("weights", "class_weights"):
        if any(name in options for options in candidates.values()):
            raise InputError(
                f"grid names {name!r}: out-of-bag errors count rows by their weights, so those of "
                'candidates that weigh them differently cannot be compared; use method="cv"'
            )


def _rounds(
    halving: str | bool,
    candidates: Mapping[int, Mapping[str, Any]],
    known: _Known,
    fixed: Mapping[str, Any],
) -> list[int] | None:
    """Return the numbers of trees of successive rounds; None if the model or grid sets them."""
    in_grid = any("n_trees" in options for options in candidates.values())
    can_halve = "n_trees" in known.defaults and not in_grid
    halving = checked_switch("halving", halving)
    if halving is True and not can_halve:
        raise InputError(
            "halving=True needs a model with an option n_trees that is not in grid: use "
            "halving=False"
        )
    if not can_halve:
        return None
    n_trees = fixed.get("n_trees", known.defaults["n_trees"])
    halves = halving is True or (halving == "auto" and len(candidates) > MANY)
    if n_trees is None:  # as many as the model takes
        if not halves:
            return None
        n_trees = trees_by_default(bool(fixed.get("inference", known.defaults.get("inference"))))
    most = checked_whole("n_trees", n_trees, 1, MOST)
    if not halves:
        return [most]
    fewest = min(FEWEST_TREES, most)
    return sorted({max(fewest, most >> k) for k in range(ROUNDS)})


def _seeds(seed: int, repeats: int, known: _Known) -> list[int]:
    """Return a seed for each repeat; the first is `seed` itself."""
    if repeats > 1 and not known.takes("seed"):
        raise InputError(
            f"repeats={repeats}: model has no argument 'seed', by which repeats would differ: use "
            'repeats=1, or method="cv"'
        )
    later = [np.random.SeedSequence(seed, spawn_key=(r,)) for r in range(1, repeats)]
    return [seed, *(int(sequence.generate_state(1)[0]) for sequence in later)]


def _by_folds(
    formula: str, data: pd.DataFrame, models: Mapping[int, Callable[..., Any]], **folds: Any
) -> tuple[dict[int, Evaluated], str]:
    """Evaluate candidates on the same folds, which are named, too.

    `folds` are arguments of `compare`.
    """
    named = {str(i): model for i, model in models.items()}
    compared = compare(formula, data, named, **folds)
    lines = {i: compared.table.loc[str(i), ["estimate", "std_error"]] for i in models}
    return {i: Evaluated(*line) for i, line in lines.items()}, compared.folds.by


def _out_of_bag(
    fit: Callable[..., Any],
    candidates: Mapping[int, dict[str, Any]],
    metric: Metric,
    rounds: list[int] | None,
    seeds: list[int],
    progress: bool,
) -> dict[int, Evaluated]:
    """Evaluate candidates on out-of-bag rows; the better half of each round enters the next."""
    evaluated: dict[int, Evaluated] = {}
    remaining = list(candidates)
    in_rounds = [0] if rounds is None else rounds
    total = len(seeds) * sum(-(-len(candidates) // 2**k) for k in range(len(in_rounds)))
    with progress_bar(total=total, unit="fit", progress=progress) as bar:
        for trees in in_rounds:
            for i in remaining:
                size = {} if rounds is None else {"n_trees": trees}
                scores = []
                for number, seed in enumerate(seeds):
                    of_repeat = {"seed": seed} if number else {}
                    model = fit(**{**candidates[i], **size, **of_repeat})
                    scores.append(out_of_bag_score(model, metric, seed))
                    _require_finite(scores[-1][0], metric, candidates[i])
                    bar.update()
                estimates, std_errors = np.array(scores).T
                # The rows are the same in all repeats, so that the means vary as much with them.
                std_error = float(np.sqrt(np.mean(std_errors**2)))
                several = rounds is not None and len(rounds) > 1
                evaluated[i] = Evaluated(
                    float(estimates.mean()), std_error, trees if several else None
                )
            remaining.sort(key=lambda i: metric.sign * evaluated[i].estimate)
            remaining = remaining[: -(-len(remaining) // 2)]
    return evaluated


def _require_finite(score: float, metric: Metric, options: Mapping[str, Any]) -> None:
    """Raise `InputError` if a score is not finite, so that it cannot be compared."""
    if not np.isfinite(score):
        words = ", ".join(f"{name}={value!r}" for name, value in options.items())
        raise InputError(
            f"metric {metric.name!r} is {score} out of bag for {words}: use another metric, or "
            "more trees"
        )
