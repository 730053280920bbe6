"""The constructor of an estimator, and its documentation, from those of the function it calls.

So an estimator has every option of its function, with the same name and default.
"""

from __future__ import annotations

import inspect
import re
import textwrap
from collections.abc import Callable, Mapping
from typing import Any

from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.errors import UnknownArgumentError
from odrf.public.arguments import suggestion

# Options that name a column of X, which is no predictor.
ASIDE = ("offset", *STRUCTURE_ARGUMENTS)
# Arguments of the functions that are not options of an estimator: what is fitted comes with fit().
OF_FIT = ("formula", "data", "weights", "kind")
OWN_WORDS = {
    "offset": """
        offset : str, optional
            The column of X with a known part of each row's score, on the scale of
            ``results_.predict(type="link")``; see `odrf.odbt`.  It is no predictor.
        """,
    "groups": """
        groups : str, optional
            The column of X with the group of each row, such as its subject; see the function.  It
            is no predictor, and a column of X for `predict`, too.
        """,
    "order": """
        order : str, optional
            The column of X with the time of each row; see the function.  It is no predictor.
        """,
    "strata": """
        strata : str, optional
            The column of X with the stratum of each row; see the function.  It is no predictor.
        """,
    "random_state": """
        random_state : int, RandomState, Generator or None, default None
            Makes the fit reproducible, for any number of threads.  It is the argument `seed` of the
            function; ``results_.seed`` is the seed that was used.
        """,
    "n_jobs": """
        n_jobs : int, optional
            Threads of fits and predictions.  By default all cores, or as many as
            ``OMP_NUM_THREADS`` says; by -1 all cores.  In a worker of joblib, such as those of
            ``GridSearchCV(n_jobs=2)``, both are the worker's share of the cores.
        """,
    "warm_start": """
        warm_start : bool, default False
            With True, a further `fit` to the same rows keeps the trees of the fit before, and
            grows only as many as `n_trees` is larger.  The result is that of ``results_.grow()``.
            Other rows, or other options than `n_trees`, `n_jobs`, `backend` and `progress`, raise
            an error.
        """,
}
ATTRIBUTES = """
Attributes
----------
results_ : object
    The full result, as the function returns it: with ``summary()``, ``plot()``, ``importance()``.
{own}n_features_in_ : int
    Number of columns of X, called p below.
feature_names_in_ : (p,) array of str
    Their names, if X was a data frame whose columns are named by text.
feature_importances_ : (p,) array of float
    {importances}
"""
OF_CLASSES = """classes_ : (K,) array
    The classes, sorted, as in the columns of `predict_proba`.
"""
OF_TIMES = """unique_times_ : (R,) array of float
    The different times of events, ascending, at which predicted curves step.
"""


def defaults_of(
    function: Callable[..., Any], left_out: tuple[str, ...], extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of an estimator and their defaults.

    They are those of `function`, such as `odrf.odt`, without those `left_out`, and the `extra`
    ones.
    """
    options = {
        "random_state" if name == "seed" else name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in (*OF_FIT, *left_out)
    }
    return {**options, **extra}


def constructor_with(name: str, defaults: Mapping[str, Any]) -> Callable[..., None]:
    """Return the ``__init__`` of the estimator called `name`: it stores its arguments untouched."""

    def __init__(self: Any, **options: Any) -> None:  # noqa: N807
        for option in options:
            if option not in defaults:
                raise UnknownArgumentError(
                    f"{name}() has no argument {option!r}{suggestion(option, defaults)}"
                )
        for option, default in defaults.items():
            setattr(self, option, options.get(option, default))

    kinds = inspect.Parameter
    place = kinds("self", kinds.POSITIONAL_OR_KEYWORD)
    by_name = [kinds(option, kinds.KEYWORD_ONLY, default=each) for option, each in defaults.items()]
    __init__.__qualname__ = f"{name}.__init__"  # for errors, such as of arguments by position
    __init__.__signature__ = inspect.Signature([place, *by_name])  # type: ignore[attr-defined]
    return __init__


def estimator_doc(
    own: str,
    function: Callable[..., Any],
    defaults: Mapping[str, Any],
    attributes: str,
    importances: str,
) -> str:
    """Return the docstring of an estimator: its `own`, with parameters and attributes inserted.

    `attributes` describes those of its kind; `importances` is what its feature importances are.
    """
    summary, examples = inspect.cleandoc(own).split("\nExamples\n--------\n")
    words = "\n".join(_descriptions(function, defaults))
    every = ATTRIBUTES.format(own=attributes, importances=importances)
    return f"{summary}\nParameters\n----------\n{words}\n{every}\nExamples\n--------\n{examples}"


def _descriptions(function: Callable[..., Any], defaults: Mapping[str, Any]) -> list[str]:
    """Return the descriptions of the parameters, with heads that name only those there are."""
    text = re.sub(r" \[\d+\]_", "", inspect.getdoc(function) or "")  # references stay there
    section = text.split("Parameters\n----------\n")[1].split("\nReturns\n-------\n")[0].rstrip()
    parts = []
    for entry in re.split(r"\n(?=\S)", section):
        head, _, body = entry.partition("\n")
        names, colon, kind = head.partition(" : ")
        kept = [name for name in names.split(", ") if name in defaults and name not in OWN_WORDS]
        if kept:
            parts.append(f"{', '.join(kept)}{colon}{kind}\n{body}")
    own = [textwrap.dedent(words).strip() for name, words in OWN_WORDS.items() if name in defaults]
    return [*parts, *own]
