"""How every kernel of the engine is compiled."""

from __future__ import annotations

from numba import njit

__all__ = ["inlined", "kernel"]

# Compiled once per machine (cache), free of the interpreter lock, dividing as IEEE 754 does
# instead of raising, and without the C wrapper that nothing here calls.
OPTIONS = {"cache": True, "nogil": True, "error_model": "numpy", "no_cfunc_wrapper": True}

kernel = njit(**OPTIONS)

# For a step with one caller: merged into it before compilation, which spares LLVM from
# optimising the same code once on its own and again inside each of its callers.
inlined = njit(inline="always", **OPTIONS)
