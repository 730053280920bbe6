"""How every kernel of the engine is compiled."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from numba import njit

__all__ = ["compiled_at_ease", "extremal", "inlined", "kernel", "part", "summing"]

# Compiled once per machine (cache), free of the interpreter lock, dividing as IEEE 754 does
# instead of raising, and without the C wrapper that nothing here calls.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

kernel = njit(**OPTIONS)

# For what kernels alone call: without the wrapper through which Python would, whose unpacking
# of tuples of arrays can take longer to compile than the function.
part = njit(no_cpython_wrapper=True, **OPTIONS)

# For a step with one caller: merged into it before compilation, which spares LLVM from
# optimising the same code once on its own and again inside each of its callers.
inlined = njit(inline="always", **OPTIONS)

# For a sum whose order is free: LLVM may add in SIMD lanes.  Never for a projection, which
# training and prediction must add up alike.
summing = njit(fastmath={"reassoc", "nsz"}, no_cpython_wrapper=True, **OPTIONS)

# For the extremes of numbers without NaN, likewise in lanes.
extremal = njit(fastmath={"nnan", "nsz"}, no_cpython_wrapper=True, **OPTIONS)


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
