"""Names of a package that are loaded when first asked for; Ctrl-C while the command loads it."""

from __future__ import annotations

import os
import signal
import sys
import threading
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


# A command that is interrupted says so and ends with this status; while it loads the package, none
# of its own lines is there to catch an interrupt.
INTERRUPTED = 130


def end_at_once(number: int, frame: object) -> NoReturn:
    """End the process; nothing is open that would have to be closed."""
    if sys.stderr is not None:
        os.write(2, b"odrf: interrupted\n")
    os._exit(INTERRUPTED)


def _is_command() -> bool:
    """Return whether the process is the command ``odrf``, or ``python -m odrf``."""
    own = sys.argv[0] if sys.argv else ""
    if own == "-m":  # so it is called while Python looks for the module
        return "odrf" in sys.orig_argv
    return os.path.splitext(os.path.basename(own))[0].lower() == "odrf"


def _end_if_interrupted() -> None:
    main = threading.current_thread() is threading.main_thread()
    if main and _is_command() and signal.getsignal(signal.SIGINT) is signal.default_int_handler:
        signal.signal(signal.SIGINT, end_at_once)


_end_if_interrupted()
