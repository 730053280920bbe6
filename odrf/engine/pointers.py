"""Calls of functions by their address: kernels are not compiled anew for each of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from llvmlite import ir
from numba import config, typeof, types
from numba.core import cgutils
from numba.core.dispatcher import Dispatcher
from numba.core.typeconv import Conversion
from numba.extending import intrinsic

from odrf.engine.compiling import name_of_types

__all__ = [
    "PLACE",
    "ROOM",
    "address_for",
    "address_of",
    "address_within",
    "called_at",
    "called_with",
    "read_tuple",
    "write_tuple",
]

# The type of what `write_tuple` returns, and how many int64 its memory needs.
PLACE, ROOM = types.int64, 1024


def address_of(function: Any, kinds: tuple[Any, ...]) -> Any:
    """Compile a function for these types of arguments and return its address.

    The address is good as long as the function lives.  If nothing is compiled, by
    NUMBA_DISABLE_JIT, it is the function itself.
    """
    if not isinstance(function, Dispatcher):
        return function
    function.compile(kinds)
    result = function.overloads[kinds]
    return int(result.library.get_pointer_to_function(result.fndesc.llvm_func_name))


# Addresses of functions, by the function and a short name of the types of its arguments.
_addresses: dict[tuple[Any, bytes], int] = {}


def address_for(function: Any, arguments: tuple[Any, ...]) -> Any:
    """Return the same for these arguments."""
    if not isinstance(function, Dispatcher):
        return function
    key = function, name_of_types(arguments)
    if key not in _addresses:
        _addresses[key] = address_of(function, tuple(typeof(each) for each in arguments))
    return _addresses[key]


def called_at(result: Any, *kinds: Any) -> Any:
    """Return what calls a function of these types of arguments and result by its address.

    It has two arguments: the address, and a tuple of those of the function.  What the function
    raises is raised.
    """
    if config.DISABLE_JIT:
        return _called_itself
    together = types.Tuple(kinds)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        arguments = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        convention = context.call_conv
        kind = convention.get_function_type(result, kinds)
        pointer = builder.inttoptr(values[0], kind.as_pointer())
        status, returned = convention.call_function(builder, pointer, result, kinds, arguments)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return returned

    @intrinsic
    def call(typing: Any, address: Any, arguments: Any) -> Any:
        fits = [typing.can_convert(*both) for both in zip(arguments, kinds, strict=True)]
        if any(conversion is None or conversion > Conversion.safe for conversion in fits):
            return None
        return result(types.int64, together), code

    return call


def _called_itself(function: Callable[..., Any], arguments: tuple[Any, ...]) -> Any:
    return function(*arguments)


@intrinsic
def _called_with(typing: Any, address: Any, arguments: Any) -> Any:
    kinds = tuple(arguments)

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        unpacked = [builder.extract_value(values[1], i) for i in range(len(kinds))]
        convention = context.call_conv
        pointer = builder.inttoptr(
            values[0], convention.get_function_type(types.none, kinds).as_pointer()
        )
        status, _ = convention.call_function(builder, pointer, types.none, kinds, unpacked)
        with cgutils.if_unlikely(builder, status.is_error):
            convention.return_status_propagate(builder, status)
        return context.get_dummy_value()

    return types.none(types.int64, arguments), code


# Call a kernel that returns nothing by its address, with a tuple of its arguments: these must have
# the types for which the address was made.
called_with: Any = _called_itself if config.DISABLE_JIT else _called_with


def address_within(part: Any, *kinds: Any) -> Any:
    """Return what gives a kernel the address of a function that becomes a part of its own code.

    Its argument is a tuple.  The function is called with the place of such a tuple, from which it
    can `read_tuple`, and with arguments of these types.
    """

    def code(context: Any, builder: Any, signature: Any, values: Any) -> Any:
        compiled = part.overloads[(types.CPointer(signature.args[0]), *kinds)]
        context.active_code_library.add_linking_library(compiled.library)
        function = context.declare_function(builder.module, compiled.fndesc)
        return builder.ptrtoint(function, ir.IntType(64))

    @intrinsic
    def address(typing: Any, values: Any) -> Any:
        part.compile((types.CPointer(values), *kinds))
        return types.int64(values), code

    return address


@intrinsic
def write_tuple(typing: Any, values: Any, memory: Any) -> Any:
    """Write a tuple of numbers, arrays and tuples to the memory (`ROOM`,) int64; return its place.

    Arrays are written without their owners: they must live as long as the tuple is used.
    """

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        value = _without_owners(context, builder, values, arguments[0])
        if context.get_abi_sizeof(value.type) > 8 * ROOM:
            raise MemoryError(f"a tuple of {context.get_abi_sizeof(value.type)} bytes")
        data = context.make_array(memory)(context, builder, arguments[1]).data
        builder.store(value, builder.bitcast(data, value.type.as_pointer()))
        return builder.ptrtoint(data, ir.IntType(64))

    return PLACE(values, memory), code


def _without_owners(context: Any, builder: Any, kind: Any, value: Any) -> Any:
    """Return the value with the owners of its arrays removed: nothing counts references to them."""
    if isinstance(kind, types.Array):
        array = context.make_array(kind)(context, builder, value)
        for field in ("meminfo", "parent"):
            setattr(array, field, cgutils.get_null_value(getattr(array, field).type))
        return array._getvalue()
    if isinstance(kind, types.BaseTuple):
        for i, of_field in enumerate(kind):
            field = builder.extract_value(value, i)
            value = builder.insert_value(
                value, _without_owners(context, builder, of_field, field), i
            )
    return value


@intrinsic
def _read_tuple(typing: Any, place: Any) -> Any:

    def code(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
        kind = context.get_value_type(signature.return_type)
        return builder.load(builder.bitcast(arguments[0], kind.as_pointer()))

    return place.dtype(place), code


def _tuple_itself(place: Any) -> Any:
    return place


# Return the tuple at a place where it was `write_tuple`; where nothing is compiled, by
# NUMBA_DISABLE_JIT, the place is the tuple itself.
read_tuple: Any = _tuple_itself if config.DISABLE_JIT else _read_tuple
