"""The columns of the data frame: checks, values, and the scale of measurement of each."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api import types
from patsy.categorical import _CategoricalBox

from odrf.design.formula import quoted
from odrf.design.functions import Censored
from odrf.errors import InputError, nearest, no_frame, warn_user
from odrf.public.frames import types_of_columns


def listed(items: Iterable[object], most: int = 5) -> str:
    """Return the first `most` of `items`, with the number of those left out.

    Examples
    --------
    >>> listed("abcd", most=2)
    "'a', 'b' and 2 more"
    """
    shown = [repr(item) for item in items]
    rest = len(shown) - most
    return ", ".join(shown[:most]) + (f" and {rest} more" if rest > 0 else "")


def rows_listed(rows: NDArray[np.bool_], index: pd.Index) -> str:
    """Return how many of the `rows` (n,) are True, and the `index` labels of the first three.

    Examples
    --------
    >>> rows_listed(np.array([True, False, True]), pd.Index([7, 8, 9]))
    '2 rows (index 7, 9)'
    """
    count = int(rows.sum())
    return f"{count} row{'s' * (count != 1)} (index {listed(index[rows].tolist(), 3)})"


Measurement = Literal["numeric", "logical", "nominal", "ordinal"]

NUMBERS = "numbers"
LOGICAL = "True and False"
TEXT = "text"
DATES = "dates"
DURATIONS = "durations"
PERIODS = "periods"
MIXED = "mixed values"

_INFERRED = {
    "string": TEXT,
    "boolean": LOGICAL,
    "integer": NUMBERS,
    "floating": NUMBERS,
    "mixed-integer-float": NUMBERS,
    "decimal": NUMBERS,
    "complex": "complex numbers",
    "datetime": DATES,
    "datetime64": DATES,
    "date": DATES,
    "timedelta": DURATIONS,
    "timedelta64": DURATIONS,
    "time": "times of day",
    "period": PERIODS,
    "interval": "intervals",
    "bytes": "bytes",
}
_HELD_BY_CELLS = {list: "lists", tuple: "lists", set: "sets", dict: "dictionaries"}
_ADVICE = {
    DATES: "take numbers from it first, such as data[{name!r}].dt.day_of_year",
    DURATIONS: "turn it into numbers first, such as data[{name!r}].dt.total_seconds()",
    PERIODS: "take numbers from it first, such as data[{name!r}].dt.day_of_year",
    "complex numbers": "use their real and imaginary parts as two columns",
    "lists": "make a column of each part, such as pd.DataFrame(data[{name!r}].tolist())",
    "arrays": "make a column of each part, such as pd.DataFrame(data[{name!r}].tolist())",
    "sets": "make a column for each element, which says whether the set has it",
    "dictionaries": "make a column of each part, such as pd.json_normalize(data[{name!r}])",
    "intervals": "make it an ordered factor with pd.Categorical(data[{name!r}], ordered=True)",
    "times of day": "take numbers from it first, such as the hour",
    "bytes": "decode it to text",
}


def contents(values: pd.Series) -> str:
    """Return what values, or their categories, hold: "numbers", "text", "dates", "mixed values"."""
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        # Categories of any other kind, such as the intervals of pd.cut, serve as labels.
        return NUMBERS if types.is_numeric_dtype(dtype.categories.dtype) else TEXT
    if types.is_bool_dtype(dtype):
        return LOGICAL
    if types.is_numeric_dtype(dtype) and not types.is_complex_dtype(dtype):
        return NUMBERS
    if _is_dictionary(dtype):
        return TEXT
    inferred = types.infer_dtype(values, skipna=True)
    return _INFERRED[inferred] if inferred in _INFERRED else _in_cells(values)


def _in_cells(values: pd.Series) -> str:
    """Return what cells hold that are themselves collections; else "mixed values"."""
    for value in values.array[np.flatnonzero(values.notna())[:1]]:
        if isinstance(value, np.ndarray):
            return "arrays"
        return next(
            (held for kind, held in _HELD_BY_CELLS.items() if isinstance(value, kind)), MIXED
        )
    return MIXED


def measurement(values: pd.Series, name: str, response: bool = False) -> Measurement:
    """Return the scale of values, which errors call `name`: not of dates, complex or mixed ones.

    Of a `response` errors do not advise to leave it out.
    """
    dtype = values.dtype
    if isinstance(dtype, pd.CategoricalDtype):
        return "ordinal" if dtype.ordered else "nominal"
    held = contents(values)
    if held == NUMBERS:
        return "numeric"
    if held == LOGICAL:
        return "logical"
    if held == TEXT:
        return "nominal"
    advice = _ADVICE[held].format(name=name) if held in _ADVICE else _of_mixed(values, name)
    called, way_out = ("response ", "use another response") if response else ("", "leave it out")
    raise InputError(
        f"{called}{name!r} holds {held} (dtype {dtype}), neither numbers nor labels: {advice}, or "
        f"{way_out}"
    )


def _of_mixed(values: pd.Series, name: str) -> str:
    """Return what to do with a column of mixed values."""
    texts = dict.fromkeys(value for value in values.array if isinstance(value, str))
    examples = f" (its texts are {listed(texts, 3)})" if texts else ""
    return (
        f"make it all numbers with pd.to_numeric(data[{name!r}], errors='coerce'), which makes "
        f"other cells missing{examples}, or all text with .astype(str)"
    )


# Blocks of columns have this many cells, or one such part of the columns if that is more, but never
# more columns than `WIDTH`.
CELLS, PARTS, WIDTH = 2**17, 30, 128


@dataclass(frozen=True)
class Schema:
    """The columns that new data must have, what each held in training, and their types there."""

    columns: tuple[str, ...]
    contents: tuple[str, ...]
    dtypes: tuple[str, ...]

    @cached_property
    def _all_numbers(self) -> bool:
        return {NUMBERS, LOGICAL}.issuperset(self.contents)

    def select(self, data: pd.DataFrame) -> pd.DataFrame:
        """Return these columns of new data; raises `InputError` if one is absent."""
        if not isinstance(data, pd.DataFrame):
            raise no_frame("new data", data)
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
    """Yield `columns` of `data` in blocks, each with its place among them.

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
    return list(map(get_loc, columns))


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
    dtypes = types_of_columns(data)
    return all(isinstance(dtype, np.dtype) and dtype.kind in "biuf" for dtype in dtypes)


def learn_schema(data: pd.DataFrame, columns: Sequence[str]) -> Schema:
    """Return the schema of `columns` in `data`."""
    known: dict[object, str] = {}
    words: dict[object, str] = {}  # NumPy takes long to write the name of a type
    held = []
    dtype_of = dict(zip(data.columns.tolist(), data.dtypes.tolist(), strict=True))
    dtypes = [dtype_of[name] for name in columns]
    for name, dtype in zip(columns, dtypes, strict=True):
        # Columns of one dtype hold the same, except that object columns may hold anything.
        if types.is_object_dtype(dtype) or dtype not in known:
            known[dtype] = contents(data[name])
        held.append(known[dtype])
        if dtype not in words:
            words[dtype] = str(dtype)
    return Schema(tuple(columns), tuple(held), tuple([words[dtype] for dtype in dtypes]))


def as_frame(data: object) -> pd.DataFrame:
    """Return the argument `data`; raise `InputError` unless it is a data frame of pandas."""
    if not isinstance(data, pd.DataFrame):
        raise no_frame("data", data)
    return data


def check_frame(data: pd.DataFrame) -> None:
    """Raise `InputError` unless `data` is a frame of two or more rows with named columns."""
    as_frame(data)
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


def _require_unique(columns: pd.Index, what: str) -> None:
    if columns.is_unique:
        return
    twice = columns[columns.duplicated()].unique()
    if len(twice):
        raise InputError(
            f"{what} has more than one column named {listed(twice)}: rename or drop the others"
        )


# Fewer different numbers may well be codes.
MANY, SHARE = 30, 0.9
# Whether texts may be numbers is seen from about so many.
SOME = 1000
SIGNS = r"[\s$€£¥%]"
# Every comma stands before three digits, and no number begins with a single zero.
GROUPED = r"[-+]?(?!0,)\d{1,3}(,\d{3})*(\.\d*)?"
DATE_FORMATS = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d%b%Y")


def meant_as(name: str, levels: pd.Index) -> str | None:
    """Return how to make numbers or dates of texts (k,) of a column, or None if few are."""
    texts = pd.Series(levels, dtype=object).astype(str)
    some = texts.iloc[:: len(texts) // SOME + 1]
    if some.str.contains(r"\d").mean() < SHARE:
        return None
    if not (_numbers(name, some) or _dates(name, some)):
        return None  # else a factor of many levels would take seconds
    return _numbers(name, texts) or _dates(name, texts)


def warn_of_text(name: str, levels: pd.Index, taken_as: str) -> None:
    """Warn if a column of text has many levels, nearly all of which are numbers or dates."""
    if len(levels) < MANY or _are_codes(levels):
        return
    advice = meant_as(name, levels)
    if advice is not None:
        warn_user(
            f"{name!r} is text with {len(levels)} different values, such as {listed(levels, 2)}, "
            f"and was taken as {taken_as}: {advice}, or write C({quoted(name)}) if they are labels"
        )


def warn_of_spellings(name: str, levels: pd.Index) -> None:
    """Warn if levels of text differ in nothing but spaces, or the capitals of words."""
    texts = [str(level) for level in levels if isinstance(level, str)]
    words = [_word(text) for text in texts]
    if len(set(words)) == len(words):
        return
    counts = Counter(words)
    common = next(word for word in words if counts[word] > 1)
    alike = [text for text, word in zip(texts, words, strict=True) if word == common]
    column = f"data[{name!r}]"
    lower = "" if len({text.strip() for text in alike}) == 1 else ".str.lower()"
    warn_user(
        f"{name!r} has levels that differ only in spaces or capitals and count as different: "
        f"{listed(alike)}; join them with {column} = {column}.str.strip(){lower}, or write "
        f"C({quoted(name)}) if they are different"
    )


def _word(text: str) -> str:
    """Return a level without spaces at its ends, and small; "a" and "A" may be two codes."""
    bare = text.strip()
    return bare if len(bare) < 2 else bare.casefold()


def _numbers(name: str, texts: pd.Series) -> str | None:
    bare = texts.str.replace(SIGNS, "", regex=True)
    with_comma = bare[bare.str.contains(",", regex=False)]
    grouped = len(with_comma) > 0 and bool(with_comma.str.fullmatch(GROUPED).all())
    without = rf"{SIGNS}|," if grouped else SIGNS
    # what is replaced by what, until the texts are numbers
    for pattern, by in (("", ""), (without, ""), (",", ".")):
        spelt = texts.str.replace(pattern, by, regex=True) if pattern else texts
        numbers = pd.to_numeric(spelt, errors="coerce").to_numpy(dtype=np.float64)
        if np.isfinite(numbers).mean() >= SHARE:
            change = f".str.replace({pattern!r}, {by!r}, regex=True)" if pattern else ""
            others = texts[~np.isfinite(numbers)]
            return _advice("numbers", f"pd.to_numeric(data[{name!r}]{change}", others)
    return None


def _dates(name: str, texts: pd.Series) -> str | None:
    for form in DATE_FORMATS:
        try:
            dates = pd.to_datetime(texts, errors="coerce", format=form)
        except ValueError:  # dates of several time zones
            return None
        if dates.notna().mean() >= SHARE:
            written = "" if form == "ISO8601" else f", format={form!r}"
            code = f"pd.to_datetime(data[{name!r}]{written}"
            return _advice("dates", code, texts[dates.isna()])
    return None


def _advice(kind: str, code: str, others: pd.Series) -> str:
    """Return what makes numbers or dates; `others` are the texts that are none."""
    if others.empty:
        return f"turn it into {kind} with {code})"
    made = f"{code}, errors='coerce')"
    return f"turn it into {kind} with {made}, which makes {listed(others, 3)} missing"


def _are_codes(levels: pd.Index) -> bool:
    """Return whether levels are digits that are no quantity: with a 0 before, or all as long."""
    texts = pd.Series(levels, dtype=object).astype(str)
    digits = texts[texts.str.fullmatch(r"\d+")]
    padded = digits.str.fullmatch(r"0\d+").any()
    return bool(padded) or (len(digits) == len(texts) and texts.str.len().nunique() == 1)


@dataclass(frozen=True, eq=False)
class Values:
    """Values of an atom, a series (n,) or a frame (n, k); `name` is their name in messages.

    `nominal`: ``C()`` makes them categories with the `levels` given to it.  `censored`: they are
    times and events, made by ``Surv()``.
    """

    name: str
    data: pd.Series | pd.DataFrame
    nominal: bool = False
    levels: tuple[object, ...] | None = None
    censored: bool = False


def column_values(frame: pd.DataFrame, name: str) -> Values:
    """Return the values of a column."""
    column = frame[name]
    plain = isinstance(column.dtype, np.dtype) and column.dtype.itemsize == 8
    return Values(name, column if plain else _indexable(column))


def result_values(result: object, name: str, index: pd.Index) -> Values:
    """Return the values of an evaluated expression, or patsy's box, on rows with an index.

    Raises `InputError` unless there is one value, or row of values, for each row, and none is
    missing.
    """
    if isinstance(result, _CategoricalBox):
        boxed = result_values(result.data, name, index)
        levels = None if result.levels is None else tuple(result.levels)
        return Values(name, boxed.data, nominal=True, levels=levels)
    if isinstance(result, Censored):
        return Values(name, result_values(result.columns(), name, index).data, censored=True)
    data = result if isinstance(result, pd.Series | pd.DataFrame) else _tabulated(result)
    if data is None or len(data) != len(index):
        shape = f"a {type(result).__name__}" if data is None else f"{len(data)} rows"
        raise InputError(
            f"{name!r} gives {shape} where the data has {len(index)} rows: "
            "an expression must give one value for each row"
        )
    missing = np.asarray(pd.DataFrame(data).isna().any(axis=1), dtype=np.bool_)
    if missing.any():
        raise InputError(
            f"{name!r} is missing or not a number in {rows_listed(missing, index)}: change the "
            "expression, or leave these rows out"
        )
    return Values(name, _indexable(data.set_axis(index, axis=0)))


def _indexable(data: pd.Series | pd.DataFrame) -> pd.Series | pd.DataFrame:
    """Return floats of odd sizes, by which pandas cannot index, in 64 bits; Arrow's categories."""
    if not isinstance(data, pd.Series):
        return data
    if data.dtype in (np.float16, np.longdouble):
        return data.astype(np.float64)
    return as_categories(data) if _is_dictionary(data.dtype) else data


def _is_dictionary(dtype: Any) -> bool:
    return isinstance(dtype, pd.ArrowDtype) and str(dtype).startswith("dictionary")


def as_categories(values: pd.Series) -> pd.Series:
    """Return text as categories, those of dictionaries of Arrow with missing values, too."""
    plain = values.astype(object) if _is_dictionary(values.dtype) else values
    return plain.astype("category")


def _tabulated(result: object) -> pd.Series | pd.DataFrame | None:
    """Return an array or list as a series or frame, or None for anything else."""
    if isinstance(result, pd.Categorical | pd.Index | pd.api.extensions.ExtensionArray):
        return pd.Series(result)
    array = np.asarray(result)
    if array.ndim == 0 or array.ndim > 2:
        return None
    return pd.Series(array) if array.ndim == 1 else pd.DataFrame(array)
