"""Results as JSON: objects, lists, numbers, texts; what JSON does not know is null or a text."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from odrf.cli.messages import show
from odrf.text.summary import Summary
from odrf.version import __version__

__all__ = ["records", "show_json", "summary_parts"]


def show_json(command: str, content: Mapping[str, Any]) -> None:
    """Write one object to stdout: the command, the version, and the content of the command."""
    whole = {"command": command, "version": __version__, **content}
    show(json.dumps(_plain(whole), indent=2, allow_nan=False))


def records(table: pd.DataFrame | pd.Series) -> list[dict[str, Any]]:
    """Return the rows of a table by column; named parts of its index are columns, too."""
    frame = table.to_frame() if isinstance(table, pd.Series) else table
    named = frame.reset_index() if any(frame.index.names) else frame
    columns = [str(column) for column in named.columns]
    return [dict(zip(columns, row, strict=True)) for row in named.itertuples(index=False)]


def summary_parts(summary: Summary) -> dict[str, Any]:
    """Return call, facts, tables and notes of a summary."""
    return {
        "call": summary.call,
        "facts": summary.facts,
        "tables": {name: _with_index(table) for name, table in summary.sections.items()},
        "notes": list(summary.notes),
    }


def _with_index(table: pd.DataFrame) -> list[dict[str, Any]]:
    return records(table if any(table.index.names) else table.rename_axis("index"))


def _plain(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {str(key): _plain(held) for key, held in value.items()}
    if isinstance(value, list | tuple | set | np.ndarray | pd.Index):
        return [_plain(held) for held in value]
    if isinstance(value, np.generic):
        return _plain(value.item())
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, bool | int | str):
        return value
    return None if value is pd.NA or value is pd.NaT else str(value)
