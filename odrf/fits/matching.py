"""What two forests must share to be combined."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.guided_fit import GuidedFit
from odrf.options.guided import GuidedControl
from odrf.options.tree import Control
from odrf.projections.mixture import Mixture

__all__ = ["require_combinable"]


def require_combinable(first: Fit | GuidedFit, second: Fit | GuidedFit) -> None:
    """Raise `InputError` unless the trees of both can make one forest.

    Raises
    ------
    InputError
        If the forests differ, or share trees.  The message names the first difference.
    """
    for what, why in _differences(first, second):
        raise InputError(f"combine(): the forests differ in {what}: {why}")
    shared = set(map(tuple, first.streams.tolist())) & set(map(tuple, second.streams.tolist()))
    if shared:
        raise InputError(
            f"combine(): {len(shared)} random streams are in both forests, so that trees would "
            "count twice: fit the other forest with another seed=, or use grow() for more trees"
        )


def _differences(first: Fit | GuidedFit, second: Fit | GuidedFit) -> Iterator[tuple[str, str]]:
    """Yield each difference, and why it matters."""
    yield from _of_designs(first.design, second.design)
    yield from _of_rows(first.design, first.data, second.design, second.data)
    if isinstance(first, Fit) and isinstance(second, Fit):
        batches = first.control.batches, second.control.batches
        if batches[0] != batches[1]:
            numbers = " and ".join(str([batch.begin for batch in of_fit]) for of_fit in batches)
            yield (
                f"the rows at which the batches of update() begin, {numbers}",
                "each tree draws its rows batch by batch; update both with the same batches",
            )
    why = (
        "a combined forest has one set of options, for its summary, its theory and forests grown "
        "again from it; use the mean of their predictions instead"
    )
    for what in _of_options(first, second):
        yield what, why


def _of_designs(first: Design, second: Design) -> Iterator[tuple[str, str]]:
    a, b = first.response, second.response
    why = "trees of different responses have no common prediction"
    if a.name != b.name:
        yield f"their response, {a.name!r} and {b.name!r}", why
    if a.kind != b.kind:
        yield f"their kind, {a.kind} and {b.kind}", why
    if a.classes is not None and b.classes is not None and list(a.classes) != list(b.classes):
        yield f"the classes of {a.name!r}, {list(a.classes)} and {list(b.classes)}", why
    why = "both forests must have the same columns; use the same formula and data"
    if first.predictors != second.predictors:
        yield f"their predictors, {_name_difference(first.predictors, second.predictors)}", why
    if first.columns != second.columns:
        yield f"their columns, {_name_difference(first.columns, second.columns)}", why
    if first.types.tolist() != second.types.tolist():
        yield "how their predictors become columns", why
    if first.missing != second.missing:
        words = f"missing=, {first.missing!r} and {second.missing!r}"
        yield words, "only one of them predicts rows with missing values; use the same missing="
    if first.unseen != second.unseen:
        words = f"unseen=, {first.unseen!r} and {second.unseen!r}"
        yield words, "only one of them predicts rows with new levels; use the same unseen="


def _name_difference(first: Sequence[str], second: Sequence[str]) -> str:
    """Return a name that only one of the two has, or that their order differs, in words."""
    for place, names, others in (("first", first, second), ("second", second, first)):
        alone = [name for name in names if name not in set(others)]
        if alone:
            return f"{alone[0]!r} being in the {place} only"
    return "which come in another order"


def _of_rows(
    first: Design, rows: TrainingData, second: Design, others: TrainingData
) -> Iterator[tuple[str, str]]:
    why = "out-of-bag results need all trees on the same training rows"
    if len(rows.y) != len(others.y):
        yield f"their number of rows, {len(rows.y)} and {len(others.y)}", why
        return
    if not np.array_equal(rows.y, others.y):
        name = first.response.name
        yield f"the values of the response {name!r} in {_where(rows.y != others.y)}", why
    for j, column in enumerate(first.columns):
        if (first.scaling.low[j], first.scaling.range[j]) != (
            second.scaling.low[j],
            second.scaling.range[j],
        ):
            yield f"the range of {column!r}, by which it is scaled", why
        if not np.array_equal(rows.X[j], others.X[j]):
            yield f"the values of {column!r} in {_where(rows.X[j] != others.X[j])}", why
    if not np.array_equal(rows.weights, others.weights):
        yield f"their case weights in {_where(rows.weights != others.weights)}", why
    for name in STRUCTURE_ARGUMENTS:
        one, other = (getattr(each.structure, name, None) for each in (rows, others))
        if one is None or other is None:
            if one is not other:
                yield f"{name}=, which only one of them has", why
        elif not np.array_equal(one, other):
            yield f"{name}= in {_where(one != other)}", why


def _where(differs: NDArray[np.bool_]) -> str:
    more = int(differs.sum()) - 1
    return f"row {int(np.argmax(differs))}" + (f" and {more} more" if more else "")


def _of_options(first: Fit | GuidedFit, second: Fit | GuidedFit) -> Iterator[str]:
    pairs: list[tuple[str, Control | GuidedControl, Control | GuidedControl]]
    pairs = [("", first.control, second.control)]
    if isinstance(first, Fit) and isinstance(second, Fit):
        if (first.blend is None) != (second.blend is None):
            yield f"blend=, {first.blend is not None} and {second.blend is not None}"
        elif list(first.kinds) != list(second.kinds):
            yield f"their kinds of trees, {list(first.kinds)} and {list(second.kinds)}"
        pairs += [
            (f" of kind {name!r}", control, second.kinds[name])
            for name, control in first.kinds.items()
        ]
    for of_kind, a, b in pairs:
        for (name, value), (_, other) in zip(a.compared(), b.compared(), strict=True):
            if value != other:
                yield f"{name}={of_kind}, {_shown(value)} and {_shown(other)}"


def _shown(value: object) -> str:
    if isinstance(value, Mixture):
        return " with ".join(f"{number} of {family!r}" for family, number in value.shares)
    return repr(value)
