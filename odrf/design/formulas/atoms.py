"""The atoms of a formula: a column of the data, or an expression to evaluate."""

from __future__ import annotations

import ast
import builtins
import re
from collections.abc import Collection
from dataclasses import dataclass, field

import patsy.builtins
from patsy import EvalEnvironment, PatsyError

from odrf.design.formulas.functions import ELSEWHERE, FUNCTIONS
from odrf.design.formulas.spelling import DOT, readable
from odrf.errors import nearest

__all__ = ["Atom", "Column", "Expression", "read_atom"]


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
    """Python code over columns of the data.

    Attributes
    ----------
    code : str
        The code, in patsy's normal spacing; two expressions are the same if it is.
    columns : tuple of str
        The columns of the data it uses.
    """

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
    """Read one atom of a formula.

    Parameters
    ----------
    code : str
        Python code, in patsy's normal spacing.
    columns : collection of str
        Names of the data's columns.
    env : patsy.EvalEnvironment
        The user's environment, where other names are looked up.

    Raises
    ------
    PatsyError
        The code is not Python, a name is unknown, or no column is used.
    """
    if code.startswith(f"{PACKAGE}Surv("):
        code = code.removeprefix(PACKAGE)
    try:
        tree = ast.parse(code, mode="eval").body
    except SyntaxError as error:
        raise PatsyError(f"not a Python expression ({error.msg}){_way_out(code)}") from None
    name = _single_name(tree)
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


def _single_name(tree: ast.expr) -> str | None:
    return tree.id if isinstance(tree, ast.Name) else _quoted_name(tree)


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
