"""What two forests must share for their trees to make one."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from odrf.design import Design, TrainingData
from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.fits.guided_fit import GuidedFit
from odrf.options.control import Control
from odrf.options.guided_control import GuidedControl
from odrf.projections.mixture import Mixture

__all__ = ["require_combinable"]


def require_combinable(one: Fit | GuidedFit, other: Fit | GuidedFit) -> None:
    """Raise unless the trees of both can make one forest.

    Raises
    ------
    InputError
        Naming the first thing in which they differ, or where they hold the same trees.
    """
    for what, why in _differences(one, other):
        raise InputError(f"combine(): the forests differ in {what}: {why}")
    shared = set(map(tuple, one.streams.tolist())) & set(map(tuple, other.streams.tolist()))
    if shared:
        raise InputError(
            f"combine(): {len(shared)} random streams are in both forests, whose trees would count "
            "twice: give the other forest a seed= of its own, or use grow() for more trees"
        )


def _differences(one: Fit | GuidedFit, other: Fit | GuidedFit) -> Iterator[tuple[str, str]]:
    """Name what differs and why that matters, the first thing first."""
    yield from _of_designs(one.design, other.design)
    yield from _of_rows(one.design, one.data, other.design, other.data)
    if isinstance(one, Fit) and isinstance(other, Fit):
        batches = one.control.batches, other.control.batches
        if batches[0] != batches[1]:
            numbers = " and ".join(str([batch.begin for batch in some]) for some in batches)
            yield (
                f"the rows at which the batches of update() begin, {numbers}",
                ("each tree draws its rows batch by batch; update both with the same rows in turn"),
            )
    why = (
        "summaries, theorems and what is grown again from a forest need one set of options; "
        "use the mean of their predictions"
    )
    for what in _of_options(one, other):
        yield what, why


def _of_designs(one: Design, other: Design) -> Iterator[tuple[str, str]]:
    a, b = one.response, other.response
    why = "trees of different responses have no common prediction"
    if a.name != b.name:
        yield f"their response, {a.name!r} and {b.name!r}", why
    if a.kind != b.kind:
        yield f"their kind, {a.kind} and {b.kind}", why
    if a.classes is not None and b.classes is not None and list(a.classes) != list(b.classes):
        yield f"the classes of {a.name!r}, {list(a.classes)} and {list(b.classes)}", why
    why = "each tree must find its columns in the other's design; use the same formula and data"
    if one.predictors != other.predictors:
        yield f"their predictors, {_parted(one.predictors, other.predictors)}", why
    if one.columns != other.columns:
        yield f"their columns, {_parted(one.columns, other.columns)}", why
    if one.types.tolist() != other.types.tolist():
        yield "how their predictors become columns", why
    if one.missing != other.missing:
        words = f"missing=, {one.missing!r} and {other.missing!r}"
        yield words, "new rows with missing values would be refused by one of them only"


def _parted(one: Sequence[str], other: Sequence[str]) -> str:
    """Say which names are in one of both only."""
    for place, own, others in (("first", one, other), ("second", other, one)):
        alone = [name for name in own if name not in set(others)]
        if alone:
            return f"{alone[0]!r} being in the {place} only"
    return "which come in another order"


def _of_rows(
    one: Design, rows: TrainingData, other: Design, others: TrainingData
) -> Iterator[tuple[str, str]]:
    why = "out-of-bag results need all trees on the same training rows"
    if len(rows.y) != len(others.y):
        yield f"their number of rows, {len(rows.y)} and {len(others.y)}", why
        return
    if not np.array_equal(rows.y, others.y):
        name = one.response.name
        yield f"the values of the response {name!r} in {_first(rows.y != others.y)}", why
    for j, column in enumerate(one.columns):
        if (one.scaling.low[j], one.scaling.range[j]) != (
            other.scaling.low[j],
            other.scaling.range[j],
        ):
            yield f"the range of {column!r}, by which it is scaled", why
        if not np.array_equal(rows.X[j], others.X[j]):
            yield f"the values of {column!r} in {_first(rows.X[j] != others.X[j])}", why
    if not np.array_equal(rows.weights, others.weights):
        yield f"their case weights in {_first(rows.weights != others.weights)}", why


def _first(differs: NDArray[np.bool_]) -> str:
    more = int(differs.sum()) - 1
    return f"row {int(np.argmax(differs))}" + (f" and {more} more" if more else "")


def _of_options(one: Fit | GuidedFit, other: Fit | GuidedFit) -> Iterator[str]:
    pairs: list[tuple[str, Control | GuidedControl, Control | GuidedControl]]
    pairs = [("", one.control, other.control)]
    if isinstance(one, Fit) and isinstance(other, Fit):
        if (one.blend is None) != (other.blend is None):
            yield f"blend=, {one.blend is not None} and {other.blend is not None}"
        elif list(one.kinds) != list(other.kinds):
            yield f"their kinds of trees, {list(one.kinds)} and {list(other.kinds)}"
        pairs += [
            (f" of kind {name!r}", control, other.kinds[name])
            for name, control in one.kinds.items()
        ]
    for of_kind, a, b in pairs:
        for (name, first), (_, second) in zip(a.compared(), b.compared(), strict=True):
            if first != second:
                yield f"{name}={of_kind}, {_shown(first)} and {_shown(second)}"


def _shown(value: object) -> str:
    if isinstance(value, Mixture):
        return " with ".join(f"{number} of {family!r}" for family, number in value.shares)
    return repr(value)
