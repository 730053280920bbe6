"""The option ``--plot``."""

from __future__ import annotations

from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

from odrf.cli.messages import report

__all__ = ["check_plot", "plot_to"]

PICTURES = "odrf.cli.pictures"


def check_plot(path: Path | None) -> None:
    """Raise `InputError` if a plot is asked for in a format that cannot be written."""
    if path is not None:
        import_module(PICTURES).check_format(path)


def plot_to(path: Path | None, drawn: Callable[[], Any]) -> None:
    """Write the plot that `drawn` draws, if one is asked for."""
    if path is not None:
        import_module(PICTURES).write_plot(drawn, path)
        report(f"wrote the plot to {path}")
