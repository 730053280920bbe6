"""The options of a fit that depend on n, evaluated again when rows are added."""

from __future__ import annotations

from dataclasses import replace

from odrf.engine.resamples import Batch
from odrf.options.request import Request
from odrf.options.sizes import RATE, complexity_parameter, leaf_limit, rate_along, row_share
from odrf.options.tree import Control
from odrf.pruning.growth_stages import LEAF_RATES

__all__ = ["at_rows", "settled_at"]


def at_rows(control: Control, request: Request, before: int, n: int) -> Control:
    """Return the options of trees on n rows, the first `before` of which are not new.

    The functions of n for t_n, α_n and the share of the rows are evaluated at n.  A rate keeps its
    constant.

    Raises
    ------
    InputError
        If a function gives an invalid value, or cannot be restored after loading the fit.
    """
    functions = {name: rule.function for name, rule in request.functions.items()}
    fraction = control.batches[-1].fraction if control.batches else control.sample_fraction
    leaf_rule = control.max_leaves_rule
    if "max_leaves" in functions:
        control = control.with_leaves(*leaf_limit(functions["max_leaves"], n, False))
    elif leaf_rule.kind == RATE and leaf_rule.constant is not None:
        along = rate_along(leaf_rule.constant, LEAF_RATES[leaf_rule.name], n)
        control = control.with_leaves(max(1, round(along[0])), replace(leaf_rule, along=along))
    if "alpha" in functions:
        alpha, alpha_rule = complexity_parameter(functions["alpha"], n, False)
        control = replace(control, alpha=alpha, alpha_rule=alpha_rule)
    if "sample_fraction" in functions:
        fraction, _ = row_share(functions["sample_fraction"], n)
    sampling = control.sampling._replace(later=(*control.batches, Batch(before, fraction)))
    return replace(control, sampling=sampling)


def settled_at(request: Request, control: Control) -> Request:
    """Return the request with the values of its functions that `control` has."""
    return replace(request, **{name: getattr(control, name) for name in request.functions})
