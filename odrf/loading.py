"""Names of a package that are loaded when first asked for, so that it starts quickly."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from importlib.util import find_spec
from types import ModuleType
from typing import Any, NoReturn


class Package(ModuleType):
    """The package as an object, which is called in place of its function of the same name."""

    def __call__(self, *args: object, **named: object) -> NoReturn:
        """Raise `TypeError`, which says where the function is."""
        name = self.__name__
        raise TypeError(
            f"{name!r} is the package here, not its function: write from {name} import {name}, or "
            f"{name}.{name}(…)"
        )


def loaded_later(package: str, modules: Mapping[str, str]) -> Callable[[str], Any]:
    """Return the ``__getattr__`` of a package.

    `package`: its name.  `modules`: the module in which each name is found; a module of that name
    stands for itself.
    """

    def found(name: str) -> Any:
        if name not in modules:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        module = import_module(modules[name])
        return module if module.__name__ == f"{package}.{name}" else getattr(module, name)

    return found


def modules_of(package: str) -> Callable[[str], ModuleType]:
    """Return the ``__getattr__`` of a package whose modules are imported when first asked for."""

    def module(name: str) -> ModuleType:
        path = f"{package}.{name}"
        if name.startswith("_") or find_spec(path) is None:
            raise AttributeError(f"module {package!r} has no attribute {name!r}")
        return import_module(path)

    return module
