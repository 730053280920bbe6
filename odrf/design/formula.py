"""From the text of a formula to its terms: patsy's parser, plus R's ``.`` and long sums."""

from __future__ import annotations

import ast
import builtins
import re
import unicodedata
from collections.abc import Collection, Container, Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from keyword import iskeyword

import patsy.builtins
from patsy import EvalEnvironment, PatsyError
from patsy.desc import Evaluator, IntermediateExpr, ParseNode, Term
from patsy.parse_formula import parse_formula

from odrf.design.functions import ELSEWHERE, FUNCTIONS
from odrf.errors import InputError, nearest, warn_user

DOT = "_odrf_all_others_"
"""What patsy reads in place of a stand-alone ``.``."""

_WIDTH = 100
"""Characters of a long formula shown in an error message."""

_PIECE = re.compile(
    r"""(?P<string> '(?:\\.|[^'\\])*' | "(?:\\.|[^"\\])*" )
      | (?P<backtick> `[^`]*`? )
      | (?P<number> \.?\d[\w.]* )
      | (?P<name> (?:[^\W\d]|\.)[\w.]* )
      | (?P<power> \^ )
      | (?P<space> \s+ )
      | (?P<other> . )""",
    re.VERBOSE,
)
_PLAIN = re.compile(r"(?:[^\W\d]|\.[^\W\d])[\w.]*")
_CALL = re.compile(r"\s*\(")
_NUMBER = re.compile(r"inf|infinity|nan", re.IGNORECASE)
_QUOTED = re.compile(r"""\bQ\(('(?:\\.|[^'\\])*'|"(?:\\.|[^"\\])*")\)""")


@dataclass(frozen=True)
class Spelling:
    """A formula as the user wrote it, on one line, and as `code` for patsy.

    Here ``^`` is ``**``, a stand-alone ``.`` `DOT`, and names in backticks, or that Python would
    not read as such, are ``Q('…')``.  `begins` and `ends`: of each character of `code`, in `text`.
    """

    text: str
    code: str
    begins: tuple[int, ...]
    ends: tuple[int, ...]

    def explain(self, error: PatsyError) -> InputError:
        """Return patsy's `error` as an `InputError` that points into the user's text."""
        if error.origin is None:
            return InputError(f"formula {self.text[:_WIDTH]!r}: {error.message}")
        begin = self.begins[min(error.origin.start, len(self.begins) - 1)]
        end = self.ends[max(error.origin.end - 1, 0)]
        message = _in_our_words(error.message).replace(
            error.origin.relevant_code() or DOT, self.text[begin:end]
        )
        return _pointing(self.text, begin, end, message)


def _in_our_words(message: str) -> str:
    """Return an error of patsy, whose parser speaks of nouns and expressions, in our words."""
    ours = message.replace("expected a noun", "expected a column or expression")
    return ours.replace("but instead the expression ended", "but the formula ends here")


def respell(formula: str, columns: Container[str]) -> Spelling:
    """Return a formula in the spelling of patsy; raise if a backtick is not closed.

    Names of `columns` that are not valid in Python, such as R's ``Sepal.Length``, are quoted.
    """
    text = formula.replace("\n", " ").strip()
    code: list[str] = []
    begins: list[int] = []
    ends: list[int] = []
    before = ""
    for piece in _PIECE.finditer(text):
        start, stop = piece.span()
        new, length = _respelled(piece, before, columns)
        begins += [start] * len(new) + list(range(start + length, stop))
        ends += [start + length] * len(new) + list(range(start + length + 1, stop + 1))
        code += [new, text[start + length : stop]]
        before = before if piece.lastgroup == "space" else piece.group()[-1]
    return Spelling(text, "".join(code), tuple(begins), tuple(ends))


def readable(code: str) -> str:
    """Return `code` with each ``Q('name')`` as the plain name, in backticks if it needs quotes."""
    return _QUOTED.sub(lambda call: quoted(str(ast.literal_eval(call.group(1)))), code)


def names_in(formula: str) -> list[str]:
    """Return the names in a formula that could be those of columns."""
    names = [str(ast.literal_eval(call[1])) for call in _QUOTED.finditer(formula)]
    for piece in _PIECE.finditer(formula):
        if piece.lastgroup == "backtick":
            names.append(piece.group().strip("`"))
        elif piece.lastgroup == "name":
            names.append(piece.group().strip(".").split(".")[0])
    return [name for name in dict.fromkeys(names) if _is_plain(name) or not name.isidentifier()]


def quoted(name: str) -> str:
    """Return the name of a column as a formula names it, so that no part of it is read as code."""
    if _PLAIN.fullmatch(name):
        return name
    return f"Q({name!r})" if "`" in name or "\n" in name else f"`{name}`"


def _respelled(piece: re.Match[str], before: str, columns: Container[str]) -> tuple[str, int]:
    """Return the replacement for the beginning of `piece`, and the length of that beginning."""
    text, written = piece.string, piece.group()
    if piece.lastgroup == "power":
        return "**", 1
    if piece.lastgroup == "backtick":
        if len(written) < 2 or not written.endswith("`"):
            raise _pointing(text, piece.start(), piece.end(), "a backtick is never closed")
        return f"Q({written[1:-1]!r})", len(written)
    if piece.lastgroup != "name" or (written.startswith(".") and re.match(r"[\w)\]'\"`]", before)):
        return "", 0
    if written == ".":
        return DOT, 1
    name = _odd_column(written, columns)
    if name is None or (name == written and _CALL.match(text, piece.end())):
        return "", 0
    return f"Q({name!r})", len(name)


def _odd_column(written: str, columns: Container[str]) -> str | None:
    """Return the longest dotted beginning of `written` that is a column but no name in Python."""
    parts = written.split(".")
    for count in range(len(parts), 0, -1):
        name = ".".join(parts[:count])
        if name in columns:
            return None if _is_plain(name) else name
    return None


def _is_plain(name: str) -> bool:
    """Return whether patsy and Python read the name of a column as this name."""
    # patsy reads as a number what float() does, such as "inf", "NaN" and "Infinity".
    if not name.isidentifier() or iskeyword(name) or name == DOT or _NUMBER.fullmatch(name):
        return False
    # Python normalises identifiers to NFKC, which would be the name of another column.
    return unicodedata.normalize("NFKC", name) == name


def _pointing(text: str, begin: int, end: int, message: str) -> InputError:
    start = max(0, begin - _WIDTH // 2)
    line = text[start : start + _WIDTH]
    carets = "^" * min(max(end - begin, 1), start + _WIDTH - begin)
    return InputError(f"formula: {message}\n    {line}\n    {' ' * (begin - start)}{carets}")


@dataclass(frozen=True)
class Column:
    """A column of the data, taken as it is."""

    name: str

    @property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data needed: this one."""
        return (self.name,)


@dataclass(frozen=True)
class Expression:
    """Python code over columns; `code`, in patsy's normal spacing, tells it from others."""

    code: str
    columns: tuple[str, ...] = field(compare=False)

    @property
    def name(self) -> str:
        """The code as the user would write it."""
        return readable(self.code)


Atom = Column | Expression

# Where users have the function `odrf.odrf`, its name is not that of the package.
PACKAGE = "odrf."
_LOCAL = (ast.Lambda, ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp)


def read_atom(code: str, columns: Collection[str], env: EvalEnvironment) -> Atom:
    """Read one atom of a formula, Python code with names of columns or of the user's `env`."""
    if code.startswith(f"{PACKAGE}Surv("):
        code = code.removeprefix(PACKAGE)
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError as error:
        raise PatsyError(f"not a Python expression ({error.msg}){_way_out(code)}") from None
    name = tree.id if isinstance(tree, ast.Name) else _quoted_name(tree)
    if name is not None:
        if name not in columns:
            raise _unknown(name, columns)
        return Column(name)
    if any(isinstance(node, _LOCAL) for node in ast.walk(tree)):
        raise PatsyError("lambdas and comprehensions are not supported: define a function")
    if any(isinstance(node, ast.Name) and node.id == DOT for node in ast.walk(tree)):
        raise PatsyError("'.' stands for all other columns and cannot be part of an expression")
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        _require_no_subjects(tree)
    functions = [node.func for node in ast.walk(tree) if isinstance(node, ast.Call)]
    for function in functions:
        if isinstance(function, ast.Name) and not _known(function.id, env):
            raise PatsyError(f"{function.id!r} is not a known function{_instead(function.id)}")
    used: dict[str, None] = {}
    for node in ast.walk(tree):
        column = _quoted_name(node)
        if column is not None and column not in columns:
            raise _unknown(column, columns)
        if isinstance(node, ast.Name) and node not in functions and node.id in columns:
            column = node.id
        elif isinstance(node, ast.Name) and not _known(node.id, env):
            # Python reads R's dotted names as attributes: report the whole dotted name.
            chain = ast.unparse(tree) if isinstance(tree, ast.Attribute) else node.id
            raise _unknown(chain, columns)
        if column is not None:
            used[column] = None
    if not used:
        raise PatsyError("no column of the data is used here")
    return Expression(code, tuple(used))


def _way_out(code: str) -> str:
    """Return what to write in place of code that is not Python, for the end of a message."""
    of_r = re.search(r"\bas\.(\w+)", code)
    if of_r is not None:
        write = "write factor(…)" if of_r[1] == "factor" else "compute the column before the fit"
        return f": {write}, in place of {of_r[0]}(…)"
    return ": put a name with blanks between backticks, as in `odd name`" if " " in code else ""


def _instead(name: str) -> str:
    """Return what to write in place of an unknown function, for the end of a message."""
    if name in ELSEWHERE:
        return f": {ELSEWHERE[name]}"
    return nearest(name, [*FUNCTIONS, *patsy.builtins.__all__])


def _require_no_subjects(tree: ast.BinOp) -> None:
    """Raise `PatsyError` if an expression with | is a random effect, as ``(1 | subject)`` in R."""
    if isinstance(tree.left, ast.Constant):
        raise PatsyError(
            "random effects are not part of trees: name the column of the subjects in the argument "
            "groups="
        )


def _quoted_name(node: ast.AST) -> str | None:
    """Return the name in a call ``Q("name")``, or None for any other node."""
    if not (isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "Q"):
        return None
    match node.args:
        case [ast.Constant(value=str(name))] if not node.keywords:
            return name
    raise PatsyError('Q() takes a column name between quotes, as in Q("odd name")')


def _known(name: str, env: EvalEnvironment) -> bool:
    places = (env.namespace, FUNCTIONS, patsy.builtins.__all__, vars(builtins))
    return any(name in place for place in places)


def _unknown(name: str, columns: Collection[str]) -> PatsyError:
    hint = nearest(name, columns)
    if len(columns) == 1:
        (only,) = columns
        for separator in filter(only.__contains__, (";", "\t", "|")):
            hint = f"; its only column is {only!r}: read the table with sep={separator!r}"
    return PatsyError(f"{name!r} is not a column of the data{hint}")


MOST_PRODUCTS, MOST_DIGITS = 100_000, 9
SHOWN = 60
# As pandas calls a first column without a name.
ROW_NAMES = "Unnamed: 0"


@dataclass(frozen=True)
class Formula:
    """A parsed formula: its left side, and for each predictor the atoms whose product it is."""

    response: Atom
    terms: tuple[tuple[Atom, ...], ...]

    @cached_property
    def columns(self) -> tuple[str, ...]:
        """The columns of the data that the predictors need."""
        names: dict[str, None] = {}
        for term in self.terms:
            for atom in term:
                names.update(dict.fromkeys(atom.columns))
        return tuple(names)


def read_formula(
    formula: str, columns: list[str], env: EvalEnvironment, aside: Iterable[str] = ()
) -> Formula:
    """Read a formula, such as ``"log(y) ~ . - a + b:c"``, with functions of the environment `env`.

    ``.`` stands for all `columns` except those of the response and those in `aside`.  Intercepts
    are accepted and ignored: trees have none.  Raises `InputError` if it does not parse, names
    something unknown, has not one response, no predictors, or the response among them.
    """
    if not isinstance(formula, str) or not formula.strip():
        raise InputError(f'formula must be a text such as "y ~ .", not {formula!r}')
    names = dict.fromkeys(columns)
    spelling = respell(formula, names)
    try:
        tree = parse_formula(spelling.code)
        if tree.token is None:
            raise PatsyError('"~" is missing: write "response ~ predictors", for example "y ~ ."')
        reader = _Reader(names, env)
        response = reader.response(tree)
        outside = {*response.columns, *aside}
        reader.others = [name for name in names if name not in outside]
        _require_no_arithmetic(tree.args[1])
        terms = tuple([term.factors for term in reader.eval(tree.args[1]).terms])
    except PatsyError as error:
        raise spelling.explain(error) from None
    except (AssertionError, SyntaxError):
        # Some errors pass patsy's tokenizer, such as the number 01.
        raise InputError(f"formula {formula!r} is not understood: check its spelling") from None
    except RecursionError:
        raise InputError(
            f"formula {formula[:SHOWN]!r}… has too many products or brackets in each other to be "
            "read: make columns of them in the data, and name these"
        ) from None
    result = Formula(response, terms)
    if not terms:
        raise InputError(
            "the formula has no predictors: name at least one column on the right of ~, "
            'or use "." for all other columns'
        )
    both = [name for name in response.columns if name in result.columns]
    if both:
        raise InputError(
            f"the response's column {both[0]!r} is also a predictor: take it out of the right "
            "side of the formula"
        )
    if ROW_NAMES in result.columns and ROW_NAMES not in formula:
        warn_user(
            f"{ROW_NAMES!r} is a predictor, by '.': pandas calls so a first column without a name, "
            "which has the numbers or names of the rows in tables that R has written: read the "
            f"table with index_col=0, or leave it out with - `{ROW_NAMES}`"
        )
    return result


# Operators of formulas that are those of arithmetic in Python.
_ARITHMETIC = ("+", "-", "*", "/", "**")


def _require_no_arithmetic(tree: ParseNode) -> None:
    """Raise `PatsyError` if a number is added to predictors, or they are multiplied by one.

    On the right of ``~`` only 0 and 1 have a meaning, as intercepts, and numbers as powers.
    """
    nodes = [tree]
    while nodes:
        node = nodes.pop()
        numbers = [part for part in node.args if part.type == "NUMBER"]
        if node.type in ("*", "/", ":"):
            numbers += [part for part in node.args if part.type in ("ZERO", "ONE")]
        only = node.args[0].type if len(node.args) == 1 else "ONE"
        if (node.type in ("+", "-", "*", "/", ":") and numbers) or (
            node.type == "-" and only not in ("ZERO", "ONE")
        ):
            code = node.origin.relevant_code()
            raise PatsyError(f"arithmetic is written inside I(), as in I({code})", node)
        nodes += node.args


class _Reader(Evaluator):  # type: ignore[misc]
    """patsy's evaluator, with our atoms, ``.``, and sums of any length without recursion."""

    def __init__(self, columns: dict[str, None], env: EvalEnvironment) -> None:
        super().__init__()
        self.columns = columns
        self.env = env
        self.others: list[str] | None = None
        self.add_op("PYTHON_EXPR", 0, _Reader._atom)
        self.add_op("+", 2, _Reader._sum)
        self.add_op("-", 2, _Reader._sum)
        self.add_op(":", 2, _Reader._interaction)
        self.add_op("*", 2, _Reader._product)
        self.add_op("**", 2, _Reader._power)

    def response(self, tree: ParseNode) -> Atom:
        """Return the single atom on the left of ``~``."""
        left = tree.args[0] if len(tree.args) == 2 else None
        if left is not None and left.type in _ARITHMETIC:
            raise PatsyError(
                "the response must be one column or expression: write arithmetic inside I(), as "
                f"in I({left.origin.relevant_code()}), and fit one model for each response",
                left,
            )
        terms = self.eval(left).terms if left is not None else ()
        if not terms:
            raise PatsyError("the response is missing on the left of ~", tree)
        if len(terms) > 1 or len(terms[0].factors) > 1:
            raise PatsyError(
                "the response must be one column or expression, and each response needs a model",
                left,
            )
        return terms[0].factors[0]

    def _atom(self, tree: ParseNode) -> IntermediateExpr:
        if tree.token.extra == DOT:
            if self.others is None:
                raise PatsyError("'.' cannot be the response: name a column", tree)
            return _terms([Term([Column(name)]) for name in self.others])
        try:
            return _terms([Term([read_atom(tree.token.extra, self.columns, self.env)])])
        except PatsyError as error:
            error.set_origin(tree)
            raise

    def _sum(self, tree: ParseNode) -> IntermediateExpr:
        """Evaluate a chain of + and - in a loop: recursion fails for thousands of columns."""
        steps = []
        while tree.type in ("+", "-") and len(tree.args) == 2:
            left, right = tree.args
            steps.append((tree.type, right))
            tree = left
        terms = dict.fromkeys(self.eval(tree).terms)
        for sign, node in reversed(steps):
            for term in self.eval(node).terms:
                if sign == "+":
                    terms.setdefault(term)
                else:
                    terms.pop(term, None)
        return _terms(terms)

    def _interaction(self, tree: ParseNode) -> IntermediateExpr:
        left, right = (self.eval(side).terms for side in tree.args)
        return _terms(_products(left, right, tree))

    def _product(self, tree: ParseNode) -> IntermediateExpr:
        left, right = (self.eval(side).terms for side in tree.args)
        return _terms(dict.fromkeys([*left, *right, *_products(left, right, tree)]))

    def _power(self, tree: ParseNode) -> IntermediateExpr:
        base, number = self.eval(tree.args[0]).terms, tree.args[1]
        written = number.token.extra if number.type in ("ONE", "NUMBER") else ""
        if not written.isdigit() or not written.strip("0"):
            raise PatsyError("'**' requires a positive integer", number)
        # (a + b)**100 is the same as (a + b)**2
        times = len(base) if len(written) > MOST_DIGITS else min(len(base), int(written))
        terms = products = list(base)
        for _ in range(1, times):
            products = _products(base, products, tree)
            terms = list(dict.fromkeys([*terms, *products]))
        return _terms(terms)


def _products(left: Sequence[Term], right: Sequence[Term], tree: ParseNode) -> list[Term]:
    """Return the different products of terms; raise `PatsyError` if there are far too many."""
    if len(left) * len(right) > MOST_PRODUCTS:
        raise PatsyError(
            f"this multiplies {len(left)} by {len(right)} terms, and at most {MOST_PRODUCTS} "
            "products are formed: name the ones you need",
            tree,
        )
    return list(dict.fromkeys(Term(one.factors + other.factors) for one in left for other in right))


def _terms(terms: Iterable[Term]) -> IntermediateExpr:
    return IntermediateExpr(False, None, False, terms)
