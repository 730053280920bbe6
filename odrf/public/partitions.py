"""Tables in partitions, as Dask has them, and the cluster whose workers have them."""

from __future__ import annotations

import sys
from collections.abc import Iterator, Sequence
from typing import Any

from odrf.errors import InputError, installing

__all__ = ["active_client", "computed_partitions", "is_partitioned", "required_client"]

PACKAGES = ("dask", "dask_expr")
HOW = (
    "start one with from dask.distributed import Client; client = Client(), which starts workers "
    'on this machine, or Client("tcp://…") for a cluster that runs'
)


def is_partitioned(value: Any) -> bool:
    """Return whether a value is a data frame of Dask."""
    package = type(value).__module__.partition(".")[0]
    return package in PACKAGES and hasattr(value, "to_delayed") and getattr(value, "ndim", 0) == 2


def computed_partitions(frame: Any, columns: Sequence[str] | None) -> Iterator[Any]:
    """Yield the partitions of a data frame of Dask, one after the other, with some columns or all.

    Columns that the frame lacks are left out.
    """
    if columns is not None:
        frame = frame[[name for name in columns if name in frame.columns]]
    for part in frame.to_delayed():
        yield part.compute()


def active_client() -> Any:
    """Return the client of Dask's cluster that is active, as those who made it say; else None."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.Client.current()
    except ValueError:
        return None


def required_client(argument: str) -> Any:
    """Return the client that is active.

    Raises
    ------
    InputError
        There is none, Dask is not installed, or the client is for asynchronous code.
    """
    try:
        import distributed  # noqa: F401, PLC0415  # optional
    except ImportError:
        raise InputError(f"{argument} needs Dask: install it with {installing('dask')}") from None
    client = active_client()
    if client is None:
        raise InputError(f"{argument} needs a client of Dask, and none is active: {HOW}")
    if client.asynchronous:
        raise InputError(f"{argument} needs a client that waits: use Client(asynchronous=False)")
    return client
