"""Data frames as markdown tables."""

from __future__ import annotations

import pandas as pd

__all__ = ["in_bold", "table"]


def table(cells: pd.DataFrame, corner: str = "") -> str:
    """Write a frame of text, its index in the first column; numbers are flush right."""
    header = [corner, *map(str, cells.columns)]
    lines = [header, ["---", *["---:"] * len(cells.columns)]]
    lines += [[str(name), *row] for name, row in zip(cells.index, cells.to_numpy(str), strict=True)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def in_bold(text: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Set the chosen cells in bold."""
    return text.where(~chosen, "**" + text + "**")
