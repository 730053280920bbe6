"""The options of a forest that is grown for standard errors."""

from __future__ import annotations

from typing import Any

from odrf.checks import checked_truth
from odrf.errors import InputError
from odrf.options.request import Request

__all__ = ["for_inference"]

# What standard errors need, and the values of the options that have the same meaning.
NEEDED: dict[str, tuple[Any, str]] = {
    "blend": (False, "the shares of the kinds of trees depend on the sample"),
    "resample": ("subsample", "the jackknife is too large for bootstraps"),
}
# Half of the rows, so that every tree leaves out as many rows as it draws.
SHARE = 0.5


def for_inference(request: Request) -> Request:
    """Return the request of a forest whose standard errors are right, if it asks for one.

    With ``inference=True`` all trees are of one kind, each on half of the rows, drawn without
    replacement, unless `sample_fraction` is given.

    Raises
    ------
    InputError
        `inference` is neither True nor False, or another option is given that contradicts it.
    """
    if not checked_truth("inference", request.inference):
        return request
    changes: dict[str, Any] = {}
    for name, (value, reason) in NEEDED.items():
        if name in request.given and getattr(request, name) != value:
            raise InputError(
                f"{name}={getattr(request, name)!r} with inference=True, which needs "
                f"{name}={value!r}, because {reason}: leave out one of the two"
            )
        changes[name] = value
    if "sample_fraction" not in request.given:
        changes["sample_fraction"] = SHARE
    return request.giving(**changes)
