"""Rows in chunks: their design, and walks over them as arrays."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.checks import checked_choice
from odrf.design.blocks import BlockSource, rows_have_changed
from odrf.design.column_profile import ColumnProfile, ProfileReader, evaluations_of
from odrf.design.columns import learn_schema, listed
from odrf.design.design import Design
from odrf.design.encoding import UNSEEN
from odrf.design.formula import read_formula
from odrf.design.missing import MISSING, Missing, find_missing
from odrf.design.predictors import unranked_predictors
from odrf.design.ranks import OwnRanks, ranked_alone
from odrf.design.response import BALANCED, KINDS, class_factors, read_response, require_variation
from odrf.design.scaling import Levels
from odrf.design.variables import grid_of, training_values
from odrf.design.weights import check_weights, raw_weights, unit_of
from odrf.engine.chunks import RowBlock
from odrf.engine.factors import stored
from odrf.errors import InputError, nearest, warn_user
from odrf.public.progress import progress_bar

Given = TypeVar("Given")
Result = TypeVar("Result")


class UsedRows(NamedTuple):
    """Which columns and rows of the chunks are used.

    `weights` is the name of the column of case weights, `missing` the treatment of missing values
    of predictors.
    """

    columns: tuple[str, ...]
    response: tuple[str, ...]
    predictors: tuple[str, ...]
    weights: str | None
    missing: str

    def left_out(self, block: pd.DataFrame) -> Missing:
        """Return the missing values for which rows of a block are left out.

        Raises `InputError` if `missing` is "raise" and rows with a response have missing values.
        """
        required = [*self.response, *([] if self.weights is None else [self.weights])]
        missing_values = find_missing(block, list(dict.fromkeys(required)))
        if self.missing == "raise":
            rows = find_missing(block, self.response).complete_rows(block)
            find_missing(rows, list(dict.fromkeys([*self.predictors, *required]))).require_none()
        elif self.missing == "drop":
            missing_values = find_missing(block, list(dict.fromkeys([*self.predictors, *required])))
        return missing_values

    def weights_of(self, frame: pd.DataFrame) -> NDArray[np.float64]:
        """Return the case weights (m,) as they are in the column; 1 without one."""
        return raw_weights(self.weights, frame)


class Responses(NamedTuple):
    """Responses y (m,) of a block, and case weights (m,)."""

    y: NDArray[np.float64]
    weights: NDArray[np.float64]


class BlockChecksum(NamedTuple):
    """The number of a block's first row, its number of rows, and a checksum of their values."""

    first: int
    n_rows: int
    checksum: int


class BlockReader(NamedTuple):
    """Makes arrays of the rows of a block.  It can be pickled.

    The case weights are divided by `unit` (see `odrf.design.weights.unit_of`), and those of each
    class are multiplied by `factors` (K,).
    """

    design: Design
    used: UsedRows
    unit: float
    factors: NDArray[np.float64] | None

    def frame(self, block: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are used."""
        return self.used.left_out(block).complete_rows(block)

    def responses(self, frame: pd.DataFrame) -> Responses:
        """Return responses and weights of rows that are used."""
        y = self.design.response.numbers(frame)
        weights = self.used.weights_of(frame) / self.unit
        if self.factors is not None:
            weights = weights * self.factors[y.astype(np.int64)]
        return Responses(y, weights)

    def rows(self, block: pd.DataFrame) -> RowBlock | None:
        """Return the rows that are used as arrays; None if no row is used."""
        frame = self.frame(block)
        if len(frame) == 0:
            return None
        X, _ = self.design.matrix(frame)
        y, weights = self.responses(frame)
        return RowBlock(frame.index.to_numpy().astype(np.uint64), X, y, weights)


@dataclass(frozen=True, eq=False)
class StreamedRows:
    """The training rows in blocks, and the design that was learned from them.

    `n`, `n_positive`, `n_dropped`: rows that are used, those of positive weight, and rows left out
    for missing values.  `missing_columns`, `empty_cells`: as in `TrainingData`.  `span`
    (float, float): the smallest and the largest response.  `heaviest`: the largest weight of a row.
    `first`: the first rows as they were read, with those that are not used.
    """

    source: BlockSource
    reader: BlockReader
    n: int
    n_positive: int
    n_dropped: int
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    span: tuple[float, float]
    heaviest: float
    first: pd.DataFrame
    _sums: dict[int, int] = field(default_factory=dict)

    @property
    def design(self) -> Design:
        """The design of the rows."""
        return self.reader.design

    def over_blocks(
        self, what: str, function: Callable[[Given, pd.DataFrame], Result], given: Given
    ) -> Iterator[Result]:
        """Yield ``function(given, block)`` for all blocks; see `BlockSource`."""
        return self.source.over_blocks(what, function, given, self.reader.used.columns)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows as arrays, block by block.

        Raises `InputError` if the chunks give other rows than in the pass before.
        """
        seen = 0
        for block in self.over_blocks("read rows", BlockReader.rows, self.reader):
            if block is not None:
                self.require_same(checked_sum(block))
                seen += len(block.y)
                yield block
        self.require_all(seen)

    def require_same(self, block: BlockChecksum) -> None:
        """Raise `InputError` unless a block has the checksum that it had in the pass before.

        If a query gave its rows in another order, rows that a tree has drawn would count as out of
        bag.
        """
        if self._sums.setdefault(block.first, block.checksum) != block.checksum:
            raise rows_have_changed()

    def require_all(self, seen: int) -> None:
        """Raise `InputError` unless as many rows were seen as in the first pass."""
        if seen != self.n:
            raise rows_have_changed()


def checked_sum(block: RowBlock) -> BlockChecksum:
    """Return the checksum of a block."""
    checksum = zlib.crc32(np.ascontiguousarray(block.y).data)
    checksum = zlib.crc32(np.ascontiguousarray(stored(block.X)).data, checksum)
    return BlockChecksum(int(block.numbers[0]), len(block.y), checksum)


CLASSES = "classification"
COUNTED = "row of positive weight"
# So many rows are kept as they are, for checks of the data.
FIRST_ROWS = 2000


class _Seeing(NamedTuple):
    """The arguments of the first pass."""

    used: UsedRows
    profile_reader: ProfileReader


class _Seen(NamedTuple):
    """What the first pass has learned from some rows.

    `profile` is their column profile, None if no row is used.  `n`, `n_positive` and `dropped`
    count the rows used, those of positive weight, and those left out.  `missing` counts the missing
    values of rows left out, `empty` those of predictors in rows that are used.  `first` is the
    block that begins with the first row, if it was read.
    """

    profile: ColumnProfile | None
    n: int
    n_positive: int
    dropped: int
    largest_weight: float
    missing: Counter[str]
    empty: Counter[str]
    first: pd.DataFrame | None


def learn_streamed_design(
    formula: str,
    source: BlockSource,
    *,
    kind: str,
    missing: str,
    unseen: str,
    weights: str | None,
    class_weights: str | Mapping[Any, float] | None,
    env: EvalEnvironment,
    progress: bool = False,
) -> StreamedRows:
    """Learn the design of rows in chunks; return it with the rows, which can be read again.

    It is the design that `odrf.design.design.build_design` learns from the same rows in one data
    frame, with the same arguments, but no column is replaced by its ranks, which need all values at
    once: a warning names such columns.  `missing` is not "median", and `weights` is the name of a
    column.  Raises `InputError` as `build_design` does, and if a term needs all rows at once or the
    chunks have different columns.
    """
    checked_choice("kind", kind, KINDS)
    checked_choice("missing", missing, [choice for choice in MISSING if choice != "surrogate"])
    checked_choice("unseen", unseen, UNSEEN)
    if missing == "median":
        raise InputError(
            'missing="median" needs all values of a column at once, which rows in chunks do not '
            'allow: use missing="split", or fill the cells before'
        )
    names = source.columns()
    if weights is not None and weights not in names:
        raise InputError(
            f"weights={weights!r} is not a column of the data{nearest(weights, names)}"
        )
    aside = [] if weights is None else [weights]
    terms = read_formula(formula, names, env, aside)
    needed = {*terms.columns, *terms.response.columns, *aside}
    columns = tuple(name for name in names if name in needed)
    used = UsedRows(columns, tuple(terms.response.columns), tuple(terms.columns), weights, missing)
    profile_reader = ProfileReader(terms, evaluations_of(terms, env), weights, kind == CLASSES)
    seen = _seen(source, _Seeing(used, profile_reader), columns, progress)
    if seen is None or seen.profile is None or seen.n < 2:
        counted = "" if weights is None else " and a weight above 0"
        raise InputError(
            f"data has {0 if seen is None else seen.n} rows with response and predictors as "
            f"missing={missing!r} needs them{counted}: at least 2 are needed"
        )
    assert seen.first is not None
    profile_reader.require_shared_levels(seen.profile)
    if weights is not None:
        check_weights(np.array([seen.largest_weight]))
    design, span = _design(formula, profile_reader, seen.profile, seen, kind, env)
    grid = grid_of(seen.first)
    design = replace(design, missing=missing, unseen=unseen, weights=weights, grid=grid)
    _warn_of_ties(design, seen.first)
    unit = unit_of(np.array([seen.largest_weight])) if weights is not None else 1.0
    rows = StreamedRows(
        source, BlockReader(design, used, unit, None), seen.n, seen.n_positive, seen.dropped,
        dict(seen.missing.most_common()), dict(seen.empty.most_common()), span,
        seen.largest_weight / unit, seen.first.head(FIRST_ROWS).copy(),
    )  # fmt: skip
    rows = replace(rows, reader=rows.reader._replace(design=_with_means(rows)))
    factors = _factors(class_weights, rows)
    if factors is None:
        return rows
    heaviest = rows.heaviest * float(factors.max())
    return replace(rows, reader=rows.reader._replace(factors=factors), heaviest=heaviest)


def _seen(
    source: BlockSource, seeing: _Seeing, columns: Sequence[str], progress: bool
) -> _Seen | None:
    """Return what the first pass has learned from all rows; None without any."""
    total: _Seen | None = None
    parts = source.over_blocks("see rows", _see, seeing, columns)
    with progress_bar(parts, unit="block", progress=progress) as bar:
        for seen in bar:
            total = seen if total is None else _added(seeing.profile_reader, total, seen)
    return total


def _see(given: _Seeing, block: pd.DataFrame) -> _Seen:
    """Count the rows of a block, and keep their column profile."""
    used = given.used
    left_out = used.left_out(block)
    frame = left_out.complete_rows(block)
    first = block if block.index[0] == 0 else None
    missing = Counter(left_out.counts)
    if len(frame) == 0:
        return _Seen(None, 0, 0, left_out.n_incomplete, 0.0, missing, Counter(), first)
    weights = used.weights_of(frame)
    first_row, last_row = block.index[0], block.index[-1]
    # that all weights are 0 is no matter in one block
    check_weights(np.append(weights, 1.0), f"weights of rows {first_row} to {last_row}")
    return _Seen(
        profile=given.profile_reader.profile(frame),
        n=len(frame),
        n_positive=int((weights > 0).sum()),
        dropped=left_out.n_incomplete,
        largest_weight=float(weights.max()),
        missing=missing,
        empty=Counter(find_missing(frame, used.predictors).counts),
        first=first,
    )


def _added(profile_reader: ProfileReader, one: _Seen, other: _Seen) -> _Seen:
    """Return what was learned from both; the rows of `other` come later."""
    if one.profile is None or other.profile is None:
        profile = one.profile or other.profile
    else:
        profile = profile_reader.joined(one.profile, other.profile)
    return _Seen(
        profile=profile,
        n=one.n + other.n,
        n_positive=one.n_positive + other.n_positive,
        dropped=one.dropped + other.dropped,
        largest_weight=max(one.largest_weight, other.largest_weight),
        missing=one.missing + other.missing,
        empty=one.empty + other.empty,
        first=one.first,
    )


def _design(
    formula: str,
    profile_reader: ProfileReader,
    profile: ColumnProfile,
    seen: _Seen,
    kind: str,
    env: EvalEnvironment,
) -> tuple[Design, tuple[float, float]]:
    """Return the design of the rows of the profile, and the extremes of the response.

    The means of columns with missing cells are those of these rows.
    """
    terms = profile_reader.formula
    # Each row twice: text of which every row here has a level of its own is not refused for it.
    frame = pd.concat([profile.rows, profile.rows], ignore_index=True)
    evaluation, values = training_values(terms.response, frame, env)
    response, y = read_response(values, kind, "row" if profile_reader.weights is None else COUNTED)
    require_variation(response.name, y)
    response = replace(response, columns=tuple(terms.response.columns), evaluation=evaluation)
    everywhere = {name for name, count in seen.empty.items() if count == seen.n}
    empty = {name: len(frame) if name in everywhere else 1 for name in seen.empty}
    recipe = unranked_predictors(terms.terms, frame, empty, env)
    scaling, _ = recipe.columns_on(frame).learned(recipe.columns)
    schema = learn_schema(frame, terms.columns)
    span = float(y.min()), float(y.max())
    return Design(formula, response, recipe, schema, scaling, "split"), span


def _warn_of_ties(design: Design, first: pd.DataFrame) -> None:
    """Warn of columns that would be ranked if all rows were there, as the first block shows."""
    recipe = design.recipe
    variables, _ = ranked_alone(recipe.variables, recipe.terms, first)
    names = [each.name for each in variables if isinstance(each.encoding, OwnRanks)]
    if names:
        warn_user(
            f"32 bits cannot tell many values of {listed(names)} apart: without all rows in memory "
            "they have no ranks, and values close to each other count as equal; make numbers of "
            "fewer digits of them, or leave them out"
        )


def _with_means(rows: StreamedRows) -> Design:
    """Return the design with the means of columns with missing cells, which takes one more pass."""
    design = rows.design
    holes = design.scaling.holes
    if not holes.any():
        return design
    counts = np.zeros(len(holes), dtype=np.int64)
    sums: list[NDArray[np.float64]] = []
    for known, above in rows.over_blocks("sum columns", _column_sums, rows.reader):
        counts += known
        sums.append(above)
    total = np.array([math.fsum(column) for column in zip(*sums, strict=True)])
    # `low` is the mean of the rows of the profile so far
    low = design.scaling.low + np.where(holes, total / np.maximum(counts, 1), 0.0)
    return replace(design, scaling=replace(design.scaling, low=low))


def _column_sums(
    reader: BlockReader, block: pd.DataFrame
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Return the known values of each column, and the sum of what they are above `low`."""
    design = reader.design
    counts = np.zeros(len(design.scaling.low), dtype=np.int64)
    sums = np.zeros(len(counts))
    frame = reader.frame(block)
    if len(frame) == 0:
        return counts, sums
    for piece in design.recipe.columns_on(frame).pieces():
        if isinstance(piece, Levels):
            continue
        known = ~np.isnan(piece.values)
        counts[piece.at] += known.sum(axis=1)
        above = piece.values - design.scaling.low[piece.at, np.newaxis]
        sums[piece.at] = np.where(known, above, 0.0).sum(axis=1)
    return counts, sums


def _factors(class_weights: Any, rows: StreamedRows) -> NDArray[np.float64] | None:
    """Return the factor of each class (K,); those of balanced classes take one more pass."""
    response = rows.design.response
    if response.classes is None or class_weights is None:
        return class_factors(class_weights, response, np.empty(0), np.empty(0))
    totals = np.ones(response.n_classes)
    if isinstance(class_weights, str) and class_weights == BALANCED:
        totals = np.zeros(response.n_classes)
        for of_block in rows.over_blocks("sum classes", _class_sums, rows.reader):
            totals += of_block
    return class_factors(class_weights, response, np.arange(float(len(totals))), totals)


def _class_sums(reader: BlockReader, block: pd.DataFrame) -> NDArray[np.float64]:
    """Return the weight of each class (K,)."""
    frame = reader.frame(block)
    if len(frame) == 0:
        return np.zeros(reader.design.response.n_classes)
    y, weights = reader.responses(frame)
    of_class = np.bincount(y.astype(np.int64), weights, reader.design.response.n_classes)
    return of_class.astype(np.float64)
