"""Checks of the training data frame, and of new data against it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_object_dtype

from odrf.design.columns.listing import listed
from odrf.design.columns.measurement import LOGICAL, NUMBERS, contents
from odrf.errors import InputError, nearest, no_frame
from odrf.public.frames import types_of_columns

__all__ = ["Schema", "cells_as_floats", "check_frame", "column_blocks", "learn_schema", "selected"]

# Blocks of columns have this many cells, or one such part of the columns if that is more, but never
# more columns than `WIDTH`.
CELLS, PARTS, WIDTH = 2**17, 30, 128


@dataclass(frozen=True)
class Schema:
    """The columns that new data must have.

    Attributes
    ----------
    columns : tuple of str
        Their names.
    contents : tuple of str
        What each held in training: "numbers", "text" …
    dtypes : tuple of str
        The type of each in training, for error messages.
    """

    columns: tuple[str, ...]
    contents: tuple[str, ...]
    dtypes: tuple[str, ...]

    @cached_property
    def _all_numbers(self) -> bool:
        return {NUMBERS, LOGICAL}.issuperset(self.contents)

    def select(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return these columns of new data; raises `InputError` if one is absent."""
        _require_frame(data, "new data")
        if data.columns.tolist() == list(self.columns):
            return data
        absent = [name for name in self.columns if name not in data.columns]
        if absent:
            hint = nearest(absent[0], data.columns) if len(absent) == 1 else ""
            raise InputError(
                f"new data lacks column{'s' * (len(absent) > 1)} {listed(absent)}{hint}: add "
                "the columns that the model was fitted with"
            )
        frame = selected(data, self.columns)
        _require_unique(frame.columns, "new data")
        return frame

    def keeping(self, columns: Collection[str]) -> Schema:
        """Return the schema of some of the columns."""
        kept = [at for at, name in enumerate(self.columns) if name in columns]
        return Schema(
            tuple(self.columns[at] for at in kept),
            tuple(self.contents[at] for at in kept),
            tuple(self.dtypes[at] for at in kept),
        )

    def check_contents(self, frame: pd.DataFrame) -> None:
        """Raise `InputError` if a column of `frame` holds another type than in training."""
        if len(frame) == 0 or (self._all_numbers and _all_numbers(frame)):
            return
        held = learn_schema(frame, self.columns)
        for name, before, now, old, new in zip(
            self.columns, self.contents, held.contents, self.dtypes, held.dtypes, strict=True
        ):
            alike = before == now or {before, now} == {NUMBERS, LOGICAL}
            if not alike and frame[name].notna().any():
                raise InputError(
                    f"column {name!r} held {before} in training ({old}) and holds {now} in the "
                    f"new data ({new}): convert it to the type in training"
                )


def selected(data: pd.DataFrame, columns: Sequence[str]) -> pd.DataFrame:
    """Return these columns of `data`; without a copy if they stand side by side."""
    if data.columns.tolist() == list(columns):
        return data
    if not data.columns.is_unique:
        return data[list(columns)]
    return _at(data, _places(data, columns))


def column_blocks(
    data: pd.DataFrame, columns: Sequence[str]
) -> Iterator[tuple[slice, pd.DataFrame]]:
    """Yield `columns` of `data` in small blocks, each with its place among them.

    A copy of a block is small beside the whole in 32 bits.  One column at a time would take seconds
    for thousands of columns.
    """
    p = len(columns)
    if not data.columns.is_unique:
        data = data[list(columns)]
    place = _places(data, columns)
    width = min(max(CELLS // max(len(data), 1), p // PARTS, 1), WIDTH)
    for first in range(0, p, width):
        at = slice(first, min(first + width, p))
        yield at, _at(data, place[at])


def cells_as_floats(block: pd.DataFrame) -> NDArray[np.float64]:
    """Return the cells (n, k) of columns of numbers; NaN for empty ones."""
    if np.dtype(object) not in types_of_columns(block):
        return block.to_numpy(dtype=np.float64, na_value=np.nan)
    # to_numpy() makes floats of objects before it looks for pd.NA, of which it can make none
    return np.where(block.isna(), np.nan, block.to_numpy(dtype=object)).astype(np.float64)


def _places(data: pd.DataFrame, columns: Sequence[str]) -> list[int]:
    """Return the places of these columns in `data`, which has them, each once."""
    # one by one: for few names, pandas takes a hundred times as long to make an index of text
    get_loc: Any = data.columns.get_loc  # names that are different have one place each
    return [get_loc(name) for name in columns]


def _at(data: pd.DataFrame, place: list[int]) -> pd.DataFrame:
    """Return the columns of `data` at these places, all of which it has."""
    side_by_side = len(place) > 0 and place == [*range(place[0], place[0] + len(place))]
    if side_by_side and len(place) == data.shape[1]:
        return data
    if side_by_side:
        return data.iloc[:, place[0] : place[-1] + 1]
    return data.iloc[:, place]


def _all_numbers(data: pd.DataFrame) -> bool:
    """Return whether all columns are arrays of numbers; False also where that is not sure."""
    types = types_of_columns(data)
    return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in types)


def learn_schema(data: pd.DataFrame, columns: Sequence[str]) -> Schema:
    """Return the schema of `columns` in `data`."""
    known: dict[object, str] = {}
    words: dict[object, str] = {}  # NumPy takes long to write the name of a type
    held = []
    dtype_of = dict(zip(data.columns.tolist(), data.dtypes.tolist(), strict=True))
    dtypes = [dtype_of[name] for name in columns]
    for name, dtype in zip(columns, dtypes, strict=True):
        # Columns of one dtype hold the same, except that object columns may hold anything.
        if is_object_dtype(dtype) or dtype not in known:
            known[dtype] = contents(data[name])
        held.append(known[dtype])
        if dtype not in words:
            words[dtype] = str(dtype)
    return Schema(tuple(columns), tuple(held), tuple(words[dtype] for dtype in dtypes))


def check_frame(data: pd.DataFrame) -> None:
    """Raise `InputError` unless `data` is a frame of two or more rows with named columns."""
    _require_frame(data, "data")
    odd = [name for name in data.columns if not isinstance(name, str)]
    if odd:
        joined = '["_".join(map(str, name)) for name in data.columns]'
        names = joined if data.columns.nlevels > 1 else "data.columns.map(str)"
        raise InputError(
            f"column names must be text, but {listed(odd)} are not: rename them, for example "
            f"with data.columns = {names}"
        )
    _require_unique(data.columns, "data")
    if len(data) < 2:
        raise InputError(f"data has {len(data)} row{'s' * (len(data) != 1)}: at least 2 are needed")


def _require_frame(data: object, what: str) -> None:
    if not isinstance(data, pd.DataFrame):
        raise no_frame(what, data)


def _require_unique(columns: pd.Index, what: str) -> None:
    if columns.is_unique:
        return
    twice = columns[columns.duplicated()].unique()
    if len(twice):
        raise InputError(
            f"{what} has more than one column named {listed(twice)}: rename or drop the others"
        )
