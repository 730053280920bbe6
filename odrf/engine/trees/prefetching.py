"""Tell the processor to load memory into its cache before it is needed."""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import config, types
from numba.extending import intrinsic

__all__ = ["prefetch"]

# Arguments of LLVM's prefetch: for reading, to be kept in every cache, data rather than code.
READ, KEEP, DATA = 0, 3, 1


@intrinsic
def _prefetch(typing_context: Any, array: Any, index: Any) -> Any:
    """Start loading the memory around array[index] without waiting; any index is allowed."""

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        data = context.make_array(array)(context, builder, values[0]).data
        place = builder.bitcast(builder.gep(data, [values[1]]), ir.IntType(8).as_pointer())
        how = ir.IntType(32)
        kind = ir.FunctionType(ir.VoidType(), [place.type, how, how, how])
        function = builder.module.declare_intrinsic("llvm.prefetch", [place.type], kind)
        builder.call(function, [place, how(READ), how(KEEP), how(DATA)])
        return context.get_dummy_value()

    return types.void(array, index), code


def _not_at_all(array: Any, index: Any) -> None:
    """Do nothing, where nothing is compiled."""


prefetch = _not_at_all if config.DISABLE_JIT else _prefetch
