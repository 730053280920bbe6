"""Kinds of models that can be compared, the tables to compare them on, and their scores."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment

from odrf.api.forests import odrf
from odrf.checks import checked_jobs
from odrf.design import INDICATORS, Design, Response, TrainingData, build_design
from odrf.design.columns import TEXT, as_categories, check_frame, contents
from odrf.design.encoding import unseen_levels_expected
from odrf.design.folds import RowsToDivide
from odrf.design.formula import read_formula
from odrf.design.functions import EVENT, START, TIME, looked_up_in
from odrf.design.response import SURVIVAL
from odrf.design.structure import STRUCTURE_ARGUMENTS, RowStructure, read_structure
from odrf.design.survival_times import SurvivalTimes
from odrf.design.weights import raw_weights, row_labels, rows_that_count
from odrf.engine.factors import Matrix, indicated
from odrf.engine.running import in_order
from odrf.errors import InputError, no_frame
from odrf.evaluation.metrics import Metric, TimesToScore, times_to_score
from odrf.public.progress import progress_bar
from odrf.results.base import AnyResults

WORDS = {"regression": "a number", "classification": "a class", "survival": "a survival time"}
UNNAMED = "data"
"""Name of a single table, which the user has not named."""


Value = TypeVar("Value")


@dataclass(frozen=True, eq=False)
class BesideFormula:
    """What divides the rows of tables, and so is no predictor unless a formula names it.

    `structure`: the arguments `groups`, `order` and `strata` that were given.  `folds`: the column
    of folds.  `formulas`: those of models, beside the formula of a table.
    """

    structure: Mapping[str, str | ArrayLike] = field(default_factory=dict)
    folds: str | None = None
    formulas: Sequence[str] = ()

    def left_out(self, formula: str, data: pd.DataFrame, env: EvalEnvironment) -> pd.DataFrame:
        """Return the table without these columns, except those that formulas name."""
        aside = [*self.structure.values(), self.folds]
        present = [name for name in aside if isinstance(name, str) and name in data.columns]
        unnamed = [
            name
            for name in dict.fromkeys(present)
            if not any(_names(each, name, data, env) for each in (formula, *self.formulas))
        ]
        return data.drop(columns=unnamed)


@dataclass(frozen=True, eq=False)
class Task:
    """A table of N rows, `table`, and the response in it, which its n rows `data` have.

    Text columns are categorical, so that levels which a fold lacks stay known.  `y` (n,): the
    response, or class codes 0 … K - 1; of survival times residuals, as in `TrainingData`.
    """

    name: str
    formula: str
    data: pd.DataFrame
    response: Response
    y: NDArray[np.float64]
    table: pd.DataFrame
    used: NDArray[np.bool_]
    structure: RowStructure | None
    times: TimesToScore | None = None

    @property
    def n_classes(self) -> int:
        """K, 1 if there are no classes."""
        return self.response.n_classes

    @property
    def events(self) -> NDArray[np.bool_] | None:
        """Which rows (n,) had an event; None if the response is no survival time."""
        return None if self.times is None else self.times.times.event > 0

    @property
    def rows(self) -> RowsToDivide:
        """What folds of the rows depend on."""
        return RowsToDivide(self.y, self.n_classes, None, self.structure, self.events)

    def structure_of(self, rows: NDArray[Any]) -> dict[str, NDArray[np.int64]]:
        """Return by argument the codes of groups, order and strata that `rows` have."""
        given = {name: getattr(self.structure, name, None) for name in STRUCTURE_ARGUMENTS}
        return {name: codes[rows] for name, codes in given.items() if codes is not None}

    def observed(self, rows: NDArray[Any], metric: Metric) -> NDArray[Any] | TimesToScore:
        """Return responses of rows as the metric takes them: numbers, labels, codes, times."""
        if self.times is not None:
            return self.times.keeping(rows)
        classes = self.response.classes
        if classes is None:
            return self.y[rows]
        codes = self.y[rows].astype(np.int64)
        return codes if metric.needs_probabilities else classes.to_numpy()[codes]

    def check_formula(self, formula: str, env: EvalEnvironment) -> None:
        """Raise `InputError` if another formula is invalid, or has another response."""
        kind = kind_asked(self.response)
        _, training = build_design(formula, self.data, kind=kind, with_times=True, env=env)
        if not np.array_equal(training.y, self.y):
            raise InputError(
                f"formula {formula!r} has another response than {self.formula!r}: all models must "
                "predict the same response"
            )


def arguments_given(**arguments: str | ArrayLike | None) -> dict[str, str | ArrayLike]:
    """Return the arguments that are not None, by their names."""
    return {name: value for name, value in arguments.items() if value is not None}


def kind_asked(response: Response) -> str:
    """Return the argument `kind` by which another formula is read to have a like response."""
    return "auto" if response.kind == SURVIVAL else response.kind


def named_tables(formula: Any, data: Any) -> dict[str, tuple[Any, Any]]:
    """Return pairs of formula and table by the name of the table."""
    if isinstance(data, pd.DataFrame):
        return {UNNAMED: (formula, data)}
    if not isinstance(data, Mapping):
        raise no_frame("data", data, ", or a mapping of names to data frames")
    if not data:
        raise InputError("data holds no tables: name at least one, as in {'mine': table}")
    tables = {
        str(name): table if isinstance(table, tuple) and len(table) == 2 else (formula, table)
        for name, table in data.items()
    }
    if len(tables) < len(data):
        raise InputError("data has names that read alike: use different names")
    return tables


def read_task(
    name: str,
    formula: Any,
    data: Any,
    env: EvalEnvironment,
    beside: BesideFormula | None = None,
    with_times: bool = False,
) -> Task:
    """Return the task of a formula and a table, whose rows without a response are left out.

    Columns `beside` the formula that no formula names are left out too.  `with_times`: the response
    may be ``Surv()``.
    """
    if not isinstance(data, pd.DataFrame):
        raise no_frame(f"table {name!r}", data, ", or a pair (formula, DataFrame)")
    try:
        check_frame(data)
        beside = beside or BesideFormula()
        kept = _text_as_categories(beside.left_out(formula, data, env))
        design, training = build_design(formula, kept, with_times=with_times, env=env)
        structure = read_structure(data, **beside.structure, rows=training.complete)
    except InputError as error:
        raise InputError(f"table {name!r}: {error}") from error
    used = training.complete
    times = None if training.times is None else times_to_score(training.times)
    rows, response = kept[used], design.response
    return Task(name, formula, rows, response, training.y, data, used, structure, times)


def check_same_kind(tasks: list[Task]) -> None:
    """Raise `InputError` if responses differ in kind: numbers, classes, survival times."""
    of_kind = {task.response.kind: task.name for task in tasks}
    if len(of_kind) > 1:
        kinds = [kind for kind in WORDS if kind in of_kind]
        first, second = [f"{WORDS[kind]} in table {of_kind[kind]!r}" for kind in kinds[:2]]
        raise InputError(
            f"the response is {first} and {second}, and no metric can be used for both: call "
            "compare once for each kind of table"
        )


def with_weight(
    data: pd.DataFrame, weights: str, of_rows: Mapping[str, Any]
) -> tuple[pd.DataFrame, dict[str, Any]]:
    """Return the rows whose weight is not 0, and the arguments `of_rows` with values of these."""
    counted = rows_that_count(raw_weights(weights, data))
    if counted.all():
        return data, dict(of_rows)
    kept = {
        name: row_labels(name, value, data).to_numpy()[counted]
        if isinstance(value, Sequence | np.ndarray | pd.Series) and not isinstance(value, str)
        else value
        for name, value in of_rows.items()
    }
    return data[counted], kept


def _names(formula: str, column: str, data: pd.DataFrame, env: EvalEnvironment) -> bool:
    """Return whether a formula names the column, be it as in ``. - column``."""
    try:
        read_formula(formula, [name for name in data.columns if name != column], env)
    except InputError:
        return True
    return False


def _text_as_categories(data: pd.DataFrame) -> pd.DataFrame:
    data = data.copy()
    for name in data.columns:
        if contents(data[name]) == TEXT:
            data[name] = as_categories(data[name])
    return data


def structured_times(times: SurvivalTimes) -> NDArray[np.void]:
    """Return times as scikit-survival takes them: fields "event", "time"; also "start" if late."""
    late = [] if times.start is None else [(START, np.float64)]
    y = np.empty(len(times), dtype=[(EVENT, np.bool_), *late, (TIME, np.float64)])
    y[EVENT], y[TIME] = times.event > 0, times.time
    if times.start is not None:
        y[START] = times.start
    return y


def survival_by_estimator(
    estimator: Any, X: NDArray[np.float32], at: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the survival (n, G) that a fitted estimator predicts at the times (G,)."""
    return np.stack([curve(at) for curve in estimator.predict_survival_function(X)])


FEWEST = 2


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, the same for every model, whose own formula takes precedence.

    `response` has the classes of the whole table; `structure` (n,) is by argument of a fit;
    `curves_at` (G,) are the times at which survival is to be predicted, if it is.
    """

    formula: str
    response: Response
    train: pd.DataFrame
    test: pd.DataFrame
    seed: int
    probabilities: bool
    env: EvalEnvironment
    structure: Mapping[str, NDArray[np.int64]] = field(default_factory=dict)
    curves_at: NDArray[np.float64] | None = None

    @property
    def predict_arguments(self) -> dict[str, Any]:
        """The arguments of ``predict`` of a fit, beside the rows."""
        if self.curves_at is not None:
            return {"type": "survival", "times": self.curves_at}
        return {"type": "prob"} if self.probabilities else {}


@dataclass(frozen=True, eq=False)
class Function:
    """A function of formula and data that returns a fit."""

    function: Callable[..., Any]
    formula: str | None

    def fit_predict(self, split: Split) -> Any:
        """Call the function on the training rows, and ``predict`` of the fit on the test rows."""
        options = {"seed": split.seed, **split.structure}
        wanted = {name: options[name] for name in options if _wants(self.function, name)}
        with looked_up_in(split.env):
            fit = self.function(self.formula or split.formula, split.train, **wanted)
        _require_numbers(fit, split.response)
        return fit.predict(split.test, **split.predict_arguments)


@dataclass(frozen=True, eq=False)
class Estimator:
    """An object with ``fit(X, y)`` and ``predict(X)``."""

    estimator: Any
    formula: str | None

    def fit_predict(self, split: Split) -> Any:
        """Fit a copy to the columns of the design matrix, and predict the test rows."""
        formula, kind = self.formula or split.formula, kind_asked(split.response)
        design, training = build_design(
            formula, split.train, kind=kind, with_times=True, env=split.env
        )
        fit = _seeded(copy.deepcopy(self.estimator), split.seed)
        _fit(fit, _with_nan(design, training.X).T, _response_for(design, training))
        X = _with_nan(design, design.matrix(split.test)[0]).T
        if split.curves_at is not None:
            return survival_by_estimator(fit, X, split.curves_at)
        if split.probabilities:
            return pd.DataFrame(fit.predict_proba(X), columns=pd.Index(fit.classes_))
        return fit.predict(X)


Model = Function | Estimator
"""A model to be compared.

``fit_predict(split)`` returns numbers, labels or risks; if `split.probabilities`, a data frame with
a column for each class; if `split.curves_at`, survival with a column for each time.
"""


def read_models(models: Any, fewest: int = FEWEST) -> dict[str, Model]:
    """Return the models by name."""
    if not isinstance(models, Mapping):
        raise InputError(
            f"models must be a mapping of names to models, not {type(models).__name__}: write "
            '{"tree": odrf.odt, "forest": odrf.odrf}'
        )
    if len(models) < fewest:
        raise InputError(
            f"models has {len(models)}: name at least {fewest} to compare, as in "
            '{"tree": odrf.odt, "forest": odrf.odrf}'
        )
    named_models = {str(name): _read_model(name, model) for name, model in models.items()}
    if len(named_models) < len(models):
        raise InputError("models has names that read alike: use different names")
    return named_models


def named(models: Any) -> Any:
    """Return a single model as a mapping from its function's or class's name; else `models`."""
    if isinstance(models, Mapping):
        return models
    model = models[1] if isinstance(models, tuple) and len(models) == 2 else models
    if isinstance(model, str):
        return {odrf.__name__: models}
    if isinstance(model, functools.partial):
        model = model.func
    return {getattr(model, "__name__", type(model).__name__): models}


def predictions(model: Model, split: Split) -> NDArray[Any]:
    """Return the predictions of the test rows by the model, fitted to the training rows.

    These are numbers, risks or labels (n,); probabilities (n, K), 0 for a class that had no
    training rows; or survival (n, G).
    """
    with unseen_levels_expected():
        predicted, classes = model.fit_predict(split), split.response.classes
    n = len(split.test)
    if split.probabilities and not isinstance(predicted, pd.DataFrame):
        raise InputError(
            f"probabilities come as {type(predicted).__name__}: predict(newdata, type='prob') "
            "must return a data frame with a column for each class"
        )
    if split.probabilities and classes is not None:
        strange = [label for label in predicted.columns if label not in classes]
        if strange:
            raise InputError(
                f"its probabilities have a column {strange[0]!r}, which is no class of "
                f"{split.response.name!r}: predict(newdata, type='prob') must return a data frame "
                "with a column for each class, named as the class"
            )
        probabilities = predicted.reindex(columns=classes, fill_value=0.0)
        return _one_for_each_row(probabilities, n, 2).astype(np.float64)
    if split.curves_at is not None:
        return _survival(predicted, n, len(split.curves_at))
    values = _one_for_each_row(predicted, n, 1)
    if classes is None:
        if np.iscomplexobj(values):
            raise InputError("it predicts complex numbers: return their real part")
        return values.astype(np.float64)
    codes = classes.get_indexer(pd.Index(values))
    if (codes < 0).any():
        raise InputError(
            f"it predicts {values[codes < 0][0]!r}, which is no class of "
            f"{split.response.name!r}: predict(newdata) must return class labels"
        )
    return classes.to_numpy()[codes]


def _survival(predicted: Any, n: int, times: int) -> NDArray[np.float64]:
    """Return survival as an array (n, G); raise `InputError` if it is none at all G times."""
    values = _one_for_each_row(predicted, n, 2)
    if values.shape[1] != times:
        raise InputError(
            f"its survival has {values.shape[1]} columns for {times} times: predict(newdata, "
            'type="survival", times=times) must return one for each time'
        )
    return values.astype(np.float64)


def _require_numbers(fit: Any, response: Response) -> None:
    """Raise `InputError` if the response is a number and a fit of this package has classes."""
    has_classes = isinstance(fit, AnyResults) and fit.kind == "classification"
    if has_classes and response.kind == "regression":
        raise InputError(
            f"it takes {response.name!r} for classes, and the metric takes it for numbers: write "
            f'"C({response.name}) ~ …" in place of kind='
        )


def _fit(estimator: Any, X: NDArray[np.float32], y: NDArray[Any]) -> None:
    """Fit the estimator; raise `InputError` if y are survival times and it cannot."""
    try:
        estimator.fit(X, y)
    except (TypeError, ValueError) as error:
        if y.dtype.names is None:
            raise
        raise InputError(
            f"{error}; an estimator for survival times must take these as a structured array, "
            "as those of odrf.sklearn and of scikit-survival do"
        ) from error


def _response_for(design: Design, training: TrainingData) -> NDArray[Any]:
    """Return the training responses as estimators take them."""
    if training.times is not None:
        return structured_times(training.times)
    classes = design.response.classes
    return training.y if classes is None else classes.to_numpy()[training.y.astype(np.int64)]


def _read_model(name: Any, model: Any) -> Model:
    formula = None
    if isinstance(model, tuple) and len(model) == 2 and isinstance(model[0], str):
        formula, model = model
    if isinstance(model, str) and formula is None:
        return Function(odrf, model)
    is_estimator = hasattr(model, "fit") and hasattr(model, "predict")
    if is_estimator and inspect.isclass(model):
        raise InputError(
            f"model {name!r} is a class: write {model.__name__}() for an estimator of that class"
        )
    if is_estimator:
        return Estimator(model, formula)
    if callable(model):
        return Function(model, formula)
    raise InputError(
        f"model {name!r} is of type {type(model).__name__}, which cannot be compared: use a "
        "function of formula and data such as odrf.odt, a formula, an estimator with fit and "
        "predict, or a pair (formula, function) or (formula, estimator)"
    )


def _wants(function: Callable[..., Any], name: str) -> bool:
    """Return whether the function has an argument of this name that the user has not set."""
    if isinstance(function, functools.partial) and name in function.keywords:
        return False
    try:
        return name in inspect.signature(function).parameters
    except (TypeError, ValueError):  # some built-in functions have no signature
        return False


def _seeded(estimator: Any, seed: int) -> Any:
    """Set ``random_state`` of the estimator, or of the steps of a pipeline, where it is None."""
    if hasattr(estimator, "get_params") and hasattr(estimator, "set_params"):
        unset = [
            name
            for name, value in estimator.get_params().items()
            if name.split("__")[-1] == "random_state" and value is None
        ]
        estimator.set_params(**dict.fromkeys(unset, seed))
    return estimator


def _one_for_each_row(predicted: Any, n: int, n_axes: int) -> NDArray[Any]:
    """Return the predictions as an array; raise `InputError` if any of n rows has none."""
    values = np.asarray(predicted)
    if values.shape[1:] == (1,):
        values = values[:, 0]
    if values.ndim != n_axes or len(values) != n:
        raise InputError(
            f"its predictions of {n} rows have shape {values.shape}: predict(newdata) must return "
            "one for each row"
        )
    missing = np.asarray(pd.DataFrame(values).isna().any(axis=1))
    if missing.any():
        raise InputError(
            f"it leaves {missing.sum()} of {n} rows without a prediction: models that leave out "
            'rows with missing values cannot be compared with others; use missing="split" or '
            '"median", or drop these rows of the table first'
        )
    return values


def _with_nan(design: Design, X: Matrix) -> NDArray[np.float32]:
    """Return the columns of X (p, n) as other libraries read them: NaN in the missing cells.

    Missing indicators are left out.  A missing cell of a factor is a level of its own, or, if
    training has none, no level.
    """
    values, tells = indicated(X), design.of_empty_cells
    factors = np.repeat(design.types == INDICATORS, np.diff(design.first))
    values = np.where(factors[:, np.newaxis] & np.isnan(values), np.float32(0), values)
    for last in np.flatnonzero(tells):
        j = np.searchsorted(design.first, last, side="right") - 1
        values[design.first[j] : last, values[last] == 1] = np.nan
    return values[~tells]


class RowSplit(NamedTuple):
    """Rows of a task, numbers or masks (n,), the models' seed, and `where` for messages."""

    task: Task
    train: NDArray[Any]
    test: NDArray[Any]
    seed: int
    where: str


@dataclass(frozen=True, eq=False)
class Scoring:
    """The models, the metric, and the environment in which formulas look up functions."""

    named_models: dict[str, Model]
    metric: Metric
    env: EvalEnvironment

    def scores(self, rows: RowSplit) -> list[float]:
        """Return each model's score; `InputError` names one that fails, or is not finite."""
        task, train, test, seed, where = rows
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


def each_in_turn(
    function: Callable[[Any], Value], cells: Sequence[Any], n_jobs: Any, unit: str, progress: bool
) -> list[Value]:
    """Return what the function gives for each of the cells, in threads, with a progress bar."""
    values = []
    with progress_bar(total=len(cells), unit=unit, progress=progress) as bar:
        for value in in_order(function, cells, checked_jobs(n_jobs)):
            values.append(value)
            bar.update()
    return values


def predictions_of_all(
    named_models: Mapping[str, Model], split: Split, where: str
) -> Iterator[NDArray[Any]]:
    """Yield each model's predictions of the test rows; a failing model is named with `where`."""
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
    needed = []
    if metric.needs_probabilities:
        needed.append(("predict_proba", "probabilities", "error"))
    if metric.needs_curves:
        needed.append(("predict_survival_function", "survival curves", "uno_c"))
    for name, model in named_models.items():
        for method, what, other in needed:
            if isinstance(model, Estimator) and not hasattr(model.estimator, method):
                raise InputError(
                    f"model {name!r} has no {method}, which metric={metric.name!r} needs: use an "
                    f'estimator with {what}, or metric="{other}"'
                )


def two_seeds(seed: int, *key: int) -> tuple[int, int]:
    """Return two seeds, of the rows and of the models, which differ for each key."""
    first, second = np.random.SeedSequence(seed, spawn_key=key).generate_state(2)
    return int(first), int(second)


def means_over_repeats(errors: pd.DataFrame, levels: list[str]) -> pd.DataFrame:
    """Return means, ``error``, and their standard errors, ``std_error``, for each of the levels.

    `errors` has a column for each model, and is indexed by ``repeat`` and other levels.
    """
    groups = errors.stack().groupby(level=levels, sort=False)
    return pd.DataFrame({"error": groups.mean(), "std_error": groups.sem()})
