"""The trees of a fit as functions of the columns of the user's data frame."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import chain, groupby
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.engine.trees.forest import predicted_classes
from odrf.engine.trees.packing import HEAD, Packed
from odrf.errors import InputError
from odrf.exports import columns as matrix
from odrf.fits.fit import AnyFit
from odrf.fits.missing import filling_forest


class Term(NamedTuple):
    """A coefficient of a column, which is called by its place among the columns of the splits."""

    column: int
    coefficient: np.float32


@dataclass(frozen=True)
class Branch:
    """A split: a row goes left if the sum of its terms is at most the threshold.

    Products and sums are in float32, from the first term to the last.  `left`, `right`: the number
    of a split among those of all trees; or -1 - i for leaf i of all leaves.
    """

    terms: tuple[Term, ...]
    threshold: np.float32
    left: int
    right: int


@dataclass(frozen=True)
class Description:
    """Trees as functions of the columns of a data frame; it holds no training rows.

    `labels`: the classes; empty for a regression.
    `kinds`: by column of the data "number", "logical" or "text"; else what it holds, such as
      "dates".
    `whole`: the columns that held whole numbers in training.
    `fills`: by column what a missing value is filled with.
    `required`: a row with a missing value in one of these columns has no prediction.
    `with_empty_text`: the columns that have an empty text among the levels of a factor.
    `columns`: the columns of the matrix that the splits use.
    `roots` (B,): the first split of each tree; or -1 - i for leaf i.
    `nodes` (L,): the number of each leaf within its tree.
    `value` (L, K): the mean response or the class shares of each leaf.
    `votes`: whether values are votes, to be scaled to add up to 1.
    `ordered`: whether the predicted class is the median, instead of the most probable class.
    """

    title: str
    response: str
    labels: tuple[Any, ...]
    kinds: Mapping[str, str]
    whole: frozenset[str]
    fills: Mapping[str, Any]
    required: tuple[str, ...]
    with_empty_text: frozenset[str]
    sources: tuple[matrix.Source, ...]
    columns: tuple[matrix.MatrixColumn, ...]
    splits: tuple[Branch, ...]
    roots: tuple[int, ...]
    nodes: tuple[int, ...]
    value: NDArray[np.float64]
    votes: bool
    ordered: bool

    @cached_property
    def used_sources(self) -> tuple[int, ...]:
        """The numbers of the sources that the columns use."""
        used = {source for column in self.columns for source in sources_in(column)}
        return tuple(sorted(used))

    @cached_property
    def inputs(self) -> tuple[str, ...]:
        """The columns of the data that a prediction needs, in the order of the data."""
        used = {cell for s in self.used_sources for cell in cells_of(self.sources[s])}
        return tuple(name for name in self.kinds if name in used or name in self.required)

    def empty(self, source: int) -> str:
        """Return the test, in C and in Python, of whether the cell of a source is empty."""
        none = "< 0" if isinstance(self.sources[source], matrix.Labelled) else f"!= value_{source}"
        return f"value_{source} {none}"

    def class_of(self, value: NDArray[np.float64]) -> int:
        """Return the number of the class that is predicted from shares (K,)."""
        return int(predicted_classes(value[np.newaxis], self.ordered)[0])

    def runs_of(self, terms: Iterable[Term]) -> Iterator[tuple[int | None, list[Term]]]:
        """Yield the terms in their order: those of levels of one factor together, with its source.

        All other terms, also those of products of levels, come with None.
        """

        def factor(term: Term) -> int | None:
            level = level_of(self.columns[term.column])
            return None if level is None else level[0]

        for source, run in groupby(terms, factor):
            yield source, list(run)

    def factor(self, source: int) -> matrix.Labelled:
        """Return a source that is known to be a factor."""
        factor = self.sources[source]
        assert isinstance(factor, matrix.Labelled)
        return factor

    def by_code(self, terms: Iterable[Term]) -> dict[int, np.float32]:
        """Return the coefficients of terms of levels by the codes of the levels."""
        levels = [(level_of(self.columns[term.column]), term.coefficient) for term in terms]
        return {level[1]: coefficient for level, coefficient in levels if level is not None}

    def probabilities_of(self, value: NDArray[np.float64]) -> NDArray[np.float64]:
        """Return what one tree predicts in a leaf of this value (K,)."""
        return value / np.cumsum(value)[-1] if self.votes and self.labels else value


def level_of(column: matrix.MatrixColumn) -> tuple[int, int] | None:
    """Return the factor and the code if a column is a level; None for products and others."""
    match column:
        case matrix.LevelColumn(parts=(matrix.Multiplier(source=source, code=int(code)),)):
            return source, code
    return None


def sources_in(column: matrix.MatrixColumn) -> tuple[int, ...]:
    """Return the numbers of the sources that a column is computed from."""
    if isinstance(column, matrix.EmptyColumn):
        return column.sources
    return tuple(part.source for part in column.parts)


def cells_of(source: matrix.Source) -> tuple[str, ...]:
    """Return the columns of the data that a source is computed from."""
    match source:
        case (
            matrix.Labelled(column=column)
            | matrix.Cell(column=column)
            | matrix.RankedCell(column=column)
        ):
            return (column,)
        case matrix.Applied(arguments=arguments):
            return tuple(dict.fromkeys(cell for each in arguments for cell in cells_of(each)))
        case matrix.Literal():
            return ()


def description_of(fit: AnyFit) -> Description:
    """Return the description of a fit whose prediction is the mean of its trees."""
    design = fit.design
    sources, columns = matrix.sources_of(design), list(matrix.columns_of_matrix(design))
    kinds = matrix.kinds_of_columns(design, sources)
    fillable = matrix.can_be_empty(design)
    forest = fit.forest
    required: tuple[str, ...] = ()
    if design.missing in ("drop", "raise"):
        required = design.schema.columns
    if fit.rows is None:
        # their fills are means of training rows
        used_by = [column for j in fillable if (column := columns[j]) is not None]
        variables = [design.recipe.variables[s] for each in used_by for s in sources_in(each)]
        cells = {cell for variable in variables for cell in variable.columns}
        required = tuple(name for name in kinds if name in cells or name in required)
    elif fillable:
        forest = filling_forest(fit, np.array(fillable, dtype=np.int64))
        for j in fillable:
            column = columns[j]
            empty = matrix.EmptyColumn((), np.float32(1), np.float32(0))
            columns.append(
                None if column is None else replace(empty, sources=tuple(sources_in(column)))
            )
    splits, roots, kept, leaves = _decoded(forest.packed, columns)
    known = _known(sources, {s for column in kept for s in sources_in(column)})
    matrix.require_known(
        kinds, [*required, *(cell for source in known for cell in cells_of(source))]
    )
    response = design.response
    tree_of_leaf = np.searchsorted(forest.root, leaves, side="right") - 1
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
        fills={column: matrix.plain(fill) for column, fill in design.fills.items()},
        required=required,
        with_empty_text=frozenset(
            source.column
            for source in sources
            if isinstance(source, matrix.Labelled | matrix.RankedCell) and "" in source.labels
        ),
        sources=known,
        columns=kept,
        splits=splits,
        roots=roots,
        nodes=tuple((leaves - forest.root[tree_of_leaf]).tolist()),
        value=forest.value[leaves],
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


def _known(
    sources: tuple[matrix.Source | InputError, ...], used: set[int]
) -> tuple[matrix.Source, ...]:
    """Return the sources, of those that no split uses a number; raise for others not known."""
    known: list[matrix.Source] = []
    for number, source in enumerate(sources):
        if number not in used:
            known.append(matrix.Literal(0.0))
        elif isinstance(source, InputError):
            raise source
        else:
            known.append(source)
    return tuple(known)


def _decoded(
    packed: Packed, columns: list[matrix.MatrixColumn | None]
) -> tuple[tuple[Branch, ...], tuple[int, ...], tuple[matrix.MatrixColumn, ...], NDArray[np.int64]]:
    """Return splits that rows can reach, roots of trees, columns of the splits, and the leaves.

    The leaves are numbers of nodes of the forest; splits call columns and leaves by their places.
    """
    number: dict[int, int] = {}
    roots: list[int] = []
    for root in packed.root.tolist():
        for at in _records(packed, root):
            number.setdefault(at, len(number))
        roots.append(root if root < 0 else number[root])
    children = {
        at: [end if end < 0 else number[at + end] for end in packed.words[at : at + 2].tolist()]
        for at in number
    }
    ends = [*roots, *chain.from_iterable(children.values())]
    leaves = sorted({-1 - end for end in ends if end < 0})
    terms = {at: _terms(packed, at, columns) for at in number}
    used = sorted({column for listed in terms.values() for column, _ in listed})
    place = {column: at for at, column in enumerate(used)}
    leaf = {node: at for at, node in enumerate(leaves)}

    def numbered(end: int) -> int:
        return end if end >= 0 else -1 - leaf[-1 - end]

    splits = tuple(
        Branch(
            tuple(Term(place[column], coefficient) for column, coefficient in terms[at]),
            packed.floats[at + 2],
            *map(numbered, children[at]),
        )
        for at in number
    )
    kept = tuple(column for j in used if (column := columns[j]) is not None)
    return splits, tuple(map(numbered, roots)), kept, np.array(leaves, dtype=np.int64)


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


def _terms(
    packed: Packed, at: int, columns: list[matrix.MatrixColumn | None]
) -> list[tuple[int, np.float32]]:
    """Return columns and coefficients of a split, without columns that are always 0."""
    terms = slice(at + HEAD, at + HEAD + 2 * int(packed.words[at + 3]))
    listed = zip(packed.words[terms][::2].tolist(), packed.floats[terms][1::2], strict=True)
    return [(column, coefficient) for column, coefficient in listed if columns[column] is not None]


LARGEST = float(np.finfo(np.float64).max)


@dataclass(frozen=True)
class NumberSides:
    """Which numbers go left.

    `upto`: whether those up to `limit` go left; else those from `limit` on.  `limit`: if ±∞, all
    numbers go to the same side.  `empty_left`: whether a missing value goes left.
    """

    column: str
    upto: bool
    limit: float
    empty_left: bool


@dataclass(frozen=True)
class LabelSides:
    """Which known labels go left and right; `others_left`: whether missing values and others do."""

    column: str
    left: tuple[object, ...]
    right: tuple[object, ...]
    others_left: bool


def sides_of(fit: Description, split: Branch) -> NumberSides | LabelSides | None:
    """Return which values go left at a split on one column of the data; None at any other."""
    sources = {s for term in split.terms for s in sources_in(fit.columns[term.column])}
    if len(sources) != 1:
        return None
    of = fit.sources[sources.pop()]
    empty_left = _goes_left(fit, split, None)
    if isinstance(of, matrix.Labelled | matrix.RankedCell):
        labels = [label for label in of.labels if label is not None]
        known = {label: _goes_left(fit, split, of.labels.index(label)) for label in labels}
        return _sides_of_labels(of.column, known, empty_left)
    if not isinstance(of, matrix.Cell):
        return None
    if fit.kinds[of.column] == "logical":
        known = {truth: _goes_left(fit, split, float(truth)) for truth in (False, True)}
        return _sides_of_labels(of.column, known, empty_left)
    return _limit(fit, split, of.column, empty_left)


def _sides_of_labels(column: str, goes_left: dict[Any, bool], others_left: bool) -> LabelSides:
    left, right = (
        tuple(label for label, to_left in goes_left.items() if to_left == side)
        for side in (True, False)
    )
    return LabelSides(column, left, right, others_left)


def _limit(fit: Description, split: Branch, column: str, empty_left: bool) -> NumberSides:
    """Find the limit by bisection of all floats: the side changes once, if at all."""
    upto = _goes_left(fit, split, -LARGEST)
    if upto == _goes_left(fit, split, LARGEST):
        return NumberSides(column, True, np.inf if upto else -np.inf, empty_left)
    low, high = _ordinal(-LARGEST), _ordinal(LARGEST)
    while high - low > 1:
        middle = (low + high) // 2
        if _goes_left(fit, split, _of_ordinal(middle)) == upto:
            low = middle
        else:
            high = middle
    return NumberSides(column, upto, _of_ordinal(low if upto else high), empty_left)


def _goes_left(fit: Description, split: Branch, value: float | None) -> bool:
    """Return whether a row goes left whose source has this value or code; None if it is empty."""
    total = np.float32(0)
    for term in split.terms:
        column = fit.columns[term.column]
        scaled = np.float32(0)
        match column:
            case matrix.LevelColumn(parts=parts):
                scaled = np.float32(value is not None and parts[0].code == value)
            case matrix.EmptyColumn(empty=empty, present=present):
                scaled = empty if value is None else present
            case matrix.NumberColumn(parts=parts) if value is not None:
                ranked = isinstance(fit.sources[parts[0].source], matrix.RankedCell)
                scaled = column.scaled(float(value) + ranked)
        total = total + term.coefficient * scaled
    return bool(total <= split.threshold)


def _ordinal(value: float) -> int:
    """Return the rank of a float among all floats."""
    (bits,) = struct.unpack("<q", struct.pack("<d", value))
    return bits if bits >= 0 else -(bits & 0x7FFFFFFFFFFFFFFF)


def _of_ordinal(rank: int) -> float:
    bits = rank if rank >= 0 else -rank | (1 << 63)
    return float(struct.unpack("<d", struct.pack("<Q", bits))[0])


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


def require_labels(
    fit: Description, language: str, most_whole: int, most_whole_class: int | None = None
) -> None:
    """Raise `InputError` unless a language can hold the levels of the splits, and the classes.

    `most_whole`: its largest whole number among levels; `most_whole_class`: among classes, if that
    is another.
    """
    for number in fit.used_sources:
        source = fit.sources[number]
        if isinstance(source, matrix.Labelled | matrix.RankedCell):
            known = [label for label in source.labels if label is not None]
            _require_held(f"levels of {source.column!r}", known, language, most_whole)
    most = most_whole if most_whole_class is None else most_whole_class
    _require_held(f"classes of {fit.response!r}", fit.labels, language, most)


def _require_held(what: str, labels: Sequence[Any], language: str, most_whole: int) -> None:
    """Raise `InputError` unless a language can hold these labels, which are of one type."""
    if labels and matrix.type_of_labels(labels) is None:
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
