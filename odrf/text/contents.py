"""What a summary says, before it is laid out."""

from __future__ import annotations

from dataclasses import dataclass, field

import pandas as pd

__all__ = ["Contents"]


@dataclass(frozen=True)
class Contents:
    """The parts of a summary; see `odrf.text.summary.Summary`."""

    title: str
    call: str
    facts: dict[str, str]
    sections: dict[str, pd.DataFrame] = field(default_factory=dict)
    notes: tuple[str, ...] = ()
