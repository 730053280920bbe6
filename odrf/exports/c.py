"""Fits as source text in C that needs the standard library only."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from odrf.engine.trees.forest import HALF
from odrf.errors import InputError
from odrf.exports import columns as matrix
from odrf.exports.trees import MOST_WHOLE, Description, require_labels
from odrf.text.names import free_name
from odrf.version import __version__

# What is no name of a column.
RESERVED = (
    *("auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else"),
    *("enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register"),
    *("restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef"),
    *("union", "unsigned", "void", "volatile", "while"),
    # C23
    *("alignas", "alignof", "bool", "constexpr", "false", "nullptr", "static_assert"),
    *("thread_local", "true", "typeof", "typeof_unqual"),
    # GNU C, and what it defines for some systems
    *("asm", "i386", "linux", "unix"),
    # macros of the headers
    *("HUGE_VAL", "HUGE_VALF", "HUGE_VALL", "INFINITY", "NAN", "NULL", "math_errhandling"),
    *("FP_ILOGB0", "FP_ILOGBNAN", "FP_INFINITE", "FP_NAN", "FP_NORMAL", "FP_SUBNORMAL", "FP_ZERO"),
    *("MATH_ERREXCEPT", "MATH_ERRNO", "M_1_PI", "M_2_PI", "M_2_SQRTPI", "M_E", "M_LN10", "M_LN2"),
    *("M_LOG10E", "M_LOG2E", "M_PI", "M_PI_2", "M_PI_4", "M_SQRT1_2", "M_SQRT2"),
    # of the text itself
    *("N_COLUMNS", "N_TREES", "N_VALUES"),
)

# Functions that the text calls.
_CALLED = (
    *("ceil", "cos", "exp", "expm1", "fabs", "floor", "log", "log10", "log1p", "log2", "pow"),
    *("sin", "sqrt", "strcmp", "tan"),
)
# Others of numbers.
_OF_NUMBERS = (
    *("acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "copysign", "cosh"),
    *("erf", "erfc", "exp2", "fdim", "fma", "fmax", "fmin", "fmod", "frexp", "hypot", "ilogb"),
    *("ldexp", "lgamma", "llrint", "llround", "logb", "lrint", "lround", "modf", "nan"),
    *("nearbyint", "nextafter", "nexttoward", "remainder", "remquo", "rint", "round", "scalbln"),
    *("scalbn", "sinh", "tanh", "tgamma", "trunc"),
)
# Functions that the headers declare, for doubles, floats and long doubles; the last ones in POSIX.
# A column may have their names, which is a part of a struct.
DECLARED = (
    *(name + end for name in (*_OF_NUMBERS, *_CALLED) for end in ("", "f", "l")),
    *("memchr", "memcmp", "memcpy", "memmove", "memset", "strcat", "strchr", "strcoll", "strcpy"),
    *("strcspn", "strerror", "strlen", "strncat", "strncmp", "strncpy", "strpbrk", "strrchr"),
    *("strspn", "strstr", "strtok", "strxfrm"),
    *("gamma", "index", "j0", "j1", "jn", "rindex", "y0", "y1", "yn"),
)


FUNCTIONS = {
    "+": "({} + {})",
    "-": "({} - {})",
    "*": "exact({} * {})",
    "/": "({} / {})",
    "negative": "(-{})",
    "power": "pow({}, {})",
    "square": "square({})",
    "abs": "fabs({})",
    **{name: f"{name}({{}})" for name in ("log", "log2", "log10", "log1p", "exp", "expm1")},
    **{name: f"{name}({{}})" for name in ("sqrt", "floor", "ceil", "sin", "cos", "tan")},
}

TOOLS = {
    "exact": """
/* a product rounded by itself, not fused with a sum */
static double exact(volatile double product) { return product; }""",
    "square": """
static double square(double number) { return exact(number * number); }""",
    "text_code": """
/* the number of a label, -1 for any other */
static int text_code(const char *cell, const char *const *labels, int n) {
    int i;
    for (i = 0; cell != NULL && i < n; i++)
        if (labels[i] != NULL && strcmp(cell, labels[i]) == 0) return i;
    return -1;
}""",
    "number_code": """
static int number_code(double cell, const double *labels, int n) {
    int i;
    for (i = 0; i < n; i++)
        if (cell == labels[i]) return i;
    return -1;
}""",
    "rank_of": """
static double rank_of(int code) { return code < 0 ? NAN : code + 1.0; }""",
    "indicator": """
static double indicator(int code, int level) {
    return code < 0 ? NAN : code == level ? 1.0 : 0.0;
}""",
    "scaled": """
static float scaled(double number, double low, double width) {
    if (number != number) return 0.0f;
    number = (number - low) / width;
    return (float)(number < -1e30 ? -1e30 : number > 1e30 ? 1e30 : number);
}""",
}

# What the text calls its other functions and its arrays.
PARTS = ("coefficients", "columns", "columns_of", "leaf_of", "mean_of", "roots", "splits", "values")

WALK = """
static int leaf_of(const float *x, int node) {
    while (node >= 0) {
        /* volatile: each product and each sum is rounded to 32 bits, whatever the compiler does */
        volatile float product, sum = 0.0f;
        int term;
        for (term = splits[node].first; term < splits[node].last; term++) {
            product = coefficients[term] * x[columns[term]];
            sum = sum + product;
        }
        node = sum <= splits[node].threshold ? splits[node].left : splits[node].right;
    }
    return -1 - node;
}

static void mean_of(const float *x, double *mean) {
    int b, k;
    for (k = 0; k < N_VALUES; k++) mean[k] = 0.0;
    for (b = 0; b < N_TREES; b++) {
        const double *value = values[leaf_of(x, roots[b])];
        for (k = 0; k < N_VALUES; k++) mean[k] += value[k];
    }
    for (k = 0; k < N_VALUES; k++) mean[k] /= N_TREES;
}
"""

VOTES = """
    for (k = 0; k < N_VALUES; k++) total += mean[k];
    for (k = 0; k < N_VALUES; k++) mean[k] /= total;"""

MOST_LIKELY = """
    for (k = 1; k < N_VALUES; k++)
        if (mean[k] > mean[best]) best = k;
    return best;"""

MEDIAN = f"""
    for (k = 0; k < N_VALUES; k++) total += mean[k];
    for (k = 0; k < N_VALUES; k++) {{
        reached += mean[k];
        if (reached >= {HALF!r} * total) return k;
    }}
    return N_VALUES - 1;"""


def c_text(fit: Description, type: str, name: str) -> str:
    """Return the source of a function that predicts one row, a struct.

    `type` is "response", "class" or "prob".
    """
    if name in (*RESERVED, *DECLARED, *TOOLS, *PARTS):
        raise InputError(f'name={name!r} has another meaning in C: use another, such as "predict"')
    require_labels(fit, "C", MOST_WHOLE)
    fields = _fields(fit.inputs)
    columns = _columns(fit, fields, name)
    parts = [
        f"/* {_in_comment(fit.title)}, written by odrf {__version__}.",
        "   C99; any options but -ffast-math. */",
        "#include <math.h>",
        "#include <stddef.h>",
        "#include <string.h>",
        "",
        *_row(fit, fields, name),
        "",
        *_tables(fit, name),
        *_tools(columns),
        WALK,
        *columns,
        "",
        *_function(fit, type, name),
    ]
    return "\n".join(parts) + "\n"


def _tools(lines: Sequence[str]) -> list[str]:
    """Return the functions that these lines call."""
    calling = "\n".join(lines)
    called = {tool for tool in TOOLS if f"{tool}(" in calling}
    called |= {"exact"} if "square" in called else set()
    return [text for tool, text in TOOLS.items() if tool in called]


def _in_comment(text: str) -> str:
    return re.sub("[^ -~]", "?", text.replace("*/", "* /").replace("/*", "/ *"))


def _quoted(text: str) -> str:
    """Return a literal of text in UTF-8; other bytes than those of ASCII in octal numbers."""
    return '"' + "".join(map(_character, text.encode("utf-8"))) + '"'


def _character(byte: int) -> str:
    if 32 <= byte < 127 and chr(byte) not in '"\\?':
        return chr(byte)
    return f"\\{byte:03o}"


def _single(value: np.floating) -> str:
    """Return a float of 32 bits, exactly."""
    return float(value).hex() + "f"


def _double(value: float) -> str:
    return repr(float(value))


def _fields(columns: Sequence[str]) -> dict[str, str]:
    """Return a name in C for each column, all different."""
    names: dict[str, str] = {}
    for column in columns:
        plain = re.sub(r"[^A-Za-z0-9_]", "_", column)
        plain = f"x_{plain}" if not plain[:1].isalpha() or plain in RESERVED else plain
        names[column] = free_name(plain, names.values())
    return names


def _row(fit: Description, fields: dict[str, str], name: str) -> list[str]:
    lines = [f"/* A row. A missing value is NAN, or NULL for text. */\nstruct {name}_row {{"]
    for column, field in fields.items():
        kind = "const char *" if fit.kinds[column] == "text" else "double "
        # neither the end nor the beginning of a comment
        written = json.dumps(column).replace("*/", "*\\/").replace("/*", "/\\u002a")
        note = f" /* {written} */" if field != column else ""
        lines.append(f"    {kind}{field};{note}")
    return [*lines, *(["    int unused;"] if not fields else []), "};"]


def _tables(fit: Description, name: str) -> list[str]:
    terms = [term for split in fit.splits for term in split.terms]
    lines = [
        f"#define N_COLUMNS {max(len(fit.columns), 1)}",
        f"#define N_TREES {len(fit.roots)}",
        f"#define N_VALUES {fit.value.shape[1]}",
        "",
    ]
    if fit.labels:
        known = fit.labels
        is_text = matrix.type_of_labels(known) == "text"
        text = _listed(_quoted(label) if is_text else _double(float(label)) for label in known)
        kind = "const char *const" if is_text else "const double"
        lines += [f"{kind} {name}_classes[{len(known)}] = {{{text}}};", ""]
    first, rows = 0, []
    for split in fit.splits:
        last = first + len(split.terms)
        sides = f"{split.left}, {split.right}"
        rows.append(f"    {{{_single(split.threshold)}, {sides}, {first}, {last}}},")
        first = last
    # arrays of C have at least one entry
    lines += ["static const struct { float threshold; int left, right, first, last; } splits[] = {"]
    lines += [*(rows or ["    {0.0f, -1, -1, 0, 0},"]), "};"]
    lines += _array("int", "columns", [str(term.column) for term in terms])
    lines += _array("float", "coefficients", [_single(term.coefficient) for term in terms])
    lines += _array("int", "roots", list(map(str, fit.roots)))
    lines += ["static const double values[][N_VALUES] = {"]
    lines += [f"    {{{_listed(map(_double, value))}}}," for value in fit.value]
    return [*lines, "};"]


def _array(kind: str, name: str, entries: list[str]) -> list[str]:
    lines = [f"static const {kind} {name}[] = {{"]
    entries = entries or ["0"]
    lines += [f"    {_listed(entries[at : at + 8])}," for at in range(0, len(entries), 8)]
    return [*lines, "};"]


def _listed(entries: Iterable[str]) -> str:
    return ", ".join(entries)


def _columns(fit: Description, fields: dict[str, str], name: str) -> list[str]:
    """Return a function that writes the columns of the matrix; 0 if the row must have a cell."""
    lines = [f"static int columns_of(const struct {name}_row *row, float *x) {{"]
    cells = {column: _cell(fit, column, field) for column, field in fields.items()}
    values = []
    for number in fit.used_sources:
        source = fit.sources[number]
        if isinstance(source, matrix.Labelled):
            lines += _labels(fit, source.column, source.labels, f"labels_{number}")
            code = _code(fit, source.column, cells, f"labels_{number}", len(source.labels))
            values.append(f"    const int value_{number} = {code};")
        else:
            if isinstance(source, matrix.RankedCell):
                lines += _labels(fit, source.column, source.labels, f"labels_{number}")
            values.append(
                f"    const double value_{number} = {_numeric(fit, source, cells, number)};"
            )
    lines += values
    texts = [cells[column] for column in fit.required if fit.kinds[column] == "text"]
    numbers = [cells[column] for column in fit.required if fit.kinds[column] != "text"]
    tests = [*(f"{cell} == NULL" for cell in texts), *(f"{cell} != {cell}" for cell in numbers)]
    lines += [f"    if ({' || '.join(tests)}) return 0;"] if tests else []
    for at, column in enumerate(fit.columns):
        lines.append(f"    x[{at}] = {_column(fit, column)};")
    if not fit.columns:
        lines.append("    x[0] = 0.0f;")
    return [*lines, "    (void)row;", "    return 1;", "}"]


def _cell(fit: Description, column: str, field: str) -> str:
    cell = f"row->{field}"
    if column not in fit.fills:
        return cell
    fill = fit.fills[column]
    if fit.kinds[column] == "text":
        return f"({cell} == NULL ? {_quoted(fill)} : {cell})"
    return f"({cell} != {cell} ? {_double(fill)} : {cell})"


def _labels(fit: Description, column: str, labels: Sequence[Any], name: str) -> list[str]:
    if fit.kinds[column] == "text":
        texts = _listed("NULL" if label is None else _quoted(label) for label in labels)
        return [f"    static const char *const {name}[] = {{{texts}}};"]
    numbers = _listed("NAN" if label is None else _double(float(label)) for label in labels)
    return [f"    static const double {name}[] = {{{numbers}}};"]


def _code(fit: Description, column: str, cells: dict[str, str], labels: str, n: int) -> str:
    kind = "text" if fit.kinds[column] == "text" else "number"
    return f"{kind}_code({cells[column]}, {labels}, {n})"


def _numeric(fit: Description, value: matrix.Numeric, cells: dict[str, str], number: int) -> str:
    match value:
        case matrix.Literal(value=literal):
            return f"({_double(literal)})"
        case matrix.Cell(column=column):
            return cells[column]
        case matrix.RankedCell(column=column, labels=labels):
            code = _code(fit, column, cells, f"labels_{number}", len(labels))
            return f"rank_of({code})"
        case matrix.Applied(function=function, arguments=arguments):
            inner = (_numeric(fit, each, cells, number) for each in arguments)
            return FUNCTIONS[function].format(*inner)


def _column(fit: Description, column: matrix.MatrixColumn) -> str:
    match column:
        case matrix.LevelColumn(parts=parts):
            known = " && ".join(f"value_{part.source} == {part.code}" for part in parts)
            return f"{known} ? 1.0f : 0.0f"
        case matrix.EmptyColumn(sources=sources, empty=empty, present=present):
            tests = " || ".join(fit.empty(source) for source in sources)
            return f"{tests} ? {_single(empty)} : {_single(present)}"
        case _:
            product = _part(column.parts[0])
            for part in column.parts[1:]:
                product = f"exact({product} * {_part(part)})"
            return f"scaled({product}, {_double(column.low)}, {_double(column.range)})"


def _part(part: matrix.Multiplier) -> str:
    if part.code is None:
        return f"value_{part.source}"
    return f"indicator(value_{part.source}, {part.code})"


def _function(fit: Description, type: str, name: str) -> list[str]:
    row = f"const struct {name}_row *row"
    begin = ["    float x[N_COLUMNS];", "    double mean[N_VALUES];"]
    if not fit.labels:
        return [
            "/* Return the mean response; NAN where a missing value is not allowed. */",
            f"double {name}({row}) {{",
            *begin,
            "    if (!columns_of(row, x)) return NAN;",
            "    mean_of(x, mean);",
            "    return mean[0];",
            "}",
        ]
    if type == "prob":
        return [
            f"/* Write the probabilities of {name}_classes. */",
            f"void {name}({row}, double *mean) {{",
            "    float x[N_COLUMNS];",
            f"    int k;{' double total = 0.0;' if fit.votes else ''}",
            "    for (k = 0; k < N_VALUES; k++) mean[k] = NAN;",
            "    if (!columns_of(row, x)) return;",
            f"    mean_of(x, mean);{VOTES if fit.votes else ''}",
            "}",
        ]
    totals = "    double total = 0.0, reached = 0.0;" if fit.ordered else "    int best = 0;"
    return [
        f"/* Return the number of a class in {name}_classes;",
        "   -1 where a missing value is not allowed. */",
        f"int {name}({row}) {{",
        *begin,
        "    int k;",
        totals,
        "    if (!columns_of(row, x)) return -1;",
        f"    mean_of(x, mean);{MEDIAN if fit.ordered else MOST_LIKELY}",
        "}",
    ]
