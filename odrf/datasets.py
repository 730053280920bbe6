"""The bundled data sets, tables read from text, and tables made of images."""

from __future__ import annotations

import bz2
import csv
import gzip
import lzma
from collections.abc import Iterable, Iterator, Mapping
from contextlib import ExitStack, contextmanager
from importlib import import_module
from io import StringIO, TextIOWrapper
from itertools import islice
from pathlib import Path
from typing import Any, NamedTuple
from zipfile import ZipFile

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import checked_choice, is_whole
from odrf.design.formula import quoted
from odrf.design.variables import set_grid
from odrf.errors import InputError, warn_user
from odrf.public import public
from odrf.text.layouts import quantity

__all__ = [
    "data_names",
    "first_rows",
    "from_images",
    "lines_of",
    "load_data",
    "opened",
    "read_separated",
]

# pandas before 3.1 reads numbers faster than exactly, unless it is told otherwise.
EXACT_BY_DEFAULT = (3, 1)
EXACTLY: dict[str, Any] = (
    {}
    if tuple(map(int, pd.__version__.split(".")[:2])) >= EXACT_BY_DEFAULT
    else {"float_precision": "round_trip"}
)


# Texts that pandas takes for missing values, unless it is told otherwise.
EMPTY = (
    "", "#N/A", "#N/A N/A", "#NA", "-1.#IND", "-1.#QNAN", "-NaN", "-nan", "1.#IND", "1.#QNAN",
    "<NA>", "N/A", "NA", "NULL", "NaN", "None", "n/a", "nan", "null",
)  # fmt: skip


class _Odd(NamedTuple):
    """A row that has not as many fields as there are names: line, number of fields, first field."""

    line: int
    fields: int
    first: str


class _Rows(NamedTuple):
    """What is known of the rows of a table before it is read.

    Attributes
    ----------
    names : list of str
        The first line.
    most : int
        The fields of the longest row.
    short, long : _Odd or None
        The first row with fewer fields than names, and the first with a field too many that is not
        empty.
    all_one_more : bool
        All rows have one field more than there are names.
    row_names : bool
        The first fields could be names of rows: all are different, and texts or whole numbers.
    quoted : bool
        A blank stands before a quotation mark.
    blanks : bool
        Blanks after separators are left out.
    """

    names: list[str]
    most: int
    short: _Odd | None
    long: _Odd | None
    all_one_more: bool
    row_names: bool
    quoted: bool
    blanks: bool

    @property
    def fit(self) -> bool:
        """Whether each row has a field for each name, and no other that holds something."""
        return self.short is None and self.long is None


def read_separated(
    source: Any,
    separator: str = ",",
    decimal: str = ".",
    text: Mapping[str, Iterable[str]] | Iterable[str] = (),
    named: str = "the table",
    na: Iterable[str] = (),
) -> pd.DataFrame:
    """Read a table of text with separators from a path or a stream that can be read again.

    Fields beyond the names are left out if they are empty in all rows.  In the form of R's
    ``write.table``, the first line has one name less, and the names of the rows are left out, with
    a warning.  Blanks after separators and around names do not count.  Columns named in `text`
    stay text, as they are written; the table need not have them, and a mapping gives levels, which
    are no missing values.  The texts `na` are missing values, and so are `EMPTY` unless "" is
    among `na`.
    """
    rows = _looked_through(source, separator, named)
    if not rows.names:
        raise InputError(f"{named} is empty: its first line must have the names of the columns")
    given = [name.strip() for name in rows.names]
    names = _all_different([name or f"Unnamed: {j}" for j, name in enumerate(given)], named)
    fields = [*names, *range(len(names), rows.most)]
    if not rows.fit:
        if not (rows.all_one_more and rows.row_names):
            raise _of_other_length(rows, separator, named)
        warn_user(
            f"{named} has one name less in its first line than fields in all rows, as R's "
            "write.table leaves it: the first field is taken as the name of the row, and the names "
            "are those of the fields after it"
        )
        fields = [0, *names]
    # low_memory: else a column of numbers and text is numbers in some parts and text in others
    table = pd.read_csv(
        source,
        sep=separator,
        decimal=decimal,
        header=0,
        names=fields,
        usecols=names,
        dtype=dict.fromkeys(text, str),
        skipinitialspace=rows.blanks,
        keep_default_na=False,
        na_values=_empty_cells(list(na), text, names),
        low_memory=False,
        **EXACTLY,
    )
    # separators at the end of each line, the first too, are columns without a name or a value
    both = zip(given, names, strict=True)
    kept = [name for own, name in both if own or not table[name].isna().all()]
    return table[kept].set_axis(pd.Index(kept), axis=1)


def _all_different(names: list[str], named: str) -> list[str]:
    """Return the names, those that come again with a number, of which it warns."""
    different: list[str] = []
    for name in names:
        own, number = name, 2
        while own in different or (own != name and own in names):
            own, number = f"{name}_{number}", number + 1
        different.append(own)
        if own != name:
            warn_user(
                f"{named} has more than one column named {name!r}: a further one is read as "
                f"{own!r}; if it is to be no predictor, leave it out by - {quoted(own)} at the end "
                "of the formula"
            )
    return different


def _empty_cells(
    na: list[str], text: Mapping[str, Iterable[str]] | Iterable[str], names: list[str]
) -> Any:
    """Return the texts that are missing values; by column, if some are levels there."""
    empty = na if "" in na else [*EMPTY, *na]
    levels = {name: set(text[name]) for name in text} if isinstance(text, Mapping) else {}
    if not any(each.intersection(empty) for each in levels.values()):
        return empty
    return {name: [one for one in empty if one not in levels.get(name, ())] for name in names}


def first_rows(source: Any, separator: str, n: int) -> list[list[str]]:
    """Return the fields of the first n lines that are not blank; fewer if there are not so many."""
    with lines_of(source) as lines:
        rows = (fields for fields in csv.reader(lines, delimiter=separator) if any(fields))
        return list(islice(rows, n))


def _looked_through(source: Any, separator: str, named: str) -> _Rows:
    """Return what is known of the rows, with blanks after separators left out.

    They are kept if a quotation mark after a blank would begin a field that does not end.
    """
    simple = _rows_without_quotes(source, separator)
    if simple is not None:
        return simple
    plain = _rows_of(source, separator, False, named)
    if not plain.quoted:
        return plain._replace(blanks=True)
    without = _rows_of(source, separator, True, named)
    of_names = all(name.startswith(" ") for name in plain.names[1:])
    return without if of_names or without.fit else plain


def _rows_without_quotes(source: Any, separator: str) -> _Rows | None:
    """Return what is known of rows of one length without quotation marks; None of any others.

    To count separators takes a third of the time that it takes to cut lines into fields.
    """
    names: list[str] = []
    with lines_of(source) as lines:
        for line in lines:
            if '"' in line:
                return None
            if names and line.count(separator) == len(names) - 1:
                continue
            if not line.strip():
                if separator.isspace():
                    return None
                continue  # pandas leaves out blank lines
            if names:
                return None
            names = line.rstrip("\r\n").split(separator)
    return _Rows(names, len(names), None, None, False, False, False, True) if names else None


def _rows_of(source: Any, separator: str, blanks: bool, named: str) -> _Rows:
    names: list[str] = []
    width = most = n = n_one_more = 0
    short: _Odd | None = None
    long: _Odd | None = None
    firsts: list[str] = []
    mark, quoted = f'{separator} "', False

    with lines_of(source) as lines:

        def watched() -> Iterator[str]:
            nonlocal quoted
            for line in lines:
                quoted = quoted or mark in line
                yield line

        reader = csv.reader(watched(), delimiter=separator, skipinitialspace=blanks)
        begin = 1
        try:
            for fields in reader:
                line, begin = begin, reader.line_num + 1
                k = len(fields)
                if k <= 1 and not any(map(str.strip, fields)):
                    continue  # pandas leaves out blank lines
                if not names:
                    names, width, most = fields, k, k
                    continue
                n += 1
                if k == width:
                    continue
                if k < width:
                    short = short or _Odd(line, k, fields[0])
                    continue
                most = max(most, k)
                if k == width + 1:
                    n_one_more += 1
                    if n_one_more == n:
                        firsts.append(fields[0])
                if long is None and any(fields[width:]):
                    long = _Odd(line, k, fields[0])
        except csv.Error as error:
            raise InputError(
                f"{named} cannot be read from line {begin} on ({error}): look for a quotation mark "
                "that is not closed"
            ) from error
    all_one_more = n > 0 and n_one_more == n
    return _Rows(
        names, most, short, long, all_one_more, all_one_more and _name_rows(firsts), quoted, blanks
    )


def _name_rows(firsts: list[str]) -> bool:
    """Return whether the first fields are all different, and all texts or all whole numbers."""
    if len(set(firsts)) < len(firsts) or not all(map(str.strip, firsts)):
        return False
    numbers = pd.to_numeric(pd.Series(firsts), errors="coerce").notna()
    return all(map(str.isdecimal, firsts)) or not numbers.any()


def _of_other_length(rows: _Rows, separator: str, named: str) -> InputError:
    """Return the error of the first row with more or fewer fields than there are names."""
    odd = min(each for each in (rows.short, rows.long) if each is not None)
    n = len(rows.names)
    problem = f"{named}: the first line has {n} name(s), and line {odd.line} {odd.fields}"
    for first in (odd.first, rows.names[0]):
        if first.startswith("#"):
            return InputError(
                f"{problem} fields: if lines that begin with # are comments, add --comment '#'"
            )
    if odd.fields < n:
        return InputError(
            f"{problem} fields: write a separator for each field, also for empty ones"
        )
    commas = "; if numbers have decimal commas, separate the columns by ; and add --format csv2"
    return InputError(
        f"{problem} fields: give each column a name, and put quotation marks around text that "
        f"holds {separator!r}{commas if separator == ',' else ''}"
    )


@contextmanager
def lines_of(source: Any) -> Iterator[Iterable[str]]:
    """Give the lines of a path, also of a compressed file, or of a stream, which is left at 0."""
    if hasattr(source, "seek"):
        source.seek(0)
        held = source.read()
        source.seek(0)
        text = held if isinstance(held, str) else held.decode("utf-8-sig")
        yield StringIO(text, newline="")
        return
    with ExitStack() as stack:
        binary = stack.enter_context(opened(Path(source), stack))
        yield stack.enter_context(TextIOWrapper(binary, encoding="utf-8-sig", newline=""))


def opened(path: Path, stack: ExitStack) -> Any:
    """Return the bytes of a file, without the compression that its ending names."""
    match path.suffix.lower():
        case ".gz":
            return gzip.open(path)
        case ".bz2":
            return bz2.open(path)
        case ".xz":
            return lzma.open(path)
        case ".zst":
            return import_module("zstandard").open(path, "rb")
        case ".zip":
            archive = stack.enter_context(ZipFile(path))
            held = archive.namelist()
            if len(held) != 1:
                raise ValueError(f"the archive has {len(held)} files, and one is read")
            return archive.open(held[0])
    return path.open("rb")


def data_names() -> list[str]:
    """Return the names of the bundled data sets, in alphabetical order.

    Examples
    --------
    >>> from odrf.datasets import data_names
    >>> data_names()
    ['auto_mpg', 'breast_cancer', 'diabetes', 'gbsg2', 'hitters', 'melanoma', 'penguins',
     'publication', 'wine']
    """
    return sorted(path.stem for path in _folder().glob("*.csv"))


@public
def load_data(name: str) -> pd.DataFrame:
    """Return one of the bundled data sets.

    Parameters
    ----------
    name : str
        One of the names below.

        =============  ====  =======  ===================  ========================================
        name           rows  columns  response             remarks
        =============  ====  =======  ===================  ========================================
        auto_mpg        397        8  ``mpg``              numeric; a factor; 5 missing cells
        breast_cancer   569       31  ``diagnosis``        2 classes
        diabetes        442       11  ``progression``      numeric
        gbsg2           686       10  ``time``, ``event``  56% censored; 3 factors
        hitters         322       20  ``salary``           numeric; 3 factors; 59 missing responses
        melanoma        205        7  ``time``, ``event``  2 causes, 65% censored; 2 factors
        penguins        344        8  ``species``          3 classes; 2 factors; 19 missing cells
        publication     244        9  ``time``, ``event``  36% censored; a factor
        wine            178       14  ``cultivar``         3 classes
        =============  ====  =======  ===================  ========================================

        Times and events are for the formula ``"Surv(time, event) ~ ."``.

    Returns
    -------
    pandas.DataFrame
        The table, its rows numbered from 0.  Text columns are categorical, as all of them are
        factors.  Columns, units, sources and licences are described in ``data/README.md``.

    Raises
    ------
    InputError
        If no bundled data set has this name.

    Examples
    --------
    >>> from odrf import load_data
    >>> penguins = load_data("penguins")
    >>> penguins.shape
    (344, 8)
    >>> list(penguins["species"].cat.categories)
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    names = data_names()
    checked_choice("name", name, names)
    table = read_separated(_folder() / f"{name}.csv")
    text = table.select_dtypes(exclude="number").columns
    return table.astype(dict.fromkeys(text, "category"))


def _folder() -> Path:
    """Return the folder of the tables: in an installed package, or in a source tree beside it."""
    package = Path(__file__).parent
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent / "data"


RESPONSE = "y"


@public
def from_images(
    array: ArrayLike, y: ArrayLike | None = None, *, channel_axis: int | None = None
) -> pd.DataFrame:
    """Return images or series as a data frame, for ``"y ~ ."`` and `odrf.Patch`.

    Parameters
    ----------
    array : array
        Images (n, H, W), or series (n, T).  With `channel_axis`, one more axis of C channels:
        (n, H, W, C) or (n, C, H, W), and for series (n, T, C) or (n, C, T).
    y : array of shape (n,), optional
        Responses.  A numeric `y` means regression: if the numbers are classes, use
        ``y.astype(str)``, or ``kind="classification"`` in the fit.  By default the frame has no
        response, as for new images to be predicted.
    channel_axis : int, optional
        The axis of `array` that holds the channels, such as 1 or -1; by default there is none.

    Returns
    -------
    DataFrame
        A column for each pixel, in the order channel, row, column, numbered from 0 as in the
        array: ``r3c14`` for images, ``t5`` for series, ``ch1_r3c14`` with several channels.  If
        `y` is given, it is the last column, ``y``.  The ``attrs`` of the frame hold ``shape``,
        (H, W) or (1, T), and ``channels`` if there are several.

    Raises
    ------
    InputError
        If the array has another number of dimensions, images of several sizes, no images, or
        values that are not finite numbers; if `channel_axis` is not an axis of channels; if `y`
        has not n values.

    Examples
    --------
    >>> import numpy as np, odrf
    >>> images = np.arange(12).reshape(2, 2, 3)
    >>> data = odrf.from_images(images, ["a", "b"])
    >>> data
       r0c0  r0c1  r0c2  r1c0  r1c1  r1c2  y
    0     0     1     2     3     4     5  a
    1     6     7     8     9    10    11  b
    >>> data.attrs["shape"]
    (2, 3)
    """
    pixels = _with_channels(_numbers(array), channel_axis)
    n, C, H, W = pixels.shape
    series = np.ndim(array) == (2 if channel_axis is None else 3)
    data = pd.DataFrame(pixels.reshape(n, C * H * W).copy(), columns=_names(C, H, W, series))
    if y is not None:
        data[RESPONSE] = _responses(y, n)
    set_grid(data, C, H, W)
    return data


def _numbers(array: Any) -> NDArray:
    try:
        values = np.asarray(array)
    except ValueError as error:  # lists of several lengths
        raise InputError(
            "array has images of several sizes: bring them to one height and width, or series to "
            "one length"
        ) from error
    if values.dtype.kind not in "buif":
        raise InputError(f"array holds {values.dtype}: use numbers")
    if not np.isfinite(values).all():
        raise InputError(
            "array holds missing or infinite values: fill them in, or leave these images out"
        )
    if 0 in values.shape:
        raise InputError(f"array of shape {values.shape} is empty: use at least one image")
    return values


def _with_channels(values: NDArray, axis: int | None) -> NDArray:
    """Return the values (n, C, H, W)."""
    problem = f"array has {quantity(values.ndim, 'dimension')}"
    if axis is None:
        if values.ndim not in (2, 3):
            raise InputError(
                f"{problem}: use (n, height, width) for images, "
                "(n, length) for series, and give channel_axis= if there are channels"
            )
        values = values[:, np.newaxis]
    else:
        if values.ndim not in (3, 4):
            raise InputError(f"{problem}: with channel_axis= use 4 for images, 3 for series")
        values = np.moveaxis(values, _channel_axis(axis, values.shape), 1)
    return values if values.ndim == 4 else values[:, :, np.newaxis]


def _channel_axis(axis: Any, shape: tuple[int, ...]) -> int:
    if is_whole(axis):
        from_front = axis + len(shape) if axis < 0 else axis
        if 0 < from_front < len(shape):
            return int(from_front)
    raise InputError(
        f"channel_axis={axis!r} is not an axis of channels of shape {shape}: use 1 to "
        f"{len(shape) - 1}, or -1 for the last"
    )


def _names(C: int, H: int, W: int, series: bool) -> list[str]:
    places = [f"t{t}" for t in range(W)] if series else []
    places = places or [f"r{i}c{j}" for i in range(H) for j in range(W)]
    return places if C == 1 else [f"ch{k}_{place}" for k in range(C) for place in places]


def _responses(y: Any, n: int) -> Any:
    """Return one response for each image, by position."""
    values = y.array if isinstance(y, pd.Series | pd.Index) else np.asarray(y)
    if values.ndim != 1 or len(values) != n:
        raise InputError(
            f"y has shape {np.shape(y)}, but there are {n} images: give one response for each"
        )
    return values
