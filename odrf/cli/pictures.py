"""Plots in files; loaded only when a plot is asked for, because matplotlib takes time."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np
from matplotlib.backend_bases import FigureCanvasBase

from odrf.cli.files import write_target
from odrf.errors import allowed


def check_format(path: Path) -> None:
    """Raise `InputError` if the ending of the file is no format of pictures."""
    formats = FigureCanvasBase.get_supported_filetypes()
    if path.suffix.removeprefix(".").lower() not in formats:
        raise allowed("the ending of --plot", path.suffix, [f".{name}" for name in formats])


def write_plot(drawn: Any, path: Path) -> None:
    """Call the method `drawn`, which draws a result, and write its figure."""
    matplotlib.use("agg")
    axes = np.ravel(np.asarray(drawn(), dtype=object))
    content, format = BytesIO(), path.suffix.removeprefix(".").lower()
    axes[0].figure.savefig(content, format=format, dpi=150, bbox_inches="tight")
    write_target(path, content.getvalue())
