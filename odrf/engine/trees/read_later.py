"""Arrays of many trees that are read from a file when the first of them is used."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import fields
from functools import cache
from typing import TYPE_CHECKING, Any, TypeVar

from odrf.errors import refused_again

__all__ = ["ReadLater"]

Trees = TypeVar("Trees", bound="ReadLater")


class ReadLater:
    """Base class of dataclasses of arrays that may be read when one of them is first used."""

    @classmethod
    def read_by(cls: type[Trees], reading: Callable[[Trees], None]) -> Trees:
        """Return an object whose fields `reading` sets, by `set_fields`, when one is needed."""
        trees = cls.__new__(cls)
        trees.__dict__["_reading"] = reading
        return trees

    @classmethod
    @cache
    def _names(cls) -> tuple[str, ...]:
        """Return the names of the fields, which are asked for with each of many small trees."""
        return tuple(field.name for field in fields(cls))  # type: ignore[arg-type]

    def in_memory(self) -> dict[str, Any]:
        """Return the fields that are in memory, after those that are to be read have been."""
        if "_reading" in self.__dict__:
            self.__dict__["_reading"](self)
        kept = self.__dict__
        return {name: kept[name] for name in self._names() if name in kept}

    def set_fields(self, values: Mapping[str, Any]) -> None:
        """Set the fields that were not read yet."""
        self.__dict__.update(values)
        self.__dict__.pop("_reading", None)

    if not TYPE_CHECKING:  # for types, attributes are those that are written down

        def __getattr__(self, name: str) -> Any:
            reading = self.__dict__.get("_reading")
            if reading is None or name not in self._names():
                if name in self.__dict__:  # another thread has read it just now
                    return self.__dict__[name]
                refused_again(self, name)
                raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
            reading(self)
            return getattr(self, name)
