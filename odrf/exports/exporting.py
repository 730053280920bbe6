"""What users ask of an export, checked; then the fit described, and written."""

from __future__ import annotations

from importlib import import_module
from keyword import iskeyword
from typing import Any

from odrf.checks import checked_choice, checked_truth, checked_whole
from odrf.errors import InputError, installing
from odrf.exports.c_text import c_text
from odrf.exports.describing import description_of
from odrf.exports.dot_text import dot_text
from odrf.exports.python_text import python_text
from odrf.exports.sql_dialects import DIALECTS
from odrf.exports.sql_text import sql_text
from odrf.fits.fit import AnyFit
from odrf.fits.predicting import require_classes

__all__ = ["exported_c", "exported_dot", "exported_onnx", "exported_python", "exported_sql"]

ROW_TYPES = ("response", "class", "prob")
SQL_TYPES = (*ROW_TYPES, "leaf")


def exported_sql(fit: AnyFit, dialect: Any, type: Any, complete: Any) -> str:
    """Return a tree as an expression of SQL; see `odrf.ODTResults.to_sql`."""
    checked_choice("dialect", dialect, DIALECTS)
    checked_choice("type", type, SQL_TYPES)
    require_classes(fit.design.response, type)
    if fit.forest.surrogates is not None:
        raise InputError(
            "to_sql() does not know surrogates, which would repeat large parts of the tree: use "
            'to_python() or to_c(), or fit with missing="split"'
        )
    return sql_text(description_of(fit), type, dialect, checked_truth("complete", complete))


def exported_python(fit: AnyFit, type: Any, name: Any) -> str:
    """Return the source of a function in Python; see `odrf.ODTResults.to_python`."""
    checked_choice("type", type, ROW_TYPES)
    require_classes(fit.design.response, type)
    return python_text(description_of(fit), type, _checked_name(name))


def exported_c(fit: AnyFit, type: Any, name: Any) -> str:
    """Return the source of a function in C; see `odrf.ODTResults.to_c`."""
    checked_choice("type", type, ROW_TYPES)
    require_classes(fit.design.response, type)
    return c_text(description_of(fit), type, _checked_name(name))


def exported_dot(fit: AnyFit, max_terms: Any, digits: Any) -> str:
    """Return a tree in the language of Graphviz; see `odrf.ODTResults.to_dot`."""
    if max_terms is not None:
        max_terms = checked_whole("max_terms", max_terms, 1)
    return dot_text(fit.forest, fit.design, max_terms, checked_whole("digits", digits, 1))


def exported_onnx(fit: AnyFit) -> Any:
    """Return trees as a model of ONNX; see `odrf.ODTResults.to_onnx`."""
    try:
        models = import_module("odrf.exports.onnx_model")
    except ModuleNotFoundError as error:
        raise InputError(
            f"to_onnx() needs {error.name}: install it with {installing('onnx')}"
        ) from error
    return models.onnx_model(description_of(fit))


def _checked_name(name: Any) -> str:
    """Return the name of a function; raise `InputError` if it is none in C or Python."""
    if isinstance(name, str) and name.isidentifier() and name.isascii() and not iskeyword(name):
        return name
    raise InputError(
        f'name={name!r}: use letters, digits and "_", and no keyword of Python, such as "predict"'
    )
