"""What differs between the dialects of SQL that exports write."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

__all__ = ["DIALECTS", "Dialect"]

# The first of the numbers that SQLite does not read as precisely as others, and a power of two.
TINY, SCALE = 1e-250, 2.0**600


@dataclass(frozen=True)
class Dialect:
    """A dialect of SQL.

    Attributes
    ----------
    title : str
        What it is called.
    double : str
        The type of floats of 64 bits.
    single : str or None
        The type of floats of 32 bits, in which sums are added; None where there is none.
    exponent : bool
        Whether a number needs an exponent to be a float, not a decimal.
    most_whole : int
        The largest whole number that it has as such.
    as_read : callable
        Returns what it makes of the name of a column in quotes.
    """

    title: str
    double: str
    single: str | None
    exponent: bool
    most_whole: int
    as_read: Callable[[str], str]

    def number(self, value: float) -> str:
        """Return a float of 64 bits."""
        if self.single is None:
            return _for_sqlite(float(value))
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

    def clipped(self, text: str, farthest: float) -> str:
        """Return a number between ±`farthest`; it must not be NULL, which some would leave out."""
        least, greatest = ("MIN", "MAX") if self.single is None else ("LEAST", "GREATEST")
        return f"{least}({greatest}({text}, {self.number(-farthest)}), {self.number(farthest)})"

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


def _for_sqlite(value: float) -> str:
    """Return a float by digits from which SQLite reads it exactly, though it rounds twice.

    The shortest digits can lie so near the middle between two floats that it reads the other one.
    """
    if 0 < abs(value) < TINY:
        return f"({_for_sqlite(value * SCALE)} * {1 / SCALE!r})"
    text = repr(value)
    if abs(Fraction(text) - Fraction(value)) > Fraction(9, 20) * Fraction(math.ulp(value)):
        return f"{value:.17g}"
    return text


def _in_small_letters(name: str) -> str:
    """Return a name whose capitals of the English alphabet are small: others are told apart."""
    return re.sub("[A-Z]", lambda letter: letter[0].lower(), name)


def _first_bytes(name: str) -> str:
    """Return the 63 bytes of a name that PostgreSQL reads."""
    return name.encode("utf-8", "replace")[:63].decode("utf-8", "ignore")


DIALECTS = {
    "duckdb": Dialect("DuckDB", "DOUBLE", "REAL", True, 2**127 - 1, _in_small_letters),
    "postgres": Dialect("PostgreSQL", "DOUBLE PRECISION", "REAL", False, 2**127 - 1, _first_bytes),
    "sqlite": Dialect("SQLite", "REAL", None, False, 2**63 - 1, _in_small_letters),
}
