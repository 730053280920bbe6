"""Fits as source text in Python that needs no package."""

from __future__ import annotations

from odrf.engine.trees.forest import HALF
from odrf.errors import InputError
from odrf.exports import columns as matrix
from odrf.exports.trees import Description, cells_of
from odrf.text.splits import visible
from odrf.version import __version__

FUNCTIONS = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "({} * {})",
    "/": "({} / {})",
    "negative": "(-{})",
    "power": "math.pow({}, {})",
    "square": "_square({})",
    "abs": "abs({})",
    "floor": "float(math.floor({}))",
    "ceil": "float(math.ceil({}))",
    **{name: f"math.{name}({{}})" for name in ("log", "log2", "log10", "log1p", "exp", "expm1")},
    **{name: f"math.{name}({{}})" for name in ("sqrt", "sin", "cos", "tan")},
}

BEGIN = '''
import math
import struct


def _single(number):
    """Round to 32 bits, as the sums of the trees are."""
    return struct.unpack("f", struct.pack("f", number))[0]


def _is_empty(cell):
    try:
        return cell is None or bool(cell != cell)
    except TypeError:  # the missing value of pandas
        return True


def _number(cell):
    return math.nan if _is_empty(cell) else float(cell)


def _label(cell, codes, otherwise):
    return otherwise if _is_empty(cell) else codes.get(cell, otherwise)


def _filled(cell, fill):
    return fill if _is_empty(cell) else cell


def _square(number):
    return number * number


def _indicator(code, level):
    return math.nan if code < 0 else float(code == level)


def _scaled(number, low, width):
    if number != number:
        return 0.0
    return _single(min(max((number - low) / width, -1e30), 1e30))
'''

WALK = """
def _leaf(x, node):
    while node >= 0:
        threshold, left, right, terms = SPLITS[node]
        projection = 0.0
        for column, coefficient in terms:
            projection = _single(projection + _single(coefficient * x[column]))
        node = left if projection <= threshold else right
    return -1 - node


def _cumulated(mean):
    # not by sum(), which adds more precisely since Python 3.12
    total, totals = 0.0, []
    for value in mean:
        total += value
        totals.append(total)
    return totals


def _mean(x):
    sums = [0.0] * len(VALUES[0])
    for root in ROOTS:
        for k, value in enumerate(VALUES[_leaf(x, root)]):
            sums[k] += value
    return [total / len(ROOTS) for total in sums]
"""

# What the text calls by these names: a function of one of them would stand in its place.
TAKEN = (
    *("CLASSES", "ROOTS", "SPLITS", "VALUES", "math", "struct", "_columns", "_leaf", "_mean"),
    *("_cumulated", "_filled", "_indicator", "_is_empty", "_label", "_number", "_scaled"),
    *("_single", "_square"),
    *("abs", "any", "bool", "dict", "enumerate", "float", "len", "map", "max", "min", "next"),
    *("range", "zip", "TypeError"),
)

MOST_LIKELY = "max(range(len(mean)), key=mean.__getitem__)"
MEDIAN = f"next(k for k, total in enumerate(reached) if total >= {HALF!r} * reached[-1])"


def python_text(fit: Description, type: str, name: str) -> str:
    """Return the source of a function ``name(row)`` that predicts one row, a mapping.

    `type` is "response", "class" or "prob".
    """
    if name in TAKEN:
        raise InputError(
            f'name={name!r} has another meaning in the text: use another, such as "predict"'
        )
    splits = [
        (
            float(split.threshold),
            split.left,
            split.right,
            tuple((column, float(coefficient)) for column, coefficient in split.terms),
        )
        for split in fit.splits
    ]
    parts = [
        f'"""{_in_docstring(fit.title)}, written by odrf {__version__}."""\n',
        BEGIN.strip("\n") + "\n",
        f"CLASSES = {fit.labels!r}",
        f"ROOTS = {fit.roots!r}",
        _table("VALUES", list(map(tuple, fit.value.tolist()))),
        "# threshold, left, right, terms; node -1 - i is leaf i",
        _table("SPLITS", splits) + "\n",
        WALK,
        _columns_text(fit) + "\n",
        _function(fit, type, name),
    ]
    return "\n".join(parts)


def _in_docstring(text: str) -> str:
    return visible(text.replace("\\", "\\\\").replace('"', '\\"'))


def _table(name: str, rows: list[tuple]) -> str:
    return "\n".join([f"{name} = (", *(f"    {row!r}," for row in rows), ")"])


def _columns_text(fit: Description) -> str:
    lines = ["def _columns(row):"]
    names = {}
    for at, cell in enumerate(fit.inputs):
        names[cell] = f"cell_{at}"
        read = f"row[{cell!r}]"
        if cell in fit.fills:
            read = f"_filled({read}, {fit.fills[cell]!r})"
        lines.append(f"    cell_{at} = {read}")
    if fit.required:
        empty = ", ".join(names[cell] for cell in fit.required)
        lines += [f"    if any(map(_is_empty, ({empty},))):", "        return None"]
    for number in fit.used_sources:
        source = fit.sources[number]
        if isinstance(source, matrix.Labelled):
            codes = {label: k for k, label in enumerate(source.labels) if label is not None}
            value = f"_label({names[source.column]}, {codes!r}, -1)"
        else:
            value = _numeric(source, names)
            cells = cells_of(source)
            if isinstance(source, matrix.Applied) and cells:
                empty = " or ".join(f"_is_empty({names[cell]})" for cell in cells)
                value = f"math.nan if {empty} else {value}"
        lines.append(f"    value_{number} = {value}")
    lines += ["    return ("]
    lines += [f"        {_column(fit, column)}," for column in fit.columns]
    return "\n".join([*lines, "    )"]) + "\n"


def _numeric(value: matrix.Numeric, names: dict[str, str]) -> str:
    match value:
        case matrix.Literal(value=number):
            return f"({number!r})" if number < 0 else repr(number)
        case matrix.Cell(column=column):
            return f"_number({names[column]})"
        case matrix.RankedCell(column=column, labels=labels):
            ranks = {label: 1.0 + k for k, label in enumerate(labels)}
            return f"_label({names[column]}, {ranks!r}, math.nan)"
        case matrix.Applied(function=function, arguments=arguments):
            return FUNCTIONS[function].format(*(_numeric(each, names) for each in arguments))


def _column(fit: Description, column: matrix.MatrixColumn) -> str:
    match column:
        case matrix.LevelColumn(parts=parts):
            known = " and ".join(f"value_{part.source} == {part.code}" for part in parts)
            return f"1.0 if {known} else 0.0"
        case matrix.EmptyColumn(sources=sources, empty=empty, present=present):
            tests = " or ".join(fit.empty(source) for source in sources)
            return f"{float(empty)!r} if {tests} else {float(present)!r}"
        case _:
            product = " * ".join(map(_part, column.parts))
            return f"_scaled({product}, {column.low!r}, {column.range!r})"


def _part(part: matrix.Multiplier) -> str:
    if part.code is None:
        return f"value_{part.source}"
    return f"_indicator(value_{part.source}, {part.code})"


def _function(fit: Description, type: str, name: str) -> str:
    inputs = ", ".join(fit.inputs) or "no columns"
    lines = [f"def {name}(row):"]
    lines += [f'    """Predict a row, a mapping with {_in_docstring(inputs)}."""']
    lines += ["    x = _columns(row)", "    if x is None:"]
    if type == "prob":
        lines += ["        return dict.fromkeys(CLASSES, math.nan)"]
    else:
        lines += [f"        return {'None' if fit.labels else 'math.nan'}"]
    lines += ["    mean = _mean(x)"]
    if fit.votes and fit.labels:
        lines += ["    total = _cumulated(mean)[-1]"]
        lines += ["    mean = [value / total for value in mean]"]
    if not fit.labels:
        lines += ["    return mean[0]"]
    elif type == "prob":
        lines += ["    return dict(zip(CLASSES, mean))"]
    else:
        lines += ["    reached = _cumulated(mean)"] if fit.ordered else []
        lines += [f"    return CLASSES[{MEDIAN if fit.ordered else MOST_LIKELY}]"]
    return "\n".join(lines) + "\n"
