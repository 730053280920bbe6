"""What every public function does with its arguments first: old spellings, suggestions, checks.

One word means the same everywhere, so an argument such as ``progress`` is checked here, once, and
data frames of any library become those of pandas.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from itertools import zip_longest
from typing import Any, Generic, TypeVar, cast

import numpy as np

from odrf.checks import (
    AUTO,
    MOST_DIGITS,
    checked_choice,
    checked_jobs,
    checked_truth,
    checked_whole,
)
from odrf.errors import AbsentError, InputError, UnknownArgumentError, nearest, warn_user
from odrf.public.frames import in_native_order, in_pandas, is_partitioned, series_in_pandas

# ------------------------------------------------------------------------------------------------
# What arguments are called in other packages, for those who know them from there.
# ------------------------------------------------------------------------------------------------

# rpart, randomForest, ranger and grf of R; scikit-learn, XGBoost and LightGBM.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "random_state": ("seed",),
    "seed": ("random_state",),
    "sample_weight": ("weights",),
    "case_weights": ("weights",),
    "n_estimators": ("n_trees",),
    "nrounds": ("n_trees",),
    "num_boost_round": ("n_trees",),
    "max_iter": ("n_trees",),
    "max_features": ("n_singles", "subspace", "predictor_fraction"),
    "mtry": ("n_singles", "subspace"),
    "colsample_bytree": ("predictor_fraction",),
    "min_samples_leaf": ("min_leaf",),
    "min_child_samples": ("min_leaf",),
    "min_node_size": ("min_leaf", "min_split"),
    "nodesize": ("min_leaf", "min_split"),
    "minbucket": ("min_leaf",),
    "minsplit": ("min_split", "min_leaf"),
    "min_samples_split": ("min_split", "min_leaf"),
    "min_child_weight": ("min_hessian",),
    "max_leaf_nodes": ("max_leaves",),
    "num_leaves": ("max_leaves",),
    "cp": ("alpha",),
    "ccp_alpha": ("alpha",),
    "bootstrap": ("resample",),
    "replace": ("resample",),
    "max_samples": ("sample_fraction",),
    "subsample": ("sample_fraction",),
    "bagging_fraction": ("sample_fraction",),
    "shrinkage": ("learning_rate",),
    "eta": ("learning_rate",),
    "reg_lambda": ("l2",),
    "splitrule": ("criterion",),
    "early_stopping_rounds": ("patience",),
    "validation_fraction": ("validation",),
    "base_margin": ("offset",),
    "n_threads": ("n_jobs",),
    "num_threads": ("n_jobs",),
    "nthread": ("n_jobs",),
    "na_action": ("missing",),
    "verbose": ("progress",),
    "time_limit": ("budget",),
    "kind": ("type",),
    "newdata": ("data",),
    "conf_level": ("level",),
    "confidence_level": ("level",),
}
# Of these the value is another one, too: 1 less the level.
COMPLEMENTS: dict[str, str] = {"alpha": "level"}
# What some functions or their results have, or had, and others have not.
OF_SOME: dict[str, str] = {
    **dict.fromkeys(
        ("interval", "level"),
        "intervals of numbers are those of odrf.odrf and odrf.auto; those of curves are bands()",
    ),
    "subset": "give these rows of the data, as in data[rows]",
    "keep": "update() keeps all rows: fit again to those that you want to keep, as in data[-n:]",
    "compact": "use without_data() of the fit, which leaves out the training rows",
    **dict.fromkeys(("se", "se_fit"), "standard errors are those of odrf.odrf: get_prediction()"),
}


def suggestion(name: str, choices: Collection[str]) -> str:
    """Return which of the `choices` an unknown `name` may mean, for the end of a message.

    It is what `name` means elsewhere, else the choice that is spelled most alike; ``""`` if there
    is none.  Where the value differs, too, it says how.

    Examples
    --------
    >>> suggestion("random_state", ["data", "seed"])
    "; did you mean 'seed'?"
    >>> suggestion("alpha", ["interval", "level"])
    ': use level=, which is 1 - alpha'
    >>> suggestion("interval", ["data", "type"])
    ': intervals of numbers are those of odrf.odrf and odrf.auto; those of curves are bands()'
    """
    complement = COMPLEMENTS.get(name)
    if complement in choices:
        return f": use {complement}=, which is 1 - {name}"
    name = name.replace(".", "_")
    names_elsewhere = ELSEWHERE.get(name, ())
    here = next((each for each in names_elsewhere if each in choices), None)
    if here is not None:
        return f"; did you mean {here!r}?"
    return f": {OF_SOME[name]}" if name in OF_SOME else nearest(name, choices)


# ------------------------------------------------------------------------------------------------
# Where trees are grown: the argument `backend` of `odrf.odrf`.
# ------------------------------------------------------------------------------------------------

THREADS, DASK, JOBLIB = "threads", "dask", "joblib"
BACKENDS = (AUTO, THREADS, DASK, JOBLIB)
"""The known backends."""


# ------------------------------------------------------------------------------------------------
# What every public function does with its arguments first: old spellings, suggestions, checks.
# ------------------------------------------------------------------------------------------------

Made = TypeVar("Made", bound=Callable[..., Any])
Value = TypeVar("Value")


def public(made: Made) -> Made:
    """Decorate a public function, or a class with public methods.

    A name that is no argument of the function raises an error that suggests the nearest one.
    Arguments that have one meaning in the whole package are checked, and data frames of other
    libraries are converted to pandas.  Of a class, all public methods are decorated that are not
    decorated yet; and what its properties refuse is an `AttributeError`, too, so that `hasattr` and
    `inspect.getmembers` take it as absent.

    Examples
    --------
    >>> @public
    ... def paint(colour="red"):
    ...     return colour
    >>> paint(color="blue")
    Traceback (most recent call last):
        ...
    odrf.errors.UnknownArgumentError: paint() has no argument 'color'; did you mean 'colour'?
    """
    if not inspect.isclass(made):
        return cast(Made, _decorated(made, {}, ()))
    for name, method in list(vars(made).items()):
        if inspect.isfunction(method) and name[0] != "_" and not hasattr(method, "__wrapped__"):
            setattr(made, name, _decorated(method, {}, ()))
        elif isinstance(method, cached_property):
            method.func = _absent_if_refused(method.func)
        elif isinstance(method, property) and method.fget is not None:
            setattr(made, name, method.getter(_absent_if_refused(method.fget)))
    return cast(Made, made)


def in_partitions(*names: str) -> Callable[[Made], Made]:
    """Return a decorator as `public`, for a function that takes data frames of Dask as they are.

    `names` are the arguments that may be such frames.  Elsewhere they are collected in memory, as
    frames of other libraries are.
    """

    def decorate(made: Made) -> Made:
        return cast(Made, _decorated(made, {}, (), names))

    return decorate


def respelled(
    *, renamed: Mapping[str, str] | None = None, by_name: Sequence[str] = ()
) -> Callable[[Made], Made]:
    """Return a decorator as `public`, for a function whose arguments were once spelled otherwise.

    `renamed` maps old names of arguments to those of now.  `by_name` are arguments that could once
    be given by position, in this order.  Old calls work, with a `FutureWarning`.

    Examples
    --------
    >>> @respelled(renamed={"color": "colour"})
    ... def paint(colour="red"):
    ...     return colour
    >>> import warnings
    >>> with warnings.catch_warnings(record=True) as caught:
    ...     warnings.simplefilter("always")
    ...     paint(color="blue")
    'blue'
    >>> print(caught[0].message)
    paint(color=) is an old spelling and will go: write colour=
    """

    def decorate(made: Made) -> Made:
        return cast(Made, _decorated(made, renamed or {}, by_name))

    return decorate


def require_taken(made: type[Any], values: Sequence[Any], named: Iterable[str]) -> None:
    """Raise `UnknownArgumentError` unless making an object of a class takes these arguments.

    Examples
    --------
    >>> class Paint:
    ...     def __init__(self, colour):
    ...         self.colour = colour
    >>> require_taken(Paint, (), ["color"])
    Traceback (most recent call last):
        ...
    odrf.errors.UnknownArgumentError: Paint() has no argument 'color'; did you mean 'colour'?
    """
    known = list(inspect.signature(made.__init__).parameters)[1:]
    _require_known(made.__name__, named, known)
    if len(values) > len(known):
        takes = f"{', '.join(known)} by position" if known else "no arguments"
        raise UnknownArgumentError(f"{made.__name__}() takes {takes}, not {len(values)} values")


class MethodNow(Generic[Value]):
    """What was an attribute once and is a method now.

    Calling it is right.  Using it as the value works, with a `FutureWarning` that shows `name`,
    class and method.  `value` makes the value, which is kept.
    """

    def __init__(self, name: str, value: Callable[..., Value]) -> None:
        self._name, self._make = name, value
        self._values: list[Value] = []

    def __call__(self, **how: Any) -> Value:
        """Return the value; `how` are arguments of what makes it."""
        if not self._values:
            self._values.append(self._make(**how))
        return self._values[0]

    def __getattr__(self, attribute: str) -> Any:
        if attribute.startswith("__") or attribute in ("_name", "_make", "_values"):
            raise AttributeError(attribute)
        warn_of_old(self._name, f"{self._name}()")
        return getattr(self(), attribute)

    def __repr__(self) -> str:
        warn_of_old(self._name, f"{self._name}()")
        return repr(self())


def warn_of_old(old: str, new: str) -> None:
    """Warn that a spelling is old, and which one is new."""
    warn_user(f"{old} is an old spelling and will go: write {new}", FutureWarning)


def _absent_if_refused(value_of: Callable[[Any], Any]) -> Callable[[Any], Any]:
    """Return a property's function whose `InputError` is an `AbsentError`."""

    @wraps(value_of)
    def read(owner: Any) -> Any:
        try:
            return value_of(owner)
        except AbsentError:
            raise
        except InputError as error:
            raise AbsentError(*error.args).with_traceback(error.__traceback__) from None

    return read


def _decorated(
    function: Callable[..., Any],
    renamed: Mapping[str, str],
    by_name: Sequence[str],
    partitioned: Sequence[str] = (),
) -> Callable[..., Any]:
    parameters = inspect.signature(function).parameters.values()
    known = [p.name for p in parameters if p.name != "self" and p.kind is not p.VAR_POSITIONAL]
    by_place = [p.name for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    takes_places = not any(parameter.kind is parameter.VAR_POSITIONAL for parameter in parameters)
    required = [p.name for p in parameters if p.default is p.empty and p.name in by_place]
    lists = [parameter.name for parameter in parameters if "list[" in str(parameter.annotation)]
    takes_any = any(parameter.kind is parameter.VAR_KEYWORD for parameter in parameters)
    title = function.__name__

    def converted(name: str | None, value: Any) -> Any:
        if name in partitioned and is_partitioned(value):
            return value
        return CONVERSIONS.get(name or "", in_native_order)(value)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        for name, value in zip(by_name, args[len(by_place) :], strict=False):
            warn_of_old(f"{title}() with {name} by position", f"{name}=")
            kwargs = {name: value, **kwargs}
        args = args[: len(by_place)] if by_name else args
        for old in renamed.keys() & kwargs.keys():
            warn_of_old(f"{title}({old}=)", f"{renamed[old]}=")
            kwargs[renamed[old]] = kwargs.pop(old)
        if not takes_any:
            _require_known(title, kwargs, known)
        if takes_places and len(args) > len(by_place):
            raise UnknownArgumentError(_too_many(title, by_place, args, lists))
        absent = [name for name in required[len(args) :] if name not in kwargs]
        if absent:
            raise UnknownArgumentError(f"{title}() needs {absent[0]}=")
        for name, value in (*zip(by_place, args, strict=False), *kwargs.items()):
            if name in CHECKS:
                CHECKS[name](name, value)
        try:
            args = tuple(
                converted(name, value) for name, value in zip_longest(by_place[: len(args)], args)
            )
            kwargs = {name: converted(name, value) for name, value in kwargs.items()}
            return function(*args, **kwargs)
        except UnicodeEncodeError as error:  # by pandas, wherever it keeps text in UTF-8
            if error.reason != "surrogates not allowed":
                raise
            near = error.object[max(error.start - 30, 0) : error.end + 30]
            raise InputError(
                f"the text {near!r} has half of a pair of surrogates, which is no character: "
                "rename the column, or the level, that has it"
            ) from error

    return called


def _too_many(
    title: str, by_place: Sequence[str], args: Sequence[Any], lists: Sequence[str]
) -> str:
    """Return the message for more arguments by position than a function takes."""
    names = [name for name in by_place if name != "self"]
    values = args[len(by_place) - len(names) :]
    known = f"{title}() takes {', '.join(names) or 'none'} by position, not {len(values)} values"
    if names and names[-1] in lists and all(isinstance(value, str) for value in values):
        return f"{known}: write {names[-1]}={list(values[len(names) - 1 :])!r}"
    return f"{known}: name the others, as in {title}(…, name=value)"


def _require_known(title: str, names: Iterable[str], known: Sequence[str]) -> None:
    for name in names:
        if not known:
            raise UnknownArgumentError(f"{title}() takes no argument by name, such as {name!r}")
        if name not in known:
            hint = suggestion(name, known)
            if not hint:
                hint = f"; it has {', '.join(known) or 'none'}"
                if "models" in known:
                    hint += f"; models have their own: functools.partial(odrf.odrf, {name}=…)"
            raise UnknownArgumentError(f"{title}() has no argument {name!r}{hint}")


def _check_formula(argument: str, value: Any) -> None:
    """Raise `InputError` if the value is a data frame, of whatever library."""
    if hasattr(value, "columns"):
        raise InputError(
            f'{argument} must be a text such as "y ~ .", not a {type(value).__name__}: the formula '
            "comes first, then the data"
        )


def _check_axes(argument: str, value: Any) -> None:
    """Raise `InputError` unless the value is None, axes of matplotlib, or several of them."""
    several = isinstance(value, Sequence | np.ndarray) and np.ndim(value) > 0
    parts = np.ravel(np.asarray(value, dtype=object)) if several else [value]
    if value is not None and not all(hasattr(part, "get_figure") for part in parts):
        raise InputError(
            f"{argument}={value!r}: use axes of matplotlib, as plt.subplots() makes them"
        )


CHECKS: dict[str, Callable[[str, Any], object]] = {
    "digits": lambda name, value: checked_whole(name, value, 1, MOST_DIGITS),
    "progress": checked_truth,
    "n_jobs": lambda _, value: checked_jobs(value),
    "backend": lambda name, value: checked_choice(name, value, BACKENDS),
    "ax": _check_axes,
    "formula": _check_formula,
}

CONVERSIONS: dict[str, Callable[[Any], Any]] = {
    "data": in_pandas,
    "background": in_pandas,
    "newdata": in_pandas,
    "problem": in_pandas,
    "weights": series_in_pandas,
    "offset": series_in_pandas,
    "groups": series_in_pandas,
    "order": series_in_pandas,
    "strata": series_in_pandas,
}
