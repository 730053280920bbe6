"""Whether the fields of an object hold what their annotations say."""

from __future__ import annotations

import types
import typing
from collections.abc import Callable
from functools import cache
from numbers import Integral, Real
from typing import Any, Union

import numpy as np

from odrf.design.encoding import Durations, Encoding, Indicators, Moments, Numbers, Ranks
from odrf.design.ranks import OwnRanks
from odrf.engine.directions.samplers import SamplerMixture
from odrf.projections.mixture import Mixture

__all__ = ["is_as_annotated"]

# What has the methods of a protocol, of all that a file can hold.
OF_PROTOCOL: dict[Any, tuple[type, ...]] = {
    Encoding: (Numbers, Indicators, Ranks, OwnRanks, Moments, Durations),
    SamplerMixture: (Mixture,),
}


def is_as_annotated(kind: type, field: str, value: Any) -> bool:
    """Return whether a value is of the type that a class says of its field."""
    return _is_of(value, _annotations(kind)[field])


@cache
def _annotations(kind: type) -> dict[str, Any]:
    return typing.get_type_hints(kind)


def _is_of(value: Any, hint: Any) -> bool:
    if hint is Any:
        return True
    origin, inner = _origin_and_inner(hint)
    if origin in (Union, types.UnionType):
        return any(_is_of(value, one) for one in inner)
    if origin is np.ndarray:
        return isinstance(value, np.ndarray) and _has_dtype(value, inner[1])
    if origin is tuple:
        return isinstance(value, tuple) and _are_of(value, inner)
    if origin in (frozenset, list):
        return isinstance(value, origin) and all(_is_of(one, inner[0]) for one in value)
    if origin is dict:
        pairs = value.items() if isinstance(value, dict) else ()
        sound = all(_is_of(key, inner[0]) and _is_of(one, inner[1]) for key, one in pairs)
        return isinstance(value, dict) and sound
    if origin is Callable:
        return callable(value)
    return _is_instance(value, hint)


@cache
def _origin_and_inner(hint: Any) -> tuple[Any, tuple[Any, ...]]:
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    alias = hint if origin is None else origin
    if hasattr(alias, "__value__"):  # from version 2.5 of NumPy on, NDArray is an alias by `type`
        return _origin_and_inner(alias.__value__[inner] if inner else alias.__value__)
    return origin, inner


def _are_of(values: tuple[Any, ...], inner: tuple[Any, ...]) -> bool:
    if len(inner) == 2 and inner[1] is Ellipsis:
        return all(_is_of(value, inner[0]) for value in values)
    return len(values) == len(inner) and all(map(_is_of, values, inner))


def _is_instance(value: Any, hint: Any) -> bool:
    if hint in OF_PROTOCOL:
        return isinstance(value, OF_PROTOCOL[hint])
    if hint is float:
        return isinstance(value, Real) and not isinstance(value, bool)
    if hint is int:
        return isinstance(value, Integral) and not isinstance(value, bool)
    return isinstance(value, (bool, np.bool_) if hint is bool else hint)


def _has_dtype(array: np.ndarray, hint: Any) -> bool:
    (scalar,) = typing.get_args(hint) or (Any,)
    return not isinstance(scalar, type) or issubclass(array.dtype.type, scalar)
