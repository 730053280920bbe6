"""Predictions of rows in chunks: one after the other, or written to a file of Parquet."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from itertools import count
from os import PathLike
from typing import Any, TypeVar

import pandas as pd

from odrf.checks import checked_choice, is_list
from odrf.design.encoding import LevelsSaidBefore
from odrf.errors import InputError, installing, nearest
from odrf.fits.fit import AnyFit
from odrf.fits.prediction.predicting import PREDICTIONS, predict_rows, require_classes, rows_of
from odrf.fits.saving import replacing
from odrf.public.chunks import Chunks
from odrf.public.progress import progress_bar

__all__ = ["chunks_predicted", "predictions_to_parquet"]

Result = TypeVar("Result")


def chunks_predicted(
    fit: AnyFit, chunks: Chunks, type: str, kept: Sequence[str] = (), progress: bool = False
) -> Iterator[tuple[pd.DataFrame, pd.Series | pd.DataFrame]]:
    """Yield the `kept` columns of each chunk and its predictions, of this type.

    Raises
    ------
    InputError
        The type is unknown or needs classes, or a chunk lacks a column.

    Warns
    -----
    UserWarning
        Factors have levels that no training row has; of each level once, not in each chunk.
    """
    checked_choice("type", type, PREDICTIONS)
    require_classes(fit.design.response, type)
    names = chunks.columns()
    needed = {*fit.design.schema.columns, *kept}
    absent = [name for name in kept if name not in names]
    if absent:
        raise InputError(
            f"keep= names {absent[0]!r}, which is not a column of the chunks"
            f"{nearest(absent[0], names)}"
        )
    # a column that predictions need and chunks lack is refused when the rows are read
    frames = chunks.frames([name for name in names if name in needed])
    said = LevelsSaidBefore()
    with progress_bar(frames, unit="chunk", progress=progress) as bar:
        for frame in bar:
            with said:
                predicted = predict_rows(rows_of(fit, frame), type)
            yield frame[list(kept)], predicted


def predictions_to_parquet(
    fit: AnyFit,
    chunks: Chunks,
    path: str | PathLike[str],
    type: str,
    keep: Any,
    progress: bool,
) -> int:
    """Write the predictions of all chunks to a file of Parquet; return the number of rows.

    Raises
    ------
    InputError
        As `chunks_predicted`; pyarrow is not installed; a chunk cannot be read, or the file
        written.
    """
    try:
        import pyarrow.parquet  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(
            f"files of Parquet need pyarrow: install it with {installing('parquet')}"
        ) from None
    if not is_list(keep) or not all(isinstance(name, str) for name in keep):
        raise InputError(f"keep={keep!r}: use a list of names of columns")
    if len(set(keep)) < len(keep):
        raise InputError(f"keep={list(keep)!r} names a column twice: name each once")
    n, writer = 0, None
    with replacing(path) as file, ExitStack() as opened:
        for kept, predicted in _read(chunks_predicted(fit, chunks, type, list(keep), progress)):
            frame = _table(kept, predicted)
            try:
                table = pyarrow.Table.from_pandas(frame, preserve_index=False)
                if writer is None:
                    writer = pyarrow.parquet.ParquetWriter(file, table.schema)
                    opened.enter_context(writer)
                writer.write_table(table.cast(writer.schema))
            except (pyarrow.ArrowException, ValueError) as error:
                raise InputError(
                    f"columns of keep={list(keep)!r} do not have one type in all chunks, as a file "
                    f"of Parquet needs: convert them in each chunk, or leave them out ({error})"
                ) from error
            n += len(kept)
    return n


def _read(found: Iterator[Result]) -> Iterator[Result]:
    """Yield what is found in the chunks; say of one that cannot be read that it is not the file."""
    for number in count(1):
        try:
            of_chunk = next(found)
        except StopIteration:
            return
        except OSError as error:
            raise InputError(
                f"chunk {number} of the rows to predict cannot be read "
                f"({error.strerror or error}): nothing was written"
            ) from error
        yield of_chunk


def _table(kept: pd.DataFrame, predicted: pd.Series | pd.DataFrame) -> pd.DataFrame:
    frame = predicted.to_frame() if isinstance(predicted, pd.Series) else predicted
    columns = {str(name): frame[name] for name in frame.columns}
    twice = [name for name in kept.columns if name in columns]
    if twice:
        raise InputError(f"keep= names {twice[0]!r}, which is the name of a prediction, too")
    return pd.concat([kept, pd.DataFrame(columns)], axis=1)
