"""Rows in blocks of one size, however they are cut into chunks."""

from __future__ import annotations

import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import pairwise
from typing import Any, Protocol, TypeVar

import numpy as np
import pandas as pd

from odrf.design.columns import NUMBERS, TEXT, contents, listed
from odrf.engine.chunks import HashedDraw, draw_keys
from odrf.engine.memory import available_memory
from odrf.errors import InputError
from odrf.public.chunks import Chunks, known_rows
from odrf.public.progress import progress_bar

ROWS_PER_BLOCK = 2**16
# So many values of a chunk are kept, to say what text it has.
SOME = 1000

Argument = TypeVar("Argument")
Result = TypeVar("Result")


class BlockSource(Protocol):
    """Training rows that can be walked again and again, in blocks of `ROWS_PER_BLOCK`.

    They are in memory, as one chunk, or are read in chunks in each pass (`ChunkBlocks`), or stay on
    the workers of a cluster (`odrf.design.partitions.PartitionBlocks`).
    """

    @property
    def memory(self) -> float | None:
        """The bytes that drawn rows and growing trees may take, if the user has set it."""

    def columns(self) -> list[str]:
        """Return the names of the columns."""

    def known_blocks(self, columns: Sequence[str]) -> int | None:
        """Return how many blocks there are; None if that is not known without reading all."""

    def over_blocks(
        self,
        what: str,
        function: Callable[[Argument, pd.DataFrame], Result],
        argument: Argument,
        columns: Sequence[str],
    ) -> Iterator[Result]:
        """Yield ``function(argument, block)`` for all blocks, in the order of the rows.

        The row labels of a block are the numbers of its rows.  `what` says in a few words what is
        done.  The function, its argument and its results may be sent to other processes.
        """


@dataclass(frozen=True, eq=False)
class ChunkBlocks:
    """The blocks of chunks that this process reads, without rows of weight 0 in `weights`."""

    chunks: Chunks
    weights: str | None = None
    _sums: dict[tuple[str, ...], list[int]] = field(default_factory=dict)

    @property
    def memory(self) -> float | None:
        """The bytes that drawn rows and growing trees may take, if the user has set it."""
        return self.chunks.memory

    def columns(self) -> list[str]:
        """Return the names of the columns; see `Chunks.columns`."""
        return self.chunks.columns()

    def known_blocks(self, columns: Sequence[str]) -> int | None:
        """Return how many blocks there are; None if that is not known without reading all."""
        rows = None if self.weights is not None else known_rows(self.chunks)
        return None if rows is None else -(-rows // ROWS_PER_BLOCK)

    def over_blocks(
        self,
        what: str,
        function: Callable[[Argument, pd.DataFrame], Result],
        argument: Argument,
        columns: Sequence[str],
    ) -> Iterator[Result]:
        """Yield ``function(argument, block)`` for all blocks: those of the first pass."""
        read = _of_one_kind(self.chunks.named_frames(columns))
        frames = (rows_of_weight(each, self.weights) for each in read)
        known, sums = self._sums.get(tuple(columns)), []
        for block in in_blocks_of_rows(frames, ROWS_PER_BLOCK):
            hashed = pd.util.hash_pandas_object(block, index=False).to_numpy()
            sums.append(zlib.crc32(hashed.data))
            if known is not None and known[len(sums) - 1 : len(sums)] != sums[-1:]:
                raise rows_have_changed()
            yield function(argument, block)
        if known is not None and known != sums:
            raise rows_have_changed()
        self._sums[tuple(columns)] = sums


def rows_of_weight(frame: pd.DataFrame, weights: str | None) -> pd.DataFrame:
    """Return the rows whose weight in the column `weights` is not 0; all if that is None."""
    if weights is None:
        return frame
    without = (frame[weights] == 0).fillna(False).to_numpy(dtype=bool)
    return frame[~without] if without.any() else frame


def in_blocks_of_rows(
    frames: Iterable[pd.DataFrame], size: int, begin: int = 0
) -> Iterator[pd.DataFrame]:
    """Yield the rows of all frames in blocks of `size`, the last smaller, labelled from `begin` on.

    What is computed block by block is then the same for any chunks.
    """
    parts: list[pd.DataFrame] = []
    held = 0
    for frame in frames:
        first = 0
        while held + len(frame) - first >= size:
            last = first + size - held
            parts.append(frame.iloc[first:last])
            yield _joined(parts, begin)
            parts, held, first, begin = [], 0, last, begin + size
        if first < len(frame):
            parts.append(frame.iloc[first:])
            held += len(frame) - first
    if parts:
        yield _joined(parts, begin)


def require_alike(parts: Sequence[pd.DataFrame]) -> None:
    """Raise `InputError` if a column has numbers in some parts and text in others, or other levels.

    pandas guesses types for each piece of a csv file.  Levels matter if they are ordered.
    """
    for one, other in pairwise(parts):
        for name in other.columns[(one.dtypes != other.dtypes).to_numpy()]:
            columns = [column.dropna() for column in (one[name], other[name])]
            if all(map(len, columns)):
                _require_one_order(name, columns)
            held = {contents(column): column for column in columns if len(column)}
            if held.keys() == {NUMBERS, TEXT}:
                raise _numbers_and_text(name, held[TEXT])


def _of_one_kind(named: Iterable[tuple[str, pd.DataFrame]]) -> Iterator[pd.DataFrame]:
    """Yield the frames of chunks; name the chunk that has text where others have numbers."""
    held: dict[Any, tuple[Any, str, str, pd.Series]] = {}
    for called, frame in named:
        for name, dtype in frame.dtypes.items():
            if name in held and held[name][0] == dtype:
                continue
            known = frame[name].dropna()
            if known.empty:
                continue
            kind = contents(known)
            of_text = [(called, known)] if kind == TEXT else []
            if name in held and {held[name][1], kind} == {NUMBERS, TEXT}:
                where, texts = (of_text or [held[name][2:]])[0]
                raise _numbers_and_text(str(name), texts, f" in {where}")
            # a copy of some, so that the chunk need not be kept
            held[name] = dtype, kind, called, known.iloc[:SOME].copy()
        yield frame


def _numbers_and_text(name: str, texts: pd.Series, where: str = "") -> InputError:
    texts = texts.astype(str)
    odd = texts[pd.to_numeric(texts, errors="coerce").isna()]
    return InputError(
        f"{name!r} holds numbers in some chunks and text in others, such as "
        f"{listed((odd if len(odd) else texts).unique(), 3)}{where}: tell the reader of the "
        f"chunks its type, as by dtype={{{name!r}: str}} of pd.read_csv(), or which "
        "texts are missing values, by na_values="
    )


def _require_one_order(name: str, columns: Sequence[pd.Series]) -> None:
    """Raise `InputError` if one of two columns of different types is an ordered factor."""
    for column in columns:
        if isinstance(column.dtype, pd.CategoricalDtype) and column.dtype.ordered:
            raise InputError(
                f"{name!r} is an ordered factor with the levels "
                f"{listed(column.cat.categories.tolist())} in some chunks, and not in others: give "
                "it the same levels in all chunks, as by .astype(pd.CategoricalDtype(levels, "
                "ordered=True)), or make text of it by .astype(str)"
            )


def _joined(parts: list[pd.DataFrame], begin: int) -> pd.DataFrame:
    require_alike(parts)
    whole = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    return whole.set_axis(pd.RangeIndex(begin, begin + len(whole)), axis=0)


# The part of the memory that is free which rows may take as a data frame: a fit makes arrays of
# them, too.
SHARE = 0.125


def rows_in_memory(
    source: BlockSource, columns: Sequence[str], seed: int, progress: bool
) -> tuple[pd.DataFrame, int]:
    """Return rows in chunks as one data frame, labelled by their numbers, and how many there are.

    The frame has all rows if they take at most half of the memory that the chunks allow, or an
    eighth of what is free; else a random sample of a half of them, a quarter, …, drawn by a hash of
    `seed` and the number of a row, so that it does not depend on the chunks.
    """
    budget = source.memory / 2 if source.memory else SHARE * available_memory()
    draw, n = HashedDraw(draw_keys(seed, 0, 1), 1.0), 0
    parts, sizes = list[pd.DataFrame](), list[int]()
    blocks = source.over_blocks("read rows", lambda _, block: block, None, columns)
    total = source.known_blocks(columns) if progress else None
    with progress_bar(blocks, total=total, unit="block", progress=progress) as bar:
        for block in bar:
            n += len(block)
            parts.append(_drawn(block, draw))
            sizes.append(_bytes(parts[-1]))
            while sum(sizes) > budget and draw.fraction * n > 1:
                draw = draw._replace(fraction=draw.fraction / 2)
                parts = [_drawn(part, draw) for part in parts]
                sizes = list(map(_bytes, parts))
    if not parts:
        raise InputError("the chunks have no rows")
    require_alike(parts)
    return pd.concat(parts), n


def _drawn(block: pd.DataFrame, draw: HashedDraw) -> pd.DataFrame:
    """Return the rows of a block, labelled by their numbers, that are drawn."""
    if draw.fraction == 1:
        return block
    rows = block.index.to_numpy(dtype=np.uint64)
    return block[draw.drawn(rows, np.ones(len(rows)), 1)[0]]


def _bytes(frame: pd.DataFrame) -> int:
    return int(frame.memory_usage(deep=True).sum())


def rows_have_changed() -> InputError:
    """Return the error of chunks that are not the same in each pass."""
    return InputError(
        "the chunks give other rows, or another order of them, than in the pass before: sort the "
        "query, let the function make a new iterator each time that it is called, or write the "
        "rows to a folder of Parquet files"
    )
