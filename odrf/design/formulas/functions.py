"""Functions that a formula may use without importing them, as in R."""

from __future__ import annotations

import ast
import math
from typing import Any

import numpy as np
import patsy.builtins
from patsy import EvalEnvironment

from odrf.design.columns.censored import Surv
from odrf.design.formulas.bases import bs, poly

__all__ = ["ELSEWHERE", "FUNCTIONS", "as_meant_in_r", "users_names"]

_ELEMENTWISE = (
    *(np.exp, np.expm1, np.log, np.log10, np.log1p, np.log2, np.sqrt),
    *(np.cos, np.sin, np.tan, np.ceil, np.floor),
)

FUNCTIONS: dict[str, Any] = {
    "np": np,
    "bs": bs,
    "poly": poly,
    "factor": patsy.builtins.C,
    "Surv": Surv,
    **{function.__name__: function for function in _ELEMENTWISE},
}
"""Beside these, patsy's are known: C, I, Q, center, scale, standardize, cr, cc, te."""

ELSEWHERE: dict[str, str] = {
    "strata": "name the column in the argument strata=",
    **dict.fromkeys(("cluster", "frailty"), "name the column in the argument groups="),
    "offset": "name the column in the argument offset= of odbt()",
    **dict.fromkeys(("s", "ti", "pspline"), "trees need no smooth terms: write the column alone"),
    **dict.fromkeys(("ns", "rcs"), "write cr(…), a natural cubic spline"),
    **dict.fromkeys(("Hist", "Event"), "write Surv(…)"),
    **dict.fromkeys(("cbind", "mvbind"), "fit one model for each response"),
}
"""What to write in place of functions that formulas of R have: survival, mgcv, rms, prodlim."""


def users_names(names: set[str], env: EvalEnvironment) -> dict[str, Any]:
    """Return the values of those `names` that are defined in the user's environment.

    The user's functions come before `FUNCTIONS`, with three exceptions: functions of ``math``,
    which do not accept columns, patsy's ``bs``, which does not accept new data outside its knots,
    and ``Surv``, a name that other packages have, too.
    """
    defined = {name: env.namespace[name] for name in names if name in env.namespace}
    return {
        name: value
        for name, value in defined.items()
        if name != "Surv" and not (name in FUNCTIONS and _narrower(name, value))
    }


def _narrower(name: str, value: object) -> bool:
    return any(value is getattr(module, name, None) for module in (math, patsy.builtins))


def as_meant_in_r(code: str) -> str | None:
    """Return how to write an expression that fails here and means something in R; else None."""
    tree = ast.parse(code, mode="eval").body
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    if any(
        ast.unparse(call.func) in ("log", "np.log") and len(call.args) + len(call.keywords) > 1
        for call in calls
    ):
        return "log() takes no base: write log2(x), log10(x) or log(x)/log(2)"
    if isinstance(tree, ast.BinOp) and isinstance(tree.op, ast.BitOr):
        return (
            "'|' is a logical or, of columns of True and False: to add a predictor write '+'; to "
            "name the column of subjects use groups="
        )
    return None
