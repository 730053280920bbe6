"""What public functions and methods do with their arguments first.

One word means the same everywhere, so an argument such as ``progress`` is checked here, once, and
data frames of any library become those of pandas.  A misspelt name is answered by the nearest one.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from functools import partial, wraps
from typing import Any, TypeVar, cast

import numpy as np

from odrf.checks import (
    AUTO,
    MOST_DIGITS,
    checked_choice,
    checked_jobs,
    checked_truth,
    checked_whole,
)
from odrf.errors import InputError, UnknownArgumentError, nearest, warn_user
from odrf.public.docstrings import documented, filled
from odrf.public.frames import in_native_order, in_pandas, series_in_pandas

THREADS, DASK, JOBLIB = "threads", "dask", "joblib"
BACKENDS = (AUTO, THREADS, DASK, JOBLIB)
"""Where trees are grown: the argument `backend` of `odrf.odrf`."""

Made = TypeVar("Made", bound=Callable[..., Any])

# Arguments that have one meaning everywhere.


def _formula(value: Any) -> Any:
    """Return the formula; raise `InputError` if it is a data frame, of whatever library."""
    if hasattr(value, "columns"):
        raise InputError(
            f'formula must be a text such as "y ~ .", not a {type(value).__name__}: the formula '
            "comes first, then the data"
        )
    return value


def _axes(value: Any) -> Any:
    """Return the value; raise `InputError` unless it is None, axes of matplotlib, or several."""
    several = isinstance(value, Sequence | np.ndarray) and np.ndim(value) > 0
    parts = np.ravel(np.asarray(value, dtype=object)) if several else [value]
    if value is not None and not all(hasattr(part, "get_figure") for part in parts):
        raise InputError(f"ax={value!r}: use axes of matplotlib, as plt.subplots() makes them")
    return value


def _jobs(value: Any) -> Any:
    """Return the value: None, for all cores, stays None."""
    checked_jobs(value)
    return value


SHARED: dict[str, Callable[[Any], Any]] = {
    "formula": _formula,
    "ax": _axes,
    "backend": partial(checked_choice, "backend", choices=BACKENDS),
    "digits": partial(checked_whole, "digits", least=1, most=MOST_DIGITS),
    "n_jobs": _jobs,
    "progress": partial(checked_truth, "progress"),
    **dict.fromkeys(("data", "newdata", "background", "problem"), in_pandas),
    **dict.fromkeys(
        ("weights", "offset", "groups", "order", "strata", "validation"), series_in_pandas
    ),
}
"""What is handed on of the value of an argument, by name; it raises if the value is none."""


# The decorators.


def public(made: Made) -> Made:
    """Decorate a public function, or ``predict``: as `public_method`, and it suggests names.

    A name that is no argument raises an error that suggests the nearest one.  Of a class, the
    public methods that have arguments with one meaning everywhere are decorated.

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
        return cast(Made, _entered(made, SHARED, suggests=True))
    for name, method in list(vars(made).items()):
        if inspect.isfunction(method) and name[0] != "_" and not hasattr(method, "__wrapped__"):
            if SHARED.keys() & _arguments(method):
                setattr(made, name, _entered(method, SHARED, suggests=name == "predict"))
            else:
                documented(method)
    return made


def public_method(method: Made) -> Made:
    """Decorate a method, or a function that a class lists as one.

    Arguments with one meaning everywhere are taken as `SHARED` says: tables of other libraries
    become those of pandas, `progress` and `n_jobs` are checked.  The docstring is `filled`.
    """
    return cast(Made, _entered(method, SHARED, suggests=False))


def taking(method: Made, name: str, entry: str) -> Made:
    """Return a method for a class, as `public_method`, with an argument in place of ``**which``.

    Methods of several classes that differ in one argument alone are one function.  The argument is
    given by `name`; `entry` describes it, where the docstring has ``{which}``.

    Examples
    --------
    >>> def paint(self, wall, **which):
    ...     return which
    >>> taking(paint, "offset", "offset")(None, "north", colour="red")
    Traceback (most recent call last):
        ...
    TypeError: paint() got an unexpected keyword argument 'colour'
    """
    signature = inspect.signature(method)
    parameters = [each for each in signature.parameters.values() if each.kind != each.VAR_KEYWORD]
    by_place = [each for each in parameters if each.kind != each.KEYWORD_ONLY]
    added = inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=None)
    parameters.insert(len(by_place), added)
    names = {each.name for each in parameters}

    @wraps(method)
    def called(*args: Any, **kwargs: Any) -> Any:
        for unknown in kwargs.keys() - names:
            title = method.__name__
            raise TypeError(f"{title}() got an unexpected keyword argument {unknown!r}")
        return method(*args, **kwargs)

    called.__signature__ = signature.replace(parameters=parameters)  # type: ignore[attr-defined]
    called.__doc__ = re.sub(r"(\{.*)\bwhich\b", rf"\1{entry}", method.__doc__ or "")
    return cast(Made, public_method(called))


def in_partitions(*names: str) -> Callable[[Made], Made]:
    """Return a decorator as `public`, for a function that takes data frames of Dask as they are.

    `names` are the arguments that may be such frames.  Elsewhere they are collected in memory, as
    frames of other libraries are.
    """
    taken: Callable[[Any], Any] = partial(in_pandas, partitions=True)
    shared = {**SHARED, **dict.fromkeys(names, taken)}

    def decorate(made: Made) -> Made:
        return cast(Made, _entered(made, shared, suggests=True))

    return decorate


def respelled(
    *, renamed: Mapping[str, str] | None = None, by_name: Sequence[str] = ()
) -> Callable[[Made], Made]:
    """Return a decorator, put above the others, for what was once called in another way.

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
    renamed = renamed or {}

    def decorate(made: Made) -> Made:
        title, most = made.__name__, len(_positional(made))

        @wraps(made)
        def called(*args: Any, **kwargs: Any) -> Any:
            for name, value in zip(by_name, args[most:], strict=False):
                warn_of_old(f"{title}() with {name} by position", f"{name}=")
                kwargs = {name: value, **kwargs}
            for old in renamed.keys() & kwargs.keys():
                warn_of_old(f"{title}({old}=)", f"{renamed[old]}=")
                kwargs[renamed[old]] = kwargs.pop(old)
            return made(*(args[:most] if by_name else args), **kwargs)

        return cast(Made, called)

    return decorate


def warn_of_old(old: str, new: str) -> None:
    """Warn that a spelling is old, and which one is new."""
    warn_user(f"{old} is an old spelling and will go: write {new}", FutureWarning)


def _positional(function: Callable[..., Any]) -> tuple[str, ...]:
    """Return the names of the arguments that may be given by position."""
    code = inspect.unwrap(function).__code__
    return code.co_varnames[: code.co_argcount]


def _arguments(function: Callable[..., Any]) -> set[str]:
    """Return the names of all arguments."""
    code = inspect.unwrap(function).__code__
    return {*code.co_varnames[: code.co_argcount + code.co_kwonlyargcount]}


def _entered(
    function: Callable[..., Any], shared: Mapping[str, Callable[[Any], Any]], suggests: bool
) -> Callable[..., Any]:
    names = _positional(function)

    @wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        values = list(args)
        try:
            for place, value in enumerate(args):
                name = names[place] if place < len(names) else ""
                values[place] = shared.get(name, in_native_order)(value)
            for name, value in kwargs.items():
                kwargs[name] = shared.get(name, in_native_order)(value)
            return function(*values, **kwargs)
        except UnicodeEncodeError as error:  # by pandas, wherever it keeps text in UTF-8
            if error.reason != "surrogates not allowed":
                raise
            raise _no_character(error) from error
        except TypeError:
            wrong = _wrong_arguments(function, args, kwargs) if suggests else None
            if wrong is None:
                raise
            raise wrong from None

    called.__doc__ = filled(function.__doc__, draws="ax" in _arguments(function))
    return called


def _no_character(error: UnicodeEncodeError) -> InputError:
    """Return the error for text that pandas cannot keep in UTF-8."""
    near = error.object[max(error.start - 30, 0) : error.end + 30]
    return InputError(
        f"the text {near!r} has half of a pair of surrogates, which is no character: "
        "rename the column, or the level, that has it"
    )


# What is said of arguments that a function does not have.

# Words of some functions here for those of others; names of other packages are in `elsewhere`.
HERE: dict[str, str] = {"seed": "random_state", "kind": "type", "newdata": "data"}
# Of these the value is another one, too: 1 less the level.
COMPLEMENTS: dict[str, str] = {"alpha": "level"}
# What some functions or their results have, or had, and others have not.
OF_SOME: dict[str, str] = {
    **dict.fromkeys(
        ("interval", "level"),
        "intervals of numbers are those of odrf.odrf and odrf.auto; those of curves are bands()",
    ),
    "keep": "update() keeps all rows: fit again to those that you want to keep, as in data[-n:]",
    "compact": "use without_data() of the fit, which leaves out the training rows",
    **dict.fromkeys(("se", "se_fit"), "standard errors are those of odrf.odrf: get_prediction()"),
}


def suggestion(name: str, choices: Collection[str], of_fit: bool = False) -> str:
    """Return which of the `choices` an unknown `name` may mean, for the end of a message.

    It is what `name` means elsewhere, as an argument or, `of_fit`, as a part of fits; else the
    choice that is spelled most alike; ``""`` if there is none.  Where the value differs, too, it
    says how.

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
    from odrf.public import elsewhere  # noqa: PLC0415 - a table that only errors need

    entry, name = elsewhere.entry_of(name, of_fit), name.replace(".", "_")
    if HERE.get(name) in choices:
        return f"; did you mean {HERE[name]!r}?"
    if entry is not None and name not in choices:
        return entry.answer(choices)
    return f": {OF_SOME[name]}" if name in OF_SOME else nearest(name, choices)


def require_taken(made: type[Any], values: Sequence[Any], named: Mapping[str, Any]) -> None:
    """Raise `UnknownArgumentError` unless making an object of a class takes these arguments.

    Examples
    --------
    >>> from dataclasses import make_dataclass
    >>> require_taken(make_dataclass("Paint", ["colour"]), (), {"color": "red"})
    Traceback (most recent call last):
        ...
    odrf.errors.UnknownArgumentError: Paint() has no argument 'color'; did you mean 'colour'?
    """
    known = _positional(made.__init__)[1:]
    if len(values) <= len(known) and named.keys() <= set(known):
        return
    wrong = _wrong_arguments(made.__init__, (None, *values), named, made.__name__)
    if wrong is not None:
        raise wrong


def _wrong_arguments(
    function: Callable[..., Any], args: Sequence[Any], named: Mapping[str, Any], title: str = ""
) -> UnknownArgumentError | None:
    """Return the error for arguments that the function does not take; None if it takes them."""
    title = title or function.__name__
    parameters = inspect.signature(function).parameters.values()
    kinds = {parameter.kind for parameter in parameters}
    known = [p.name for p in parameters if p.name != "self" and p.kind is not p.VAR_POSITIONAL]
    by_place = [p for p in parameters if p.kind is p.POSITIONAL_OR_KEYWORD]
    unknown = [name for name in named if name not in known]
    if unknown and inspect.Parameter.VAR_KEYWORD not in kinds:
        return UnknownArgumentError(_unknown(title, unknown[0], known))
    if len(args) > len(by_place) and inspect.Parameter.VAR_POSITIONAL not in kinds:
        names = [p.name for p in by_place if p.name != "self"]
        number = len(args) - len(by_place) + len(names)
        return UnknownArgumentError(
            f"{title}() takes {', '.join(names) or 'none'} by position, not {number} values: "
            f"name the others, as in {title}(…, name=value)"
        )
    for parameter in by_place[len(args) :]:
        if parameter.default is parameter.empty and parameter.name not in named:
            return UnknownArgumentError(f"{title}() needs {parameter.name}=")
    return None


def _unknown(title: str, name: str, known: Sequence[str]) -> str:
    """Return the message for the `name` of an argument that is not among the `known`."""
    if not known:
        return f"{title}() takes no argument by name, such as {name!r}"
    hint = suggestion(name, known)
    if not hint:
        hint = f"; it has {', '.join(known)}"
        if "models" in known:
            hint += f"; models have their own: functools.partial(odrf.odrf, {name}=…)"
    return f"{title}() has no argument {name!r}{hint}"
