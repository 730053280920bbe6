"""The options of a guided forest, resolved for the data at hand, and frozen."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.checks import (
    MOST,
    Seed,
    checked_choice,
    checked_jobs,
    checked_seed,
    checked_switch,
    checked_whole,
)
from odrf.design import Design
from odrf.engine.guided.device import Device, running_sums
from odrf.engine.kernel_params import GuidedKernelParams
from odrf.errors import InputError, installing, nearest
from odrf.options import words

# Where guided forests evaluate their planes: on the processor, or on a graphics card by CUDA.
CPU, CUDA = "cpu", "cuda"

# The libraries whose arrays can be on a device, the first that is there being used; and what each
# calls the device.
LIBRARIES = {"cupy": None, "torch": CUDA}
NAMES = {"cupy": "CuPy", "torch": "PyTorch"}
INSTEAD = f'or leave device="{CPU}"'


def device_for(name: str) -> Device | None:
    """Return the device of a name; None for the processor.

    Raises `InputError`, which says what to install, if there is no such device, or no library for
    it.
    """
    if name == CPU:
        return None
    try:
        import_module("array_api_compat")
    except ImportError as error:
        raise InputError(
            f'device="{CUDA}" needs array-api-compat: install it with {installing("cuda")}, '
            f"{INSTEAD}"
        ) from error
    return device_of(_library())


def device_of(library: str) -> Device:
    """Return the device with arrays of one of `LIBRARIES`, which is installed and finds one."""
    compat = import_module("array_api_compat")
    xp = import_module(f"array_api_compat.{library}")

    def fetched(array: Any) -> NDArray:
        return np.asarray(compat.to_device(array, CPU))

    return Device(xp, LIBRARIES[library], fetched, _summation())


def device_if_there(name: str) -> Device | None:
    """Return the device of a name; None for the processor, and where there is no such device.

    So a fit that was grown on a device can grow other trees on any machine, after it is loaded.
    """
    try:
        return device_for(name)
    except InputError:
        return None


def _library() -> str:
    """Return the name of a library that is installed and finds a device."""
    installed = []
    for name in LIBRARIES:
        try:
            library = import_module(name)
        except ImportError:
            continue
        if library.cuda.is_available():
            return name
        installed.append(NAMES[name])
    if installed:
        raise InputError(
            f'device="{CUDA}": {" and ".join(installed)} found no device for CUDA here.  '
            f'Use device="{CPU}"'
        )
    raise InputError(
        f'device="{CUDA}" needs CuPy or PyTorch: install CuPy with {installing("cuda")}, {INSTEAD}'
    )


def _summation() -> Any:
    """Return our kernel where Numba can compile it for the device; else running sums.

    Both give the same sums.
    """
    try:
        compiles = import_module("numba.cuda").is_available()
    except (AttributeError, ImportError):  # as of numba-cuda 0.30 beside NumPy 2.5
        return running_sums
    if not compiles:
        return running_sums
    return import_module("odrf.engine.guided.cuda").sums_by_blocks


DATA, REGION = "data", "region"
# From this subspace on, a matrix product is faster than evaluating planes region by region.
BATCHED_SUBSPACE = 30


@dataclass(frozen=True)
class GuidedOptions:
    """The arguments of `odrf.graf` that concern growth, as the user gave them."""

    n_trees: int = 100
    subspace: words.Subspace = "sqrt"
    trials: int | None = None
    min_split: int = 2
    origin: words.Origin = "data"
    batched: words.Switch = "auto"
    device: words.DeviceName = "cpu"
    seed: Seed = None
    n_jobs: int | None = None

    def checked(self) -> GuidedOptions:
        """Return the options after the checks that need no data; raise `InputError` for others."""
        trials = self.trials
        return replace(
            self,
            n_trees=checked_whole("n_trees", self.n_trees, 1, MOST),
            trials=None if trials is None else checked_whole("trials", trials, 1, MOST),
            min_split=checked_whole("min_split", self.min_split, 2),
            origin=checked_choice("origin", self.origin, (DATA, REGION)),
            batched=checked_switch("batched", self.batched),
            device=checked_choice("device", self.device, (CPU, CUDA)),
        )


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
    device: words.DeviceName = "cpu"

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
    def origin(self) -> words.Origin:
        """``"data"`` or ``"region"``."""
        return "region" if self.settings.from_region else "data"

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


def resolve_guided(options: GuidedOptions, design: Design) -> ResolvedGuidedOptions:
    """Resolve the options of a call of `odrf.graf`, which are checked, for a design.

    Raises `InputError`, which names the option and says what to use, if one is invalid.
    """
    subspace, rule = _subspace(options.subspace, len(design.predictors))
    batched, device = options.batched, options.device
    if device_for(device) is not None:
        if batched is False:
            raise InputError(
                f'device="{device}" evaluates planes together: leave out batched=False'
            )
        batched = True
    settings = GuidedKernelParams(
        n_classes=design.response.n_classes,
        subspace=subspace,
        trials=subspace if options.trials is None else options.trials,
        min_split=options.min_split,
        from_region=options.origin == REGION,
        batched=subspace >= BATCHED_SUBSPACE if isinstance(batched, str) else batched,
    )
    return ResolvedGuidedOptions(
        kind=design.response.kind,
        n_trees=options.n_trees,
        settings=settings,
        subspace_rule=rule,
        seed=checked_seed(options.seed),
        n_jobs=checked_jobs(options.n_jobs),
        device=device,
    )


def _subspace(value: words.Subspace, P: int) -> tuple[int, str]:
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
