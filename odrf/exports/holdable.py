"""Names of columns, levels of factors and classes that another language cannot hold."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from odrf.errors import InputError
from odrf.exports.describing import Description
from odrf.exports.expressions import RankedCell
from odrf.exports.raw_columns import Labelled, type_of_labels

__all__ = ["MOST_WHOLE", "require_labels", "require_names", "require_sources"]

MOST_WHOLE = 2**53 - 1
"""The largest whole number up to which floats of 64 bits tell all whole numbers apart."""


def require_names(
    what: str,
    names: Iterable[str],
    language: str,
    others: Iterable[str] = (),
    as_read: Callable[[str], str] = str,
) -> None:
    """Raise `InputError` unless a language can hold these names, each as one of its own.

    `what` has a name: "column" or "class".  `others` are further names that the table may have.
    `as_read` gives what the language makes of a name, such as one in small letters.
    """
    names = tuple(names)
    for name in names:
        problem = "no characters" if name == "" else _problem(name)
        if problem:
            raise InputError(
                f"the name of {what} {name!r} has {problem}, which {language} cannot hold: rename "
                f"this {what} before fitting"
            )
    first: dict[str, str] = {}
    for name in (*names, *others):
        known = first.setdefault(as_read(name), name)
        if known != name and known in names:
            raise InputError(
                f"the names of {what} {known!r} and {name!r} are the same in {language}: rename "
                "one of them before fitting"
            )


def require_sources(fit: Description, language: str, most_whole: int) -> None:
    """Raise `InputError` unless a language can hold the levels of all factors of the splits."""
    for number in fit.used_sources:
        source = fit.sources[number]
        if isinstance(source, Labelled | RankedCell):
            known = [label for label in source.labels if label is not None]
            require_labels(f"levels of {source.column!r}", known, language, most_whole)


def require_labels(what: str, labels: Iterable[Any], language: str, most_whole: int) -> None:
    """Raise `InputError` unless a language can hold these labels, which are of one type."""
    labels = tuple(labels)
    if labels and type_of_labels(labels) is None:
        raise InputError(
            f"the {what} are of several types: make them text, with .astype(str), before fitting"
        )
    if any(isinstance(label, float) for label in labels):
        most_whole = min(most_whole, MOST_WHOLE)
    for label in labels:
        if isinstance(label, str) and (problem := _problem(label)):
            raise InputError(
                f"the {what} include {label!r}, which has {problem}, which {language} cannot "
                "hold: give it another name before fitting"
            )
        if isinstance(label, int) and abs(label) > most_whole:
            raise InputError(
                f"the {what} include {label}, a whole number that {language} cannot tell from "
                "the next ones: make them text, with .astype(str), before fitting"
            )


def _problem(text: str) -> str:
    """Return what no other language holds in a text; "" if there is nothing."""
    if "\0" in text:
        return "the character NUL"
    if any("\ud800" <= letter <= "\udfff" for letter in text):
        return "half of a pair of surrogates, which is no character"
    return ""
