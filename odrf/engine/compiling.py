"""How every kernel of the engine is compiled."""

from __future__ import annotations

import gc
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import wraps
from typing import Any

import numpy as np
from numba import njit, typeof
from numba._dispatcher import compute_fingerprint
from numba.core.caching import FunctionCache

from odrf.engine.announcing import announce_compilation
from odrf.engine.linked_functions import PartCache, PartCompiler
from odrf.engine.machine_code import CodeOnDisk

__all__ = [
    "MERGED",
    "NO",
    "ONE",
    "YES",
    "ZERO",
    "allocating",
    "compiled_at_ease",
    "inlined",
    "kernel",
    "merged",
    "name_of_types",
    "of_these_types",
    "part",
    "summing",
]

# Kernels run without the interpreter lock and divide as IEEE 754 does instead of raising.  They
# have no C wrapper, which nothing here calls, and no reference counting of arrays, which cost a
# quarter of the time: so a kernel must not return an array to Python, nor to a kernel that counts
# references.
OPTIONS = {
    "nogil": True,
    "error_model": "numpy",
    "no_cfunc_wrapper": True,
    "_nrt": False,
}


def _compiler(**options: Any) -> Callable[[Callable[..., Any]], Any]:
    """Return a decorator that compiles with these options of Numba."""
    decorate = njit(**options)

    def compiled(function: Callable[..., Any]) -> Any:
        dispatcher = decorate(function)
        if dispatcher is function:  # NUMBA_DISABLE_JIT
            return _silent(function)
        files = PartCache if "pipeline_class" in options else FunctionCache
        dispatcher._cache = CodeOnDisk(function, files)
        return dispatcher

    return compiled


def _silent(function: Callable[..., Any]) -> Callable[..., Any]:
    """Return a function that is not compiled, whose arithmetic warns as little as compiled code."""

    @wraps(function)
    def called(*args: Any) -> Any:
        with np.errstate(all="ignore"):
            return function(*args)

    return called


kernel = _compiler(**OPTIONS)

# Numba gives a literal number a type of its own and compiles the called function once more for it.
# So arguments of kernels start from these.
ZERO, ONE = np.int64(0), np.int64(1)
NO, YES = np.bool_(False), np.bool_(True)

# For a kernel that allocates arrays.
allocating = _compiler(**{**OPTIONS, "_nrt": True})

# For functions that only kernels call: without machine code of their own, and without the wrapper
# for calls from Python, whose unpacking of tuples of arrays can take longer to compile than the
# function itself.
PART = {**OPTIONS, "no_cpython_wrapper": True, "pipeline_class": PartCompiler}
part = _compiler(**PART)

# For a function with one caller, or a few lines: merged into it before compilation, so that LLVM
# does not optimise the same code twice, on its own and inside the caller.
inlined = _compiler(inline="always", **OPTIONS)

# For an overload that LLVM must merge into its caller.  A call copies all arrays of its arguments,
# of which the search has hundreds; whether LLVM merges on its own changes with every line.
MERGED = {**PART, "forceinline": True}

# The same for a function that only kernels call, where its branches on None must be compiled away.
merged = _compiler(**MERGED)

# For a sum whose terms may be added in any order, so that LLVM may use SIMD lanes.  Never for a
# projection: training and prediction must add it up in the same order.
summing = _compiler(fastmath={"reassoc", "nsz"}, **PART)


@contextmanager
def compiled_at_ease(function: Any) -> Iterator[None]:
    """Pause the garbage collector while a process compiles `function` for the first time.

    The compiler builds millions of objects that live on.  Scanning them again and again would take
    a fifth of the compilation time.  If no process of this machine has compiled the function yet,
    a line on stderr says what takes so long.
    """
    # without a compiler, by NUMBA_DISABLE_JIT, a function has no overloads
    first = not getattr(function, "overloads", True)
    if first:
        announce_compilation(function)
    pause = gc.isenabled() and first
    if pause:
        gc.disable()
    try:
        yield
    finally:
        if pause:
            gc.enable()


# What calls a kernel with arguments of some types, by the kernel and a short name of these types.
_entry_points: dict[tuple[Any, bytes], Any] = {}


def name_of_types(arguments: tuple[Any, ...]) -> bytes:
    """Return a short name of the types of the arguments.

    To ask Numba for the types takes as long as a small tree, and holds the interpreter lock.
    """
    return bytes(compute_fingerprint(arguments))


def of_these_types(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return what calls a kernel with arguments of the same types as these, which it has had.

    Each call of a kernel asks for the types of all its arguments.  For a hundred arrays in tuples
    that takes ten times as long as to hand them over.  Other types are not noticed: so this is only
    for arrays that are kept.
    """
    if not hasattr(function, "overloads"):  # without a compiler, by NUMBA_DISABLE_JIT
        return function
    key = function, name_of_types(arguments)
    entry_point = _entry_points.get(key)
    if entry_point is None:
        compiled = function.overloads.get(tuple(map(typeof, arguments)))
        if compiled is None:
            return function
        entry_point = _entry_points[key] = compiled.entry_point
    return entry_point
