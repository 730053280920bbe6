"""The exception for bad input, suggestions for misspelt names, warnings at the user's line."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from difflib import get_close_matches
from functools import cached_property
from os import PathLike
from threading import RLock

# The exception raised for bad input, and suggestions for misspelt names.


class InputError(ValueError):
    """Raised where input cannot be used.

    The message names the argument or column, and a way to correct it.  It is a `ValueError`.

    Examples
    --------
    >>> import odrf
    >>> odrf.load_data("penguin")
    Traceback (most recent call last):
        ...
    odrf.errors.InputError: name='penguin' is not known: use one of ...; did you mean 'penguins'?
    """


class UnknownArgumentError(InputError, TypeError):
    """Raised where a function has no argument of a name; like any such error a `TypeError`, too."""


class AbsentError(InputError, AttributeError):
    """Raised where a result lacks what others have; as any such error an `AttributeError`, too."""

    def __init__(self, *args: object) -> None:
        super().__init__(*args)
        self.obj = None  # the message says what to use: Python adds no guess of its own


def refused_again(owner: object, name: str) -> None:
    """Raise once more what a property of `owner` has refused, if it has one of this name.

    It is for ``__getattr__``, which Python calls after any `AttributeError` of a property, and
    whose own words would take the place of the property's.
    """
    descriptor = getattr(type(owner), name, None)
    if isinstance(descriptor, property | cached_property):
        descriptor.__get__(owner)


def nearest(name: str, choices: Iterable[object]) -> str:
    """Return ``"; did you mean 'x'?"`` for the choice most similar to `name`, or ``""``.

    Capitals do not matter.  If no choice is similar, it is the first that begins with `name`.
    """
    sought = str(name).casefold()
    texts = {str(choice).casefold(): choice for choice in choices}
    spelled = {key: str(each) if isinstance(each, str) else each for key, each in texts.items()}
    # of two letters one may be wrong, as in "di" for "id"
    match = get_close_matches(sought, spelled, n=1, cutoff=0.5 if len(sought) == 2 else 0.6)
    if not match and len(sought) > 2:
        match = [word for word in spelled if word.startswith(sought)]
    return f"; did you mean {spelled[match[0]]!r}?" if match else ""


def allowed(argument: str, value: object, choices: Iterable[str | None]) -> InputError:
    """Return the error for the `value` of an argument that is not among its `choices`."""
    choices = list(choices)
    listing = ", ".join(repr(choice) for choice in choices)
    hint = nearest(str(value), map(str, choices))
    return InputError(f"{argument}={value!r} is not known: use one of {listing}{hint}")


def installing(extra: str) -> str:
    """Return the command that adds what an `extra` of the package needs.

    pip finds the package where it is installed, from a copy of the repository too, and no index
    needs to have it.
    """
    return f'pip install "odrf[{extra}]"'


def _is_several_frames(value: object) -> bool:
    """Return whether it is a list of data frames."""
    return (
        isinstance(value, list | tuple)
        and len(value) > 0
        and all(hasattr(each, "columns") for each in value)
    )


def no_frame(what: str, value: object, or_else: str = "") -> InputError:
    """Return the error for a `value` that must be a data frame, or something else."""
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    name = kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
    if isinstance(value, str | PathLike) or name == "odrf.Chunks":
        fix = "read the rows first, by pd.read_parquet(path); odt() and odrf() read them in chunks"
    elif _is_several_frames(value):
        fix = "join them with pd.concat(); odt() and odrf() read them in chunks"
    elif hasattr(value, "to_frame"):
        fix = "use data[[name]] for a column, row.to_frame().T for a row"
    elif hasattr(value, "to_pandas"):
        fix = "convert it by .to_pandas()"
    else:
        fix = "make one with pd.DataFrame(X, columns=[…])"
    return InputError(f"{what} must be a data frame{or_else}, not {name}: {fix}")


# Warnings that point to the line of the user's code, and places where nothing warns.

PACKAGE = __name__.partition(".")[0]
_one_at_a_time = RLock()


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn, and name the last line outside this package as the place.

    The number of functions between that line and the warning may then change freely.
    """
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and _is_ours(frame.f_globals.get("__name__", "")):
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)


@contextmanager
def without_warnings() -> Iterator[None]:
    """Within this context nothing warns.  One thread after the other enters it.

    Python has one list of filters for all threads.  If two were here at once, the second to leave
    would bring back the filters of the first, and nothing would ever warn again.
    """
    with _one_at_a_time, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield


def _is_ours(module: str) -> bool:
    return module == PACKAGE or module.startswith(f"{PACKAGE}.")
