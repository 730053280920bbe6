"""Whether the names and the formula of a design from a file are those of its columns and code.

A design says in several places how a column is called, and its formula is code again when somebody
fits by it.
"""

from __future__ import annotations

import re

from patsy import EvalEnvironment

from odrf.design.design import Design, TrainingData
from odrf.design.evaluation import Evaluation
from odrf.design.formula import Expression, Formula, names_in, read_formula
from odrf.design.trusted import UNTRUSTED, untrusted_part
from odrf.errors import InputError, without_warnings

__all__ = ["require_names_of_design", "require_names_of_rows", "require_trusted_formula"]


def require_names_of_design(design: Design) -> None:
    """Raise `InputError` unless all that a design is computed from are columns, named alike."""
    known = set(design.schema.columns)
    recipe, response = design.recipe, design.response
    sound = len(known) == len(design.schema.columns) and known.issuperset(design.fills)
    for variable in recipe.variables:
        code = variable.evaluation
        sound &= known.issuperset(variable.columns)
        sound &= code is None or variable.name == code.expression.name
    named = [":".join(recipe.variables[v].name for v in term) for term in recipe.terms]
    sound &= list(recipe.names) == named
    if not (response.imitated or response.less or response.of_events or response.causes):
        code = response.evaluation
        named_by = response.columns if code is None else (code.expression.name,)
        sound &= (response.name,) == named_by
        sound &= code is None or response.columns == code.expression.columns
    if not sound:
        raise InputError("its names do not fit together: use a copy, or fit again")


def require_names_of_rows(design: Design, data: TrainingData) -> None:
    """Raise `InputError` unless what is kept of the training rows are columns of the design."""
    if data.kept is not None and not set(data.kept.columns) <= set(design.schema.columns):
        raise InputError("its names do not fit together: use a copy, or fit again")


def require_trusted_formula(design: Design) -> None:
    """Raise `InputError` if the formula has code that is neither that of the terms nor trusted.

    The code of the terms has been checked.  Names that the file does not know are columns that the
    formula leaves out, such as ``id`` in ``y ~ . - id``: they have no values that could run.
    """
    variables = [variable.evaluation for variable in design.recipe.variables]
    evaluations = [each for each in (design.response.evaluation, *variables) if each is not None]
    columns = [*design.schema.columns, *design.response.columns]
    formula = _read(design.formula, columns)
    given = {name for evaluation in evaluations for name in evaluation.given}
    for atom in (formula.response, *(atom for term in formula.terms for atom in term)):
        if not isinstance(atom, Expression) or _is_checked(atom, evaluations):
            continue
        part = untrusted_part(atom.code, columns, {}, given)
        if part is not None:
            raise InputError(
                f"{atom.name!r} in its formula uses {part!r}, {UNTRUSTED}, and is none of its "
                "terms: load(path, trusted=True) lets fits by this formula run it; use that only "
                "for a file that you trust"
            )


def _is_checked(atom: Expression, evaluations: list[Evaluation]) -> bool:
    return any(evaluation.expression == atom for evaluation in evaluations)


def _read(formula: str, columns: list[str]) -> Formula:
    """Return the formula, read where every name in it is known."""
    names = names_in(formula)
    functions = dict.fromkeys(re.findall(r"\w+", formula))
    try:
        with without_warnings():
            return read_formula(
                formula, [*dict.fromkeys([*columns, *names])], EvalEnvironment([functions])
            )
    except InputError:
        raise InputError("its formula was never one: use a copy, or fit again") from None
