"""What differs between the dialects of SQL that exports write."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

__all__ = ["DIALECTS", "Dialect"]


@dataclass(frozen=True)
class Dialect:
    """A dialect of SQL.

    Attributes
    ----------
    double : str
        The type of floats of 64 bits.
    single : str or None
        The type of floats of 32 bits, in which sums are added; None where there is none.
    exponent : bool
        Whether a number needs an exponent to be a float, not a decimal.
    """

    double: str
    single: str | None
    exponent: bool

    def number(self, value: float) -> str:
        """Return a float of 64 bits."""
        text = repr(float(value))
        return text if not self.exponent or "e" in text else f"{text}e0"

    def single_number(self, value: np.floating) -> str:
        """Return a float of 32 bits; in 64 where there are none."""
        if self.single is None:
            return self.number(float(value))
        # the shortest digits from which 32 bits are read
        digits = str(np.float32(value))
        digits = digits if not self.exponent or "e" in digits else f"{digits}e0"
        return f"CAST({digits} AS {self.single})"

    def narrowed(self, text: str) -> str:
        """Return an expression of 64 bits in 32."""
        return text if self.single is None else f"CAST({text} AS {self.single})"

    def literal(self, value: Any) -> str:
        """Return a text, truth or number of the user."""
        if isinstance(value, bool):
            return "TRUE" if value else "FALSE"
        if isinstance(value, str):
            return "'" + value.replace("'", "''") + "'"
        return str(value) if isinstance(value, int) else self.number(value)

    @staticmethod
    def name(column: str) -> str:
        """Return the name of a column in quotes."""
        return '"' + column.replace('"', '""') + '"'


DIALECTS = {
    "duckdb": Dialect("DOUBLE", "REAL", exponent=True),
    "postgres": Dialect("DOUBLE PRECISION", "REAL", exponent=False),
    "sqlite": Dialect("REAL", None, exponent=False),
}
