"""How every kernel of the engine is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import numpy as np
from numba import njit

__all__ = [
    "ONE",
    "ZERO",
    "allocating",
    "compiled_at_ease",
    "inlined",
    "kernel",
    "part",
    "summing",
]

# Compiled once per machine (cache), free of the interpreter lock, dividing as IEEE 754 does
# instead of raising, without the C wrapper that nothing here calls, and without the runtime that
# allocates arrays and counts who holds them: counting cost a quarter of the time.  So a kernel
# must not return an array to one that counts, nor to Python.
OPTIONS = {
    "cache": True,
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}

kernel = njit(**OPTIONS)

# A whole number written out is a type of its own to Numba, and what it is passed to is compiled
# once more for it; what is passed on starts from these.
ZERO, ONE = np.int64(0), np.int64(1)

# For a kernel that makes arrays.
allocating = njit(**{**OPTIONS, "_nrt": True})

# For what kernels alone call: without the wrapper through which Python would, whose unpacking
# of tuples of arrays can take longer to compile than the function.
part = njit(no_cpython_wrapper=True, **OPTIONS)

# For a step with one caller: merged into it before compilation, which spares LLVM from
# optimising the same code once on its own and again inside each of its callers.
inlined = njit(inline="always", **OPTIONS)

# For a sum whose order is free: LLVM may add in SIMD lanes.  Never for a projection, which
# training and prediction must add up alike.
summing = njit(fastmath={"reassoc", "nsz"}, no_cpython_wrapper=True, **OPTIONS)


@contextmanager
def compiled_at_ease(function: Any) -> Iterator[None]:
    """Pause the garbage collector while a process compiles `function` for the first time.

    The compiler builds millions of objects that stay; walking them again and again takes a
    fifth of its time.
    """
    pause = gc.isenabled() and not function.signatures
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()
