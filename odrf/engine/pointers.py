"""Calls of functions by their address: kernels are not compiled anew for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from numba import config, types
from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.extending import intrinsic

__all__ = ["address_of", "proposed_at"]

VECTOR, MATRIX = types.Array(types.float64, 1, "C"), types.Array(types.float64, 2, "C")
PLACES, COEFFICIENTS = types.Array(types.int64, 1, "C"), types.Array(types.float32, 1, "C")
STATE = types.Array(types.uint64, 1, "C")
# Of a function (X, y, weights, m, state, columns, theta) that returns a size.
ARGUMENTS = (MATRIX, VECTOR, VECTOR, types.int64, STATE, PLACES, COEFFICIENTS)


def address_of(function: Any) -> Any:
    """Compile a function of `ARGUMENTS` and return its address; itself if nothing is compiled.

    The address is good as long as the function lives.
    """
    if not isinstance(function, Dispatcher):
        return function
    function.compile(ARGUMENTS)
    result = function.overloads[ARGUMENTS]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


def _generate(context: Any, builder: Any, signature: Any, values: Any) -> Any:
    """Write the call, and hand on what the function raises."""
    kinds, convention = signature.args[1:], context.call_conv
    kind = convention.get_function_type(signature.return_type, kinds)
    pointer = builder.inttoptr(values[0], kind.as_pointer())
    status, result = convention.call_function(
        builder, pointer, signature.return_type, kinds, values[1:]
    )
    with cgutils.if_unlikely(builder, status.is_error):
        convention.return_status_propagate(builder, status)
    return result


@intrinsic
def _proposed_at(typing, address, X, y, weights, m, state, columns, theta):
    if (X, y, weights, m, state, columns, theta) != ARGUMENTS:
        return None
    return types.int64(types.int64, *ARGUMENTS), _generate


def _proposed_by(function: Callable[..., int], *arguments: Any) -> int:
    return function(*arguments)


# The size that the function at an address returns.
proposed_at: Any = _proposed_by if config.DISABLE_JIT else _proposed_at
