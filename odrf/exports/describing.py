"""The trees of a fit as functions of the columns of the user's data frame."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.forest import predicted_classes
from odrf.engine.trees.packing import HEAD, Packed
from odrf.errors import InputError
from odrf.exports.expressions import Applied, Cell, Literal, RankedCell
from odrf.exports.raw_columns import (
    EmptyColumn,
    Labelled,
    MatrixColumn,
    Source,
    can_be_empty,
    columns_of_matrix,
    kinds_of_labels,
    raw_kinds,
    require_known,
    sources_of,
)
from odrf.fits.fit import AnyFit
from odrf.fits.missing import filling_forest

__all__ = ["Branch", "Description", "Term", "cells_of", "description_of"]


class Term(NamedTuple):
    """A coefficient of a column of the matrix."""

    column: int
    coefficient: np.float32


@dataclass(frozen=True)
class Branch:
    """A split: a row goes left if the sum of its terms is at most the threshold.

    Products and sums are in float32, from the first term to the last.

    Attributes
    ----------
    terms : tuple of Term
    threshold : float32
    left, right : int
        The number of a split among those of all trees; or -1 - i for leaf i.
    """

    terms: tuple[Term, ...]
    threshold: np.float32
    left: int
    right: int


@dataclass(frozen=True)
class Description:
    """Trees as functions of the columns of a data frame; it holds no training rows.

    Attributes
    ----------
    title : str
        The call of the fit.
    response : str
        The name of the response.
    labels : tuple
        The classes; empty for a regression.
    kinds : dict
        By column of the data "number", "logical" or "text"; else what it holds, such as "dates".
    whole : frozenset of str
        The columns that held whole numbers in training.
    fills : dict
        By column what an empty cell is filled with.
    required : tuple of str
        A row with an empty cell in one of these columns has no prediction.
    with_empty_text : frozenset of str
        The columns that have an empty text among the levels of a factor.
    sources : tuple of Source
        What each atom of the formula is computed from.
    columns : dict of int to MatrixColumn
        The columns of the matrix that the splits use.
    splits : tuple of Branch
        The splits of all trees.
    roots : (B,) tuple of int
        The first split of each tree; or -1 - i for leaf i.
    nodes : dict of int to int
        By leaf i its number within its tree.
    value : dict of int to (K,) float64
        By leaf its mean response or class shares.
    votes : bool
        Whether values are votes, to be scaled to add up to 1.
    ordered : bool
        Whether the predicted class is the median, instead of the most probable class.
    """

    title: str
    response: str
    labels: tuple[Any, ...]
    kinds: Mapping[str, str]
    whole: frozenset[str]
    fills: Mapping[str, Any]
    required: tuple[str, ...]
    with_empty_text: frozenset[str]
    sources: tuple[Source, ...]
    columns: Mapping[int, MatrixColumn]
    splits: tuple[Branch, ...]
    roots: tuple[int, ...]
    nodes: Mapping[int, int]
    value: Mapping[int, NDArray[np.float64]]
    votes: bool
    ordered: bool

    @cached_property
    def used_sources(self) -> tuple[int, ...]:
        """The numbers of the sources that the columns use."""
        used = {source for column in self.columns.values() for source in sources_in(column)}
        return tuple(sorted(used))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the data that a prediction needs, in the order of the data."""
        used = {cell for s in self.used_sources for cell in cells_of(self.sources[s])}
        return tuple(name for name in self.kinds if name in used or name in self.required)

    def class_of(self, value: NDArray[np.float64]) -> int:
        """Return the number of the class that is predicted from shares (K,)."""
        return int(predicted_classes(value[np.newaxis], self.ordered)[0])

    def probabilities_of(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what one tree predicts in a leaf of this value (K,)."""
        return value / np.cumsum(value)[-1] if self.votes and self.labels else value


def sources_in(column: MatrixColumn) -> tuple[int, ...]:
    """Return the numbers of the sources that a column is computed from."""
    if isinstance(column, EmptyColumn):
        return column.sources
    return tuple(part.source for part in column.parts)


def cells_of(source: Source) -> tuple[str, ...]:
    """Return the columns of the data that a source is computed from."""
    match source:
        case Labelled(column=column) | Cell(column=column) | RankedCell(column=column):
            return (column,)
        case Applied(arguments=arguments):
            return tuple(dict.fromkeys(cell for each in arguments for cell in cells_of(each)))
        case Literal():
            return ()


def description_of(fit: AnyFit) -> Description:
    """Return the description of a fit whose prediction is the mean of its trees.

    Raises
    ------
    InputError
        Another language has no such term, or no such type of column.
    """
    design = fit.design
    sources, columns = sources_of(design), list(columns_of_matrix(design))
    kinds = kinds_of_labels(raw_kinds(design), sources)
    fillable = can_be_empty(design)
    forest = fit.forest
    required: tuple[str, ...] = ()
    if design.missing in ("drop", "raise"):
        required = design.schema.columns
    if not fit.data.has_rows:
        # their fills are means of training rows
        used_by = [column for j in fillable if (column := columns[j]) is not None]
        variables = [design.recipe.variables[s] for each in used_by for s in sources_in(each)]
        cells = {cell for variable in variables for cell in variable.columns}
        required = tuple(name for name in kinds if name in cells or name in required)
    elif fillable:
        forest = filling_forest(fit, np.array(fillable, dtype=np.int64))
        for j in fillable:
            column = columns[j]
            empty = EmptyColumn((), np.float32(1), np.float32(0))
            columns.append(
                None if column is None else replace(empty, sources=tuple(sources_in(column)))
            )
    splits, roots, places = _decoded(forest.packed, columns)
    used = sorted({term.column for split in splits for term in split.terms})
    kept = {j: column for j in used if (column := columns[j]) is not None}
    known = _known(sources, {s for column in kept.values() for s in sources_in(column)})
    require_known(kinds, [*required, *(cell for source in known for cell in cells_of(source))])
    response = design.response
    first_of_tree = np.searchsorted(forest.root, places, side="right") - 1
    return Description(
        title=" ".join(fit.call.split()),
        response=response.name,
        labels=_labels(response.name, response.classes),
        kinds=kinds,
        whole=frozenset(
            name
            for name, dtype in zip(design.schema.columns, design.schema.dtypes, strict=True)
            if "int" in dtype.lower()
        ),
        fills=design.fills,
        required=required,
        with_empty_text=frozenset(
            source.column
            for source in sources
            if isinstance(source, Labelled | RankedCell) and "" in source.labels
        ),
        sources=known,
        columns=kept,
        splits=splits,
        roots=roots,
        nodes={
            leaf: int(leaf - forest.root[tree])
            for leaf, tree in zip(places, first_of_tree, strict=True)
        },
        value={leaf: forest.value[leaf] for leaf in places},
        votes=fit.votes,
        ordered=fit.ordered,
    )


def _labels(response: str, classes: pd.Index | None) -> tuple[Any, ...]:
    """Return the classes, none of numbers; `InputError` if no language has them."""
    labels = () if classes is None else tuple(classes.tolist())
    if any(isinstance(label, float) and np.isinf(label) for label in labels):
        raise InputError(
            f"the classes of {response!r} include an infinite number, which exports do not know: "
            "make them text, with .astype(str), before fitting"
        )
    for label in labels:
        if not isinstance(label, str | bool | int | float):
            raise InputError(
                f"the classes of {response!r} are of type {type(label).__name__}, which exports do "
                "not know: make them text, with .astype(str), before fitting"
            )
    return labels


def _known(sources: tuple[Source | InputError, ...], used: set[int]) -> tuple[Source, ...]:
    """Return the sources, of those that no split uses a number; raise for others not known."""
    found: list[Source] = []
    for number, source in enumerate(sources):
        if number not in used:
            found.append(Literal(0.0))
        elif isinstance(source, InputError):
            raise source
        else:
            found.append(source)
    return tuple(found)


def _decoded(
    packed: Packed, columns: list[MatrixColumn | None]
) -> tuple[tuple[Branch, ...], tuple[int, ...], list[int]]:
    """Return the splits that rows can reach, the roots of the trees, and the leaves."""
    splits: list[Branch] = []
    roots, leaves = [], []
    for root in packed.root.tolist():
        number: dict[int, int] = {}
        for at in _records(packed, root):
            number[at] = len(splits) + len(number)
        for at in number:
            children = [
                child if child < 0 else number[at + child]
                for child in packed.words[at : at + 2].tolist()
            ]
            splits.append(Branch(_terms(packed, at, columns), packed.floats[at + 2], *children))
            leaves += [-1 - child for child in children if child < 0]
        leaves += [-1 - root] if root < 0 else []
        roots.append(root if root < 0 else number[root])
    return tuple(splits), tuple(roots), sorted(set(leaves))


def _records(packed: Packed, root: int) -> Iterator[int]:
    """Yield the places of the records that can be reached, each once, from the root on."""
    seen = {root} if root >= 0 else set()
    waiting = list(seen)
    while waiting:
        at = waiting.pop(0)
        yield at
        for child in packed.words[at : at + 2].tolist():
            if child >= 0 and at + child not in seen:
                seen.add(at + child)
                waiting.append(at + child)


def _terms(packed: Packed, at: int, columns: list[MatrixColumn | None]) -> tuple[Term, ...]:
    first = at + HEAD
    last = first + 2 * int(packed.words[at + 3])
    return tuple(
        Term(int(packed.words[place]), packed.floats[place + 1])
        for place in range(first, last, 2)
        if columns[packed.words[place]] is not None
    )
