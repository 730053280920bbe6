"""From the arguments of `odt` and `odrf` to the request for growth."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from odrf.api.calling import DESIGN_ARGUMENTS, is_default
from odrf.options.request import Request, request_of
from odrf.options.tree import for_inference
from odrf.projections.mixture import without_share

__all__ = ["TREE", "requested"]

TREE = {
    "n_trees": 1,
    "resample": "none",
    "sample_fraction": "auto",
    "blend": False,
}
"""The options of a forest that a tree does not have, where `Request` has no default for a tree."""


def requested(
    function: Callable[..., Any], options: Mapping[str, Any], fixed: Mapping[str, Any]
) -> Request:
    """Return the request for growth: the `options` of the call, and options that are `fixed`."""
    options = {**options, "projection": without_share(options["projection"])}
    given = {name for name, value in options.items() if not is_default(function, name, value)}
    asked = request_of({**options, **fixed}, frozenset(given.difference(DESIGN_ARGUMENTS)))
    return for_inference(asked)
