"""Where guided forests evaluate their planes: on the processor, or on a graphics card by CUDA."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from odrf.engine.guided.device import Device, running_sums
from odrf.errors import InputError, installing

__all__ = ["CPU", "CUDA", "device_for", "device_if_there", "device_of"]

CPU, CUDA = "cpu", "cuda"

# The libraries whose arrays can be on a device, the first that is there being used; and what each
# calls the device.
LIBRARIES = {"cupy": None, "torch": CUDA}
NAMES = {"cupy": "CuPy", "torch": "PyTorch"}
INSTEAD = f'or leave device="{CPU}"'


def device_for(name: str) -> Device | None:
    """Return the device of a name; None for the processor.

    Raises
    ------
    InputError
        If there is no such device, or no library for it.  The message says what to install.
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
