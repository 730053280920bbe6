"""The options of a guided forest, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odrf.checks import checked_whole
from odrf.engine.kernel_params import GuidedKernelParams
from odrf.errors import InputError, nearest
from odrf.options.table import CPU, DATA, REGION, checked_options, device_for

# From this subspace on, a matrix product is faster than evaluating planes region by region.
BATCHED_SUBSPACE = 30


@dataclass(frozen=True)
class ResolvedGuidedOptions:
    """The options of a guided forest, with the values that were used.

    `settings` are the options of growth as the engine reads them.  `subspace_rule` says how M was
    determined: ``"sqrt"``, ``"log2"``, ``"half"``, ``"all"``, or ``"fixed"`` for a number.  Planes
    are evaluated on the `device` ``"cpu"`` or ``"cuda"``.
    """

    kind: str
    n_trees: int
    settings: GuidedKernelParams
    subspace_rule: str
    seed: int
    n_jobs: int
    device: str = CPU

    @property
    def n_classes(self) -> int:
        """K; 1 for a regression."""
        return self.settings.n_classes

    @property
    def subspace(self) -> int:
        """M, the number of predictors that a tree uses."""
        return self.settings.subspace

    @property
    def trials(self) -> int:
        """Candidate planes at each step."""
        return self.settings.trials

    @property
    def min_split(self) -> int:
        """Fewest rows of a region that may be divided."""
        return self.settings.min_split

    @property
    def origin(self) -> str:
        """``"data"`` or ``"region"``."""
        return REGION if self.settings.from_region else DATA

    @property
    def batched(self) -> bool:
        """Whether planes are evaluated by matrix products."""
        return self.settings.batched

    def compared(self) -> list[tuple[str, Any]]:
        """Return the names and values of the options that combined forests must share."""
        settings = self.settings
        return [
            ("kind", self.kind),
            ("n_classes", self.n_classes),
            ("subspace", settings.subspace),
            ("subspace", self.subspace_rule),
            ("trials", settings.trials),
            ("min_split", settings.min_split),
            ("origin", self.origin),
            ("batched", self.batched),
        ]


def resolve_guided(
    options: Mapping[str, Any], *, kind: str, P: int, n_classes: int
) -> ResolvedGuidedOptions:
    """Check the options of a call of `odrf.graf`, and resolve those that depend on the data.

    The data have P predictors and `n_classes` classes (1 for a regression).  Raises `InputError`,
    which names the option and says what to use, if one is invalid.
    """
    options = checked_options("graf", options)
    subspace, rule = _subspace(options["subspace"], P)
    trials, batched, device = options["trials"], options["batched"], options["device"]
    if device_for(device) is not None:
        if batched is False:
            raise InputError(
                f'device="{device}" evaluates planes together: leave out batched=False'
            )
        batched = True
    settings = GuidedKernelParams(
        n_classes=n_classes,
        subspace=subspace,
        trials=subspace if trials is None else trials,
        min_split=options["min_split"],
        from_region=options["origin"] == REGION,
        batched=subspace >= BATCHED_SUBSPACE if isinstance(batched, str) else batched,
    )
    return ResolvedGuidedOptions(
        kind, options["n_trees"], settings, rule, options["seed"], options["n_jobs"], device
    )


def _subspace(value: Any, P: int) -> tuple[int, str]:
    """Return how many of P predictors a tree uses, and the name of the rule."""
    sizes = {
        "sqrt": math.ceil(math.sqrt(P)),
        "log2": max(1, math.ceil(math.log2(P))),
        "half": math.ceil(P / 2),
        "all": P,
    }
    if isinstance(value, str):
        if value not in sizes:
            names = ", ".join(f'"{name}"' for name in sizes)
            hint = nearest(value, sizes)
            raise InputError(f"subspace={value!r}: use one of {names}, or a whole number{hint}")
        return sizes[value], value
    size = checked_whole("subspace", value, 1)
    if size > P:
        raise InputError(
            f"subspace={size} is above the number of predictors, {P}: "
            f'use "all" or a whole number from 1 to {P}'
        )
    return size, "fixed"
