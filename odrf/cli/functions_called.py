"""The functions that commands call, by the names that they have on the command line."""

from __future__ import annotations

import shlex
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any

import pandas as pd

from odrf import auto, graf, odbt, odrf, odt
from odrf.cli.outside_formulas import require_harmless
from odrf.cli.set_options import read_options
from odrf.errors import InputError, allowed

__all__ = ["KINDS_OF_FITS", "read_model_words"]

KINDS_OF_FITS: dict[str, Callable[..., Any]] = {
    "forest": odrf,
    "tree": odt,
    "boost": odbt,
    "graf": graf,
    "auto": auto,
}


def read_model_words(texts: Iterable[str], data: pd.DataFrame) -> dict[str, Any]:
    """Return models to compare, by name.

    Parameters
    ----------
    texts : iterable of str
        Each a kind of fit and its options, such as ``"tree max_leaves=5"``, and before them, if
        wanted, a name and ``=``.
    data : DataFrame
        For the formulas of models that have one of their own.

    Raises
    ------
    InputError
        A kind is unknown, an option is, a formula would run code, or two names are the same.
    """
    models: dict[str, Any] = {}
    for text in texts:
        name, model = _read_model(text, data)
        if name in models:
            raise InputError(f"--model: two models are called {name!r}: write NAME=KIND for one")
        models[name] = model
    return models


def _read_model(text: str, data: pd.DataFrame) -> tuple[str, Any]:
    try:
        first, *words = shlex.split(text) or [""]
    except ValueError as error:
        raise InputError(f"--model {text}: {error}: write quotes in pairs") from error
    name, equals, kind = first.rpartition("=")
    if kind not in KINDS_OF_FITS:
        raise allowed("the kind of --model", kind, KINDS_OF_FITS)
    own = [word.partition("=")[2] for word in words if word.startswith("formula=")]
    others = [word for word in words if not word.startswith("formula=")]
    function = KINDS_OF_FITS[kind]
    model: Any = partial(function, **read_options(others, [function], f"--model {kind}"))
    if len(own) > 1:
        raise InputError(f"--model {text}: it has several formulas: leave one")
    if own:
        require_harmless(own[0], data)
        model = (own[0], model)
    return (name if equals else text), model
