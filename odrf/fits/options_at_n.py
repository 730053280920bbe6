"""The options of a fit that depend on the number of rows, at a larger one."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

from odrf.engine.rows.sampling import Batch
from odrf.fits.fit import Request
from odrf.options.control import Control
from odrf.options.sizes import complexity_parameter, leaf_limit, rate_along, row_share, rule_along
from odrf.pruning.rates import LEAF_RATES

__all__ = ["at_rows", "settled_at"]


def at_rows(control: Control, request: Request, before: int, n: int) -> Control:
    """Return the options of trees on n rows, `before` of which they knew until now.

    Rules in n, of t_n, α_n and the share of the rows that a tree draws, are asked again.  A rate
    whose constant was found keeps the constant.

    Raises
    ------
    InputError
        If a rule gives what it must not, or cannot be found again.
    """
    rules = {name: rule.function for name, rule in request.rules.items()}
    changes: dict[str, Any] = {}
    fraction = control.batches[-1].fraction if control.batches else control.sample_fraction
    if "max_leaves" in rules:
        leaves, words = leaf_limit(rules["max_leaves"], n, False)
        along = rule_along(rules["max_leaves"], n)
        changes |= {"max_leaves": leaves, "max_leaves_rule": words, "max_leaves_along": along}
    elif request.options["max_leaves"] in LEAF_RATES:
        rate = LEAF_RATES[request.options["max_leaves"]]
        constant = control.max_leaves_along[0] / rate(before)
        along = rate_along(constant, rate, n)
        changes |= {"max_leaves": max(1, round(along[0])), "max_leaves_along": along}
    if "alpha" in rules:
        alpha, words = complexity_parameter(rules["alpha"], n, False)
        along = rule_along(rules["alpha"], n)
        changes |= {"alpha": alpha, "alpha_rule": words, "alpha_along": along}
    if "sample_fraction" in rules:
        fraction = row_share(rules["sample_fraction"], n)
    return replace(control, batches=(*control.batches, Batch(before, fraction)), **changes)


def settled_at(request: Request, control: Control) -> Request:
    """Return the request with what its rules give for the rows that `control` is for."""
    given = {name: getattr(control, name) for name in request.rules}
    return replace(request, options=request.options | given)
