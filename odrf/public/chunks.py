"""Tables that come in chunks: files of Parquet, queries, data frames one after the other."""

from __future__ import annotations

import inspect
import math
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from functools import partial
from importlib import import_module
from itertools import chain, islice
from os import PathLike
from pathlib import Path
from typing import Any, NamedTuple, TypeAlias

import numpy as np
import pandas as pd

from odrf.checks import is_number
from odrf.errors import InputError, installing, nearest, no_frame
from odrf.public.frames import computed_partitions, in_pandas, is_partitioned, is_table

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


def require_columns(called: str, columns: pd.Index, names: pd.Index) -> None:
    """Raise `InputError` if a chunk, or a file, has a column that the first one lacks."""
    if columns is names or columns.equals(names):
        return
    added = [name for name in columns if name not in names]
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
        dataset = arrow.dataset.dataset(
            names, format="parquet", partitioning="hive", partition_base_dir=folder
        )
    except (OSError, ValueError) as error:
        raise InputError(f"data={names[0]!r} is no file of Parquet; {OF_TEXT}") from error
    return lambda columns: _read_files(dataset, columns)


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
    fields = pd.Index([name for name in own.names if name not in _row_labels(own)])
    require_columns(called, fields, pd.Index(schema.names))
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


ChunkSource: TypeAlias = (
    "str | PathLike[str] | Iterable[Any] | Callable[[], Iterable[Any]] | Chunks | Any"
)
# What versions of DuckDB call the method that reads batches.
READERS = ("to_arrow_reader", "fetch_arrow_reader", "fetch_record_batch", "record_batch")
HOW = (
    "use a path of a Parquet file or of a folder of such files, a dataset of pyarrow, a relation "
    "of DuckDB, a data frame of Dask, a list of data frames, or a function that returns an "
    "iterator of data frames"
)


class Chunks:
    """A table that is read in chunks, again and again, and never as a whole.

    `odrf.odrf` and `odrf.odt` make one by themselves of a path, of a dataset of pyarrow, of a data
    frame of Dask, of a list of data frames and of a function.  Use this class for what they take as
    a table in memory, such as a relation of DuckDB or one data frame, and to say how much memory
    the fit may take.

    Parameters
    ----------
    source : path, dataset, relation, data frame, iterable or callable
        - A path of a Parquet file, or of a folder: then all files ``*.parquet`` in it and in its
          folders, in the order of their names.  Folders named ``column=value`` give a column.  Row
          labels that pandas has written are left out.
        - A ``Dataset`` of pyarrow; it needs pyarrow, as files do.
        - A relation of DuckDB, or a ``LazyFrame`` of polars.  The query runs anew in each pass, and
          must give the same rows in the same order; sort it if it joins or groups.
        - A data frame of Dask: its partitions, one after the other.  Each pass reads them anew
          unless ``persist()`` keeps them.
        - An iterable that can be walked several times, such as a list, of data frames of any
          library or of paths.
        - A function without arguments that returns an iterable of data frames, for generators.
        - A data frame: one chunk.
    memory : float, optional
        Bytes that the rows sampled by trees may take, and growing trees or branches.  By default
        half of the memory that is free.  With less memory there are more passes over the rows; the
        fit is the same.

    Raises
    ------
    InputError
        If the source is of another type, or is an iterator, which can be walked only once; if a
        file needs pyarrow, and it is not installed.

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> chunks = odrf.Chunks([data[:200], data[200:]])
    >>> forest = odrf.odrf("progression ~ .", chunks, n_trees=5, seed=1)
    >>> forest.nobs
    442
    """

    def __init__(self, source: ChunkSource, memory: float | None = None) -> None:
        if memory is not None and (not is_number(memory) or not 0 < float(memory) < math.inf):
            raise InputError(f"memory={memory!r}: use a finite number of bytes above 0, or None")
        self.memory = None if memory is None else float(memory)
        self.source: Any = source.source if isinstance(source, Chunks) else source
        self._batches = _reader(self.source)

    def __repr__(self) -> str:
        return f"Chunks({type(self.source).__name__})"

    def frames(self, columns: Sequence[str] | None = None) -> Iterator[pd.DataFrame]:
        """Yield the chunks in their order, as data frames of pandas.

        Data frames of pandas keep their row labels; other rows are numbered from 0 on.

        Parameters
        ----------
        columns : sequence of str, optional
            The columns that are needed, in this order; by default all.

        Yields
        ------
        DataFrame
            A chunk.

        Raises
        ------
        InputError
            If a chunk is no data frame, or has not the columns of the first one; if a file cannot
            be read.
        """
        for _, frame in self.named_frames(columns):
            yield frame

    def named_frames(
        self, columns: Sequence[str] | None = None
    ) -> Iterator[tuple[str, pd.DataFrame]]:
        """Yield the chunks as `frames` does, each with what messages call it.

        Parameters
        ----------
        columns : sequence of str, optional
            As in `frames`.

        Yields
        ------
        called : str
            Such as "chunk 2 of data", or its file.
        frame : DataFrame
        """
        begin, names = 0, pd.Index([])
        for number, batch in enumerate(self._batches(columns)):
            called = f"chunk {number + 1} of data"
            if isinstance(batch, BatchOfFile):
                called, batch = batch
            table = in_pandas(batch)
            if number == 0:
                names = getattr(table, "columns", names)
            elif isinstance(table, pd.DataFrame):
                require_columns(called, table.columns, names)
            frame = checked_frame(table, columns, called)
            end = begin + len(frame)
            own = isinstance(batch, pd.DataFrame)
            yield called, frame if own else frame.set_axis(pd.RangeIndex(begin, end), axis=0)
            begin = end

    def columns(self) -> list[str]:
        """Return the names of the columns, as the first chunk has them.

        Returns
        -------
        list of str

        Raises
        ------
        InputError
            If there is no chunk, or names are no text or occur twice.
        """
        if is_partitioned(self.source):
            return _checked_names(self.source.columns)
        for frame in self.frames():
            return _checked_names(frame.columns)
        raise InputError("there is no chunk: give one data frame or more")


def chunks_of(data: Any) -> Chunks | None:
    """Return the chunks that `data` stands for; None for a table in memory and all else."""
    if isinstance(data, Chunks):
        return data
    if isinstance(data, str | PathLike) or _is_dataset(data) or is_partitioned(data):
        return Chunks(data)
    if isinstance(data, Iterator):
        raise _walked_once(data)
    if _is_function(data) or (isinstance(data, list | tuple) and _of_chunks(data)):
        return Chunks(data)
    return None


def known_rows(chunks: Chunks) -> int | None:
    """Return how many rows there are, of sources that tell it without being read; else None."""
    return _known_rows(chunks.source)


def _known_rows(source: Any) -> int | None:
    if isinstance(source, str | PathLike):
        path = Path(source)
        files = sorted(path.rglob(PARQUET)) if path.is_dir() else [path]
        try:
            parquet = import_module("pyarrow.parquet")
            return sum(parquet.read_metadata(file).num_rows for file in files)
        except Exception:  # pyarrow is absent, or a file damaged: reading it will say so
            return None
    if isinstance(source, list | tuple):
        rows = [_known_rows(each) for each in source]
        return None if None in rows else sum(each for each in rows if each is not None)
    return len(source) if isinstance(source, pd.DataFrame) else None


def chunks_to_predict(source: ChunkSource) -> Chunks:
    """Return chunks that are walked once: so an iterator will do, such as a reader of pandas."""
    if not isinstance(source, Iterator):
        return Chunks(source)
    # to ask for the names of columns takes the first chunk, which is then walked again
    first = list(islice(source, 1))
    return Chunks(lambda: chain(first, source))


def _of_chunks(data: Sequence[Any]) -> bool:
    return len(data) > 0 and all(
        isinstance(each, str | PathLike | pd.DataFrame) or is_table(each) for each in data
    )


def _reader(source: Any) -> Reader:
    """Return a function that walks over the batches of a source, with some columns or all."""
    if isinstance(source, str | PathLike):
        return files_of_parquet(Path(source))
    if _is_dataset(source):
        return lambda columns: scanned_dataset(source, columns)
    if _is_relation(source):
        return lambda columns: _queried(source, columns)
    if is_partitioned(source):
        return lambda columns: computed_partitions(source, columns)
    if hasattr(source, "collect_batches"):
        return lambda columns: _collected(source, columns)
    if isinstance(source, pd.DataFrame) or is_table(source):
        return lambda columns: [source]
    if isinstance(source, Iterator):
        raise _walked_once(source)
    if isinstance(source, Iterable) and not isinstance(
        source, Mapping | np.ndarray | pd.Series | bytes | set
    ):
        return lambda columns: _each(source, columns)
    if _is_function(source):
        return lambda columns: _each_made(source, columns)
    raise InputError(f"source is a {_type_name(source)}: {HOW}")


def _each(batches: Iterable[Any], columns: Sequence[str] | None) -> Iterator[Any]:
    for batch in batches:
        if isinstance(batch, str | PathLike):
            yield from files_of_parquet(Path(batch))(columns)
        else:
            yield batch


def _each_made(
    function: Callable[[], Iterable[Any]], columns: Sequence[str] | None
) -> Iterator[Any]:
    """Yield what a function has made; an iterator, such as a reader of a file, is closed."""
    chunks = _called(function)
    try:
        yield from _each(chunks, columns)
    finally:
        if isinstance(chunks, Iterator) and hasattr(chunks, "close"):
            chunks.close()


def _called(function: Callable[[], Iterable[Any]]) -> Iterable[Any]:
    try:
        chunks = function()
    except Exception as error:  # a user's function may raise anything
        raise InputError(
            f"the function given as data fails: {type(error).__name__}: {error}"
        ) from error
    if not isinstance(chunks, Iterable) or isinstance(chunks, pd.DataFrame | str | Mapping):
        raise InputError(
            f"the function given as data returns a {_type_name(chunks)}: let it return an iterator "
            "of data frames"
        )
    return chunks


def _queried(relation: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the batches of a relation of DuckDB, whose query runs anew."""
    names = relation.columns if columns is None else columns
    wanted = [name for name in names if name in relation.columns]
    quoted = ['"' + name.replace('"', '""') + '"' for name in wanted]
    query = relation.project(", ".join(quoted))
    make = next(name for name in READERS if hasattr(query, name))
    for batch in getattr(query, make)(ROWS):
        yield required_arrow("data").Table.from_batches([batch])


def _collected(query: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the batches of a query of polars, which runs anew."""
    if columns is not None:
        names = query.collect_schema().names()
        query = query.select([name for name in columns if name in names])
    yield from query.collect_batches(chunk_size=ROWS, maintain_order=True)


def checked_frame(batch: Any, columns: Sequence[str] | None, called: str) -> pd.DataFrame:
    """Return a chunk, called so in messages, as a data frame of pandas with these columns."""
    frame = in_pandas(batch)
    if not isinstance(frame, pd.DataFrame):
        raise no_frame(called, batch)
    if columns is None or frame.columns.tolist() == list(columns):
        return frame
    absent = [name for name in columns if name not in frame.columns]
    if absent:
        raise InputError(
            f"{called} lacks column {absent[0]!r}"
            f"{nearest(absent[0], frame.columns)}: all chunks must have the same columns"
        )
    return frame[list(columns)]


def _checked_names(columns: pd.Index) -> list[str]:
    names = columns.tolist()
    odd = [name for name in names if not isinstance(name, str)]
    if odd:
        raise InputError(
            f"column names must be text, but {odd[0]!r} is not: rename it in every chunk"
        )
    twice = columns[columns.duplicated()].tolist()
    if twice:
        raise InputError(
            f"data has more than one column named {twice[0]!r}: rename or drop the others"
        )
    return names


def _is_function(value: Any) -> bool:
    return inspect.isroutine(value) or isinstance(value, partial)


def _is_dataset(value: Any) -> bool:
    return _is_of(value, "pyarrow", "scanner") and hasattr(value, "get_fragments")


def _is_relation(value: Any) -> bool:
    return _is_of(value, ("duckdb", "_duckdb"), "project")


def _is_of(value: Any, packages: str | tuple[str, ...], method: str) -> bool:
    package = type(value).__module__.partition(".")[0]
    return package in packages and hasattr(value, method)


def _walked_once(value: Any) -> InputError:
    return InputError(
        f"data is a {_type_name(value)}, which can be walked only once, and a fit needs several "
        "passes: give a function that makes it, as in lambda: chunks(path), or write the rows to "
        "a folder of Parquet files and give its path"
    )


def _type_name(value: Any) -> str:
    kind = type(value)
    package = kind.__module__.partition(".")[0]
    return kind.__name__ if package == "builtins" else f"{package}.{kind.__name__}"
