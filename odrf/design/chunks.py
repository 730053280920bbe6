"""Rows in chunks: their design, and walks over them as arrays."""

from __future__ import annotations

import math
import zlib
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple, TypeVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from patsy import EvalEnvironment

from odrf.design.blocks import BlockSource, rows_have_changed
from odrf.design.column_profile import ColumnProfile, ProfileReader, evaluations_of
from odrf.design.columns import listed
from odrf.design.design import Design, UsedColumns, learn_design, read_terms
from odrf.design.missing import MISSING, find_missing
from odrf.design.ranks import OwnRanks, ranked_alone
from odrf.design.response import class_factors, is_balanced
from odrf.design.scaling import Levels
from odrf.design.variables import grid_of
from odrf.design.weights import check_weights, raw_weights, unit_of
from odrf.engine.chunks import RowBlock
from odrf.engine.factors import stored
from odrf.errors import InputError, nearest, warn_user
from odrf.public.progress import progress_bar

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class BlockChecksum(NamedTuple):
    """The number of a block's first row, its number of rows, and a checksum of their values."""

    first: int
    n_rows: int
    checksum: int


class BlockReader(NamedTuple):
    """Makes arrays of the rows of a block.  It can be pickled.

    Case weights are divided by `unit`, and those of each class multiplied by `factors` (K,).
    """

    design: Design
    used: UsedColumns
    unit: float
    factors: NDArray[np.float64] | None

    def frame(self, block: pd.DataFrame) -> pd.DataFrame:
        """Return the rows that are used."""
        return self.used.left_out(block).complete_rows(block)

    def responses(self, frame: pd.DataFrame) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Return responses (m,) and case weights (m,) of rows that are used."""
        y = self.design.response.numbers(frame)
        weights = raw_weights(self.design.weights, frame) / self.unit
        if self.factors is not None:
            weights = weights * self.factors[y.astype(np.int64)]
        return y, weights

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
        self, what: str, function: Callable[[Argument, pd.DataFrame], Result], argument: Argument
    ) -> Iterator[Result]:
        """Yield ``function(argument, block)`` for all blocks; see `BlockSource`."""
        return self.source.over_blocks(what, function, argument, self.reader.used.columns)

    def blocks(self) -> Iterator[RowBlock]:
        """Yield the rows as arrays, block by block; they must be those of the pass before."""
        seen = 0
        for block in self.over_blocks("read rows", BlockReader.rows, self.reader):
            if block is not None:
                self.require_same(checked_sum(block))
                seen += len(block.y)
                yield block
        self.require_all(seen)

    def require_same(self, block: BlockChecksum) -> None:
        """Require the block of the pass before: drawn rows would count as out of bag."""
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


class _FirstPass(NamedTuple):
    """What the first pass does with a block."""

    used: UsedColumns
    profile_reader: ProfileReader

    def known_of(self, block: pd.DataFrame) -> _Known:
        """Count the rows of a block, and keep their column profile."""
        left_out = self.used.left_out(block)
        frame = left_out.complete_rows(block)
        first = block if block.index[0] == 0 else None
        missing = Counter(left_out.counts)
        if len(frame) == 0:
            return _Known(None, 0, 0, left_out.n_incomplete, 0.0, missing, Counter(), first)
        weights = raw_weights(self.profile_reader.weights, frame)
        # that all weights are 0 is no matter in one block
        name = f"weights of rows {block.index[0]} to {block.index[-1]}"
        check_weights(np.append(weights, 1.0), name)
        return _Known(
            profile=self.profile_reader.profile(frame),
            n=len(frame),
            n_positive=int((weights > 0).sum()),
            dropped=left_out.n_incomplete,
            largest_weight=float(weights.max()),
            missing=missing,
            empty=Counter(find_missing(frame, self.used.predictors).counts),
            first=first,
        )

    def joined(self, one: _Known, other: _Known) -> _Known:
        """Return what is known of both; the rows of `other` come later."""
        if one.profile is None or other.profile is None:
            profile = one.profile or other.profile
        else:
            profile = self.profile_reader.joined(one.profile, other.profile)
        return _Known(
            profile,
            one.n + other.n,
            one.n_positive + other.n_positive,
            one.dropped + other.dropped,
            max(one.largest_weight, other.largest_weight),
            one.missing + other.missing,
            one.empty + other.empty,
            one.first,
        )


class _Known(NamedTuple):
    """What is known of some rows after the first pass.

    `profile` is None if no row is used.  `n`, `n_positive` and `dropped` count the rows used, those
    of positive weight, and those left out; `missing` the missing values of rows left out, `empty`
    those of predictors in rows that are used.  `first`: the block with the first row, if read.
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

    It is the design of `odrf.design.design.build_design` of the same rows, but no column is
    replaced by its ranks, which need all values at once: a warning names such columns.  Raises
    `InputError` as that, and if a term needs all rows at once or chunks have different columns.
    """
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
    choices = [choice for choice in MISSING if choice != "surrogate"]
    aside = [] if weights is None else [weights]
    terms, used = read_terms(
        formula, names, env, aside, kind=kind, missing=missing, unseen=unseen, known=choices
    )
    reader = ProfileReader(terms, evaluations_of(terms, env), weights, kind == CLASSES)
    known = _known(source, _FirstPass(used, reader), progress)
    if known is None or known.profile is None or known.n < 2:
        counted = "" if weights is None else " and a weight above 0"
        raise InputError(
            f"data has {0 if known is None else known.n} rows with response and predictors as "
            f"missing={missing!r} needs them{counted}: at least 2 are needed"
        )
    assert known.first is not None
    reader.require_shared_levels(known.profile)
    # each row twice: text of which every row here has a level of its own is not refused for it
    frame = pd.concat([known.profile.rows] * 2, ignore_index=True)
    empty = {name: len(frame) if count == known.n else 1 for name, count in known.empty.items()}
    largest, unit = np.array([known.largest_weight]), 1.0
    if weights is not None:
        check_weights(largest)
        unit = unit_of(largest)
    learned = learn_design(
        formula, terms, frame, empty, env, kind=kind, missing=missing, unseen=unseen,
        weights=weights, grid=grid_of(known.first),
        rows="row" if weights is None else COUNTED, all_rows=False,
    )  # fmt: skip
    _warn_of_ties(learned.design, known.first)
    rows = StreamedRows(
        source, BlockReader(learned.design, used, unit, None), known.n, known.n_positive,
        known.dropped, dict(known.missing.most_common()), dict(known.empty.most_common()),
        (float(learned.y.min()), float(learned.y.max())), known.largest_weight / unit,
        known.first.head(FIRST_ROWS).copy(),
    )  # fmt: skip
    rows = replace(rows, reader=rows.reader._replace(design=_with_means(rows)))
    if class_weights is None:
        return rows
    factors = _factors(class_weights, rows)
    heaviest = rows.heaviest * float(factors.max())
    return replace(rows, reader=rows.reader._replace(factors=factors), heaviest=heaviest)


def _known(source: BlockSource, first_pass: _FirstPass, progress: bool) -> _Known | None:
    """Return what is known of all rows after the first pass; None without any."""
    total: _Known | None = None
    columns = first_pass.used.columns
    parts = source.over_blocks("see rows", _FirstPass.known_of, first_pass, columns)
    blocks = source.known_blocks(columns) if progress else None
    with progress_bar(parts, total=blocks, unit="block", progress=progress) as bar:
        for known in bar:
            total = known if total is None else first_pass.joined(total, known)
    return total


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


def _factors(class_weights: Any, rows: StreamedRows) -> NDArray[np.float64]:
    """Return the factor of each class (K,); those of balanced classes take one more pass."""
    response = rows.design.response
    totals = np.ones(response.n_classes)
    if response.classes is not None and is_balanced(class_weights):
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
