"""The options of a forest that is grown for standard errors."""

from __future__ import annotations

from typing import Any

import numpy as np

from odrf.checks import checked_truth
from odrf.errors import InputError
from odrf.options.request import Request

__all__ = ["for_inference"]

# What other options must be, and why.
NEEDED: dict[str, tuple[Any, str]] = {
    "blend": (False, "the shares of the kinds of trees depend on the sample"),
    "resample": ("subsample", "the jackknife is too large for bootstraps"),
    "split_scale": ("response", "another scale depends on the sample"),
}
# The smaller the share, the less the jackknife exceeds the variance, and the fewer trees it needs;
# the forest's bias grows (``benchmarks/inference/effects_coverage.py``).
SHARE = 0.3


def for_inference(request: Request) -> Request:
    """Return the request of a forest whose standard errors are right, if it asks for one.

    With ``inference=True`` all trees are of one kind, each on 30 % of the rows, drawn without
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
        given = getattr(request, name)
        # an array is neither equal nor unequal as a whole
        same = isinstance(given, str | bool | np.bool_) and given == value
        if name in request.given and not same:
            raise InputError(
                f"{name}={given!r} with inference=True, which needs "
                f"{name}={value!r}, because {reason}: leave out one of the two"
            )
        changes[name] = value
    if "sample_fraction" not in request.given:
        changes["sample_fraction"] = SHARE
    return request.giving(**changes)
