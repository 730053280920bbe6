"""How an option that may depend on n was determined: t_n, α_n, the share of rows of a tree."""

from __future__ import annotations

from dataclasses import dataclass, replace

from odrf.errors import InputError
from odrf.pruning.growth_stages import IN_WORDS

__all__ = ["CV", "FIXED", "FUNCTION", "NONE", "ONE_SE", "OOB", "RATE", "Rule"]

# Not set; a number; a function of n; a rate c·r(n).
NONE, FIXED, FUNCTION, RATE = "none", "fixed", "function", "rate"
# Chosen on held-out rows.
CV, ONE_SE, OOB = "cv", "1se", "oob"
KINDS = (NONE, FIXED, FUNCTION, RATE, CV, ONE_SE, OOB)


@dataclass(frozen=True)
class Rule:
    """How an option that may depend on n was determined.

    Attributes
    ----------
    kind : str
        ``"none"``, ``"fixed"``, ``"function"``, ``"rate"``, ``"cv"``, ``"1se"`` or ``"oob"``.
    name : str
        The name of the function or the rate.
    constant : float or None
        c of a rate c·r(n); None until it has been chosen on held-out rows.
    along : tuple of float
        Values of the function or the rate at n times 10 to the `odrf.options.sizes.EXPONENTS`;
        empty without either.
    found_by : str
        The held-out rows that the value or the constant was chosen on, in words; empty for none.
    earlier : bool
        Whether these were rows before an update, which kept the value or the constant.
    """

    kind: str
    name: str = ""
    constant: float | None = None
    along: tuple[float, ...] = ()
    found_by: str = ""
    earlier: bool = False

    def __post_init__(self) -> None:
        if self.kind not in KINDS or (self.kind == RATE and self.name not in IN_WORDS):
            raise InputError(f"{self.kind!r} {self.name!r} is no rule for a value")

    @property
    def needs_search(self) -> bool:
        """Whether the value or the constant has yet to be chosen on held-out rows."""
        return self.kind in (RATE, CV, ONE_SE, OOB) and not self.found_by

    def found(self, by: str, constant: float | None = None, along: tuple[float, ...] = ()) -> Rule:
        """Return the rule after the choice on held-out rows, which `by` names."""
        return replace(self, found_by=by, constant=constant, along=along, earlier=False)

    def kept(self) -> Rule:
        """Return the rule after an update that kept what it has chosen before."""
        return replace(self, earlier=True)
