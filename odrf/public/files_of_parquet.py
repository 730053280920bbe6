"""Files of Parquet and datasets of pyarrow, read in batches of rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import pandas as pd

from odrf.errors import InputError, installing, nearest

__all__ = [
    "ROWS",
    "BatchOfFile",
    "Reader",
    "files_of_parquet",
    "require_columns",
    "required_arrow",
    "scanned_dataset",
]

# Rows of a batch that is read of files and queries.
ROWS = 2**16
PARQUET = "*.parquet"
OF_TEXT = (
    "a table of text is given by a function, as in lambda: pd.read_csv(path, chunksize=100_000)"
)
Reader: TypeAlias = "Callable[[Sequence[str] | None], Iterable[Any]]"


class BatchOfFile(NamedTuple):
    """A batch of rows of a file, and how messages call the file."""

    called: str
    table: Any


def require_columns(called: str, found: pd.Index, names: pd.Index) -> None:
    """Raise `InputError` if a chunk, or a file, has a column that the first one lacks."""
    if found is names or found.equals(names):
        return
    added = [name for name in found if name not in names]
    if added:
        raise InputError(
            f"{called} has column {added[0]!r}, which the first lacks: all chunks must have the "
            "same columns"
        )


def files_of_parquet(path: Path) -> Reader:
    """Return the reader of a file, or of a folder of files in the order of their names."""
    if not path.exists():
        raise InputError(f"data={str(path)!r}: there is no such file or folder")
    arrow = required_arrow(f"data={str(path)!r}")
    files = sorted(path.rglob(PARQUET)) if path.is_dir() else [path]
    if not files:
        raise InputError(f"data={str(path)!r}: the folder has no file {PARQUET}; {OF_TEXT}")
    names = [str(file) for file in files]
    folder = str(path) if path.is_dir() else None
    try:
        found = arrow.dataset.dataset(
            names, format="parquet", partitioning="hive", partition_base_dir=folder
        )
    except (OSError, ValueError) as error:
        raise InputError(f"data={names[0]!r} is no file of Parquet; {OF_TEXT}") from error
    return lambda columns: _read_files(found, columns)


def _read_files(dataset: Any, columns: Sequence[str] | None) -> Iterator[BatchOfFile]:
    """Yield the batches of files in their order, each with the types that its file has."""
    arrow = required_arrow("data")
    wanted = _wanted(dataset, columns)
    for file in dataset.get_fragments():
        called = f"data={file.path!r}"
        try:
            own = _require_fields(file, dataset.schema, wanted)
            fields = [(own if name in own.names else dataset.schema).field(name) for name in wanted]
            for batch in file.to_batches(
                schema=arrow.schema(fields), columns=wanted, batch_size=ROWS, batch_readahead=1
            ):
                yield BatchOfFile(called, arrow.Table.from_batches([batch]))
        except (OSError, arrow.ArrowException) as error:
            raise InputError(
                f"{called} cannot be read as a file of Parquet ({_in_one_line(error)}): write it "
                "again, or take it out of the folder"
            ) from error


def scanned_dataset(dataset: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the batches of a dataset in their order, read one after the other."""
    arrow = required_arrow("data")
    wanted = _wanted(dataset, columns)
    try:
        for part in dataset.get_fragments():
            _require_fields(part, dataset.schema, wanted)
        for batch in dataset.to_batches(
            columns=wanted, batch_size=ROWS, batch_readahead=1, fragment_readahead=1
        ):
            yield arrow.Table.from_batches([batch])
    except (OSError, arrow.ArrowException) as error:
        raise InputError(
            f"the dataset given as data cannot be read ({_in_one_line(error)})"
            f"{_other_type(dataset, wanted)}"
        ) from error


def _wanted(dataset: Any, columns: Sequence[str] | None) -> list[str]:
    """Return the columns to read, without the row labels that pandas writes as a column."""
    names = [name for name in dataset.schema.names if name not in _row_labels(dataset.schema)]
    return names if columns is None else [name for name in columns if name in names]


def _row_labels(schema: Any) -> list[str]:
    described = schema.pandas_metadata or {}
    return [name for name in described.get("index_columns", ()) if isinstance(name, str)]


def _require_fields(part: Any, schema: Any, wanted: Sequence[str]) -> Any:
    """Return the schema of one part of a dataset; require that of the dataset, by names.

    Columns that the names of folders give are in the schema of the dataset alone.
    """
    import pyarrow.dataset as arrow  # noqa: PLC0415  # optional

    own = part.physical_schema
    of_folders = arrow.get_partition_keys(part.partition_expression)
    called = f"data={part.path!r}" if hasattr(part, "path") else "a part of the dataset"
    absent = [name for name in wanted if name not in own.names and name not in of_folders]
    if absent:
        raise InputError(
            f"{called} lacks column {absent[0]!r}{nearest(absent[0], own.names)}: all files must "
            "have the same columns"
        )
    found = pd.Index([name for name in own.names if name not in _row_labels(own)])
    require_columns(called, found, pd.Index(schema.names))
    return own


def _other_type(dataset: Any, wanted: Sequence[str]) -> str:
    """Return in words which part of a dataset has another type in a column; "" if none has."""
    for part in dataset.get_fragments():
        own = part.physical_schema
        for name in wanted:
            if name in own.names and own.field(name).type != dataset.schema.field(name).type:
                where = getattr(part, "path", "one part")
                return (
                    f": {name!r} is {own.field(name).type} in {where!r} and "
                    f"{dataset.schema.field(name).type} in the dataset: give it one type"
                )
    return ""


def _in_one_line(error: Exception) -> str:
    return " ".join(str(error).split())


def required_arrow(what: str) -> Any:
    """Return pyarrow, with the part that reads files; raise `InputError` if it is absent."""
    try:
        import pyarrow.dataset  # noqa: PLC0415  # optional
    except ImportError:
        raise InputError(f"{what} needs pyarrow: install it with {installing('parquet')}") from None
    return pyarrow
