"""Kinds of models that can be compared, and how each is fitted and predicts test rows."""

from __future__ import annotations

import copy
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.api.oblique_forests import odrf
from odrf.design import INDICATORS, Design, Response, TrainingData, build_design
from odrf.design.encoding import unseen_levels_expected
from odrf.design.functions import looked_up_in
from odrf.engine.factors import Matrix, indicated
from odrf.errors import InputError
from odrf.evaluation.survival.estimators_of_times import structured_times, survival_by_estimator
from odrf.evaluation.tasks import kind_asked
from odrf.results.base import AnyResults

__all__ = ["Model", "Split", "named", "predictions", "read_models"]

FEWEST = 2


@dataclass(frozen=True, eq=False)
class Split:
    """Training and test rows, the same for every model.

    Attributes
    ----------
    formula : str
        Formula of the table; that of a model takes precedence.
    response : Response
        The response, with the kind and the classes of the whole table.
    train, test : DataFrame
    seed : int
    probabilities : bool
        Whether probabilities of the classes are to be predicted.
    env : EvalEnvironment
        Where functions in formulas are looked up.
    structure : mapping of str to (n,) int64
        By the argument of a fit, `groups`, `order` and `strata` of the training rows.
    curves_at : (G,) float64 or None
        The times at which survival is to be predicted, if it is.
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
    def asked(self) -> dict[str, Any]:
        """What is asked of ``predict`` of a fit, beside the rows."""
        if self.curves_at is not None:
            return {"type": "survival", "times": self.curves_at}
        return {"type": "prob"} if self.probabilities else {}


class Model(Protocol):
    """A model to be compared."""

    @property
    def formula(self) -> str | None:
        """The model's formula; None if it uses that of the table."""

    @property
    def has_probabilities(self) -> bool:
        """Whether the model can predict probabilities, as far as is known before a fit."""

    @property
    def has_curves(self) -> bool:
        """Whether the model can predict survival at times, as far as is known before a fit."""

    def fit_predict(self, split: Split) -> Any:
        """Fit the model to the training rows and return its predictions of the test rows.

        Numbers, labels or risks; if `split.probabilities`, a data frame with a column for each
        class; if `split.curves_at`, survival with a column for each time.
        """


@dataclass(frozen=True, eq=False)
class Function:
    """A function of formula and data that returns a fit."""

    function: Callable[..., Any]
    formula: str | None
    has_probabilities: bool = True
    has_curves: bool = True

    def fit_predict(self, split: Split) -> Any:
        """Call the function on the training rows, and ``predict`` of the fit on the test rows."""
        options = {"seed": split.seed, **split.structure}
        wanted = {name: options[name] for name in options if _wants(self.function, name)}
        with looked_up_in(split.env):
            fit = self.function(self.formula or split.formula, split.train, **wanted)
        _require_numbers(fit, split.response)
        return fit.predict(split.test, **split.asked)


@dataclass(frozen=True, eq=False)
class Estimator:
    """An object with ``fit(X, y)`` and ``predict(X)``."""

    estimator: Any
    formula: str | None

    @property
    def has_probabilities(self) -> bool:
        """Whether it has ``predict_proba``."""
        return hasattr(self.estimator, "predict_proba")

    @property
    def has_curves(self) -> bool:
        """Whether it has ``predict_survival_function``."""
        return hasattr(self.estimator, "predict_survival_function")

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


def read_models(models: Any, fewest: int = FEWEST) -> dict[str, Model]:
    """Return the models by name.

    Raises
    ------
    InputError
        If `models` is no mapping of at least `fewest` models, or one of them is of no known kind.
    """
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

    Returns
    -------
    (n,) float64 or labels, or (n, K) or (n, G) float64
        Numbers or risks; class labels; or probabilities, 0 for a class that had no training rows;
        or survival.

    Raises
    ------
    InputError
        If there is not one prediction for each row, or a prediction is no known class, or a column
        of probabilities is of none.
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
    """Fit the estimator; raise `InputError` if y are times to an event and it cannot."""
    if y.dtype.names is None:
        estimator.fit(X, y)
        return
    try:
        estimator.fit(X, y)
    except (TypeError, ValueError) as error:
        raise InputError(
            f"{error}; an estimator for times to an event must take these as a structured array, "
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
    """Return the columns of X (p, n) as other libraries read them: NaN in the empty cells.

    Those that tell empty cells are left out.  An empty cell of a factor is a level of its own, or,
    if training has none, no level.
    """
    values, tells = indicated(X), design.of_empty_cells
    factors = np.repeat(design.types == INDICATORS, np.diff(design.first))
    values = np.where(factors[:, np.newaxis] & np.isnan(values), np.float32(0), values)
    for last in np.flatnonzero(tells):
        j = np.searchsorted(design.first, last, side="right") - 1
        values[design.first[j] : last, values[last] == 1] = np.nan
    return values[~tells]
