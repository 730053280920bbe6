"""Every option of a guided forest, validated once, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from odrf.checks import checked_jobs, checked_seed, checked_truth, checked_whole
from odrf.engine.guided.guided_settings import GuidedSettings
from odrf.errors import InputError, allowed

__all__ = ["GuidedControl", "resolve_guided"]

DATA, REGION = "data", "region"
# From so many predictors on a matrix product is faster than a look at the regions one by one.
MANY = 30


@dataclass(frozen=True)
class GuidedControl:
    """The options of a guided forest as they were used.

    Attributes
    ----------
    kind : str
        ``"regression"`` or ``"classification"``.
    n_classes : int
        K; 1 for a regression.
    n_trees : int
    subspace : int
        M, predictors that a tree uses.
    subspace_rule : str
        How M came about: its rule, or ``"fixed"``.
    trials : int
        Planes to choose from at each step.
    min_split : int
    origin : str
        ``"data"`` or ``"region"``.
    batched : bool
    seed : int
        Repeats the fit.
    n_jobs : int
        Threads.
    """

    kind: str
    n_classes: int
    n_trees: int
    subspace: int
    subspace_rule: str
    trials: int
    min_split: int
    origin: str
    batched: bool
    seed: int
    n_jobs: int

    def settings(self) -> GuidedSettings:
        """Return the options of growth as the engine reads them."""
        return GuidedSettings(
            n_classes=self.n_classes,
            subspace=self.subspace,
            trials=self.trials,
            min_split=self.min_split,
            from_region=self.origin == REGION,
            batched=self.batched,
        )


def resolve_guided(
    options: Mapping[str, Any], *, kind: str, P: int, n_classes: int
) -> GuidedControl:
    """Validate the raw `options` of a call and resolve those that depend on the data.

    Parameters
    ----------
    options : mapping
        Every argument of `odrf.graf` that concerns growth, under its public name.
    kind : {"regression", "classification"}
    P, n_classes : int
        Predictors and classes (1 for a regression) of the data.

    Raises
    ------
    InputError
        Naming the argument at fault and what it may be.
    """
    subspace, rule = _subspace(options["subspace"], P)
    trials, origin = options["trials"], options["origin"]
    if origin not in (DATA, REGION):
        raise allowed("origin", origin, (DATA, REGION))
    return GuidedControl(
        kind=kind,
        n_classes=n_classes,
        n_trees=checked_whole("n_trees", options["n_trees"], 1),
        subspace=subspace,
        subspace_rule=rule,
        trials=subspace if trials is None else checked_whole("trials", trials, 1),
        min_split=checked_whole("min_split", options["min_split"], 2),
        origin=origin,
        batched=_batched(options["batched"], subspace),
        seed=checked_seed(options["seed"]),
        n_jobs=checked_jobs(options["n_jobs"]),
    )


def _subspace(value: Any, P: int) -> tuple[int, str]:
    """Return how many of P predictors a tree uses, and by which rule."""
    sizes = {
        "sqrt": math.ceil(math.sqrt(P)),
        "log2": max(1, math.ceil(math.log2(P))),
        "half": math.ceil(P / 2),
        "all": P,
    }
    if isinstance(value, str):
        if value not in sizes:
            names = ", ".join(f'"{name}"' for name in sizes)
            raise InputError(f"subspace={value!r}: use one of {names}, or a whole number")
        return sizes[value], value
    size = checked_whole("subspace", value, 1)
    if size > P:
        raise InputError(
            f"subspace={size} is above the number of predictors, {P}: "
            f'use "all" or a whole number from 1 to {P}'
        )
    return size, "fixed"


def _batched(value: Any, subspace: int) -> bool:
    if isinstance(value, str):
        if value != "auto":
            raise InputError(f'batched={value!r}: use "auto", True or False')
        return subspace >= MANY
    return checked_truth("batched", value)
