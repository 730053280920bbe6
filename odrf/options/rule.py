"""How a number that may depend on n came about: t_n, α_n, the share of rows that a tree draws."""

from __future__ import annotations

from dataclasses import dataclass, replace

__all__ = ["CV", "FIXED", "FUNCTION", "NONE", "ONE_SE", "OOB", "RATE", "Rule"]

# Nothing asked for; a number; a function of n; a rate c·r(n); what is best on rows held out.
NONE, FIXED, FUNCTION, RATE = "none", "fixed", "function", "rate"
CV, ONE_SE, OOB = "cv", "1se", "oob"


@dataclass(frozen=True)
class Rule:
    """How a number came about.

    Attributes
    ----------
    kind : str
        ``"none"``, ``"fixed"``, ``"function"``, ``"rate"``, ``"cv"``, ``"1se"`` or ``"oob"``.
    name : str
        Of the function or the rate.
    constant : float or None
        c of a rate c·r(n); None until rows held out have found it.
    along : tuple of float
        What function or rate give at n times 10 to the `odrf.options.sizes.EXPONENTS`; empty
        without either.
    found_by : str
        Which rows held out have found it, in words; empty where none have.
    """

    kind: str
    name: str = ""
    constant: float | None = None
    along: tuple[float, ...] = ()
    found_by: str = ""

    @property
    def needs_search(self) -> bool:
        """Whether rows held out have yet to find it."""
        return self.kind in (RATE, CV, ONE_SE, OOB) and not self.found_by

    def found(self, by: str, constant: float | None = None, along: tuple[float, ...] = ()) -> Rule:
        """Return the rule as found `by` some rows."""
        return replace(self, found_by=by, constant=constant, along=along)
