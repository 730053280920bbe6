"""Random formulas, made by a grammar: sums, interactions, powers and calls of columns."""

from __future__ import annotations

from cases.columns import Rng, choice
from odrf.design.formula import quoted

__all__ = ["random_formula"]

DEEPEST = 3
CALLS = [
    *("np.log(np.abs({}) + 1)", "np.exp({})", "I({} ** 2)", "I({} + {})", "factor({})", "C({})"),
    *("bs({}, df=4)", "cr({}, df=3)", "poly({}, 2)", "center({})", "standardize({})", "I({} > 0)"),
]
DOUBTFUL = [
    *("np.sqrt({})", "-{}", "relevel({})", "nothing({})", "bs({}, df=0)", "poly({}, 99)"),
    *("factor({} + {})", "{} == {}", "Q({})", "log({})", "I({} / {})", "np.nothing({})", "bs()"),
    *("I({} ** 400)", "bs({}, knots=[0, 0])", "poly({}, -1)", "cr({}, df=1)", "te({}, {})"),
]
LEFT = ["{}", "{}", "{}", "{}", "{}", "log({})", "np.log1p({})", "I({} * 2)", "-{}", "{} + {}", ""]
SPOILT = [
    "~",
    "(",
    ")",
    "`",
    ":",
    "**",
    "^",
    "|",
    "%in%",
    "\0",
    "\n",
    " " * 50,
    "0",
    "-1",
    "é",
    "$",
]


def random_formula(rng: Rng, response: str, columns: list[str], extreme: bool) -> str:
    """Return a formula; among the extreme ones, some are not valid."""
    names = [quoted(name) for name in columns]
    right = (
        "." if rng.random() < 0.3 else _sum(rng, names, CALLS + DOUBTFUL if extreme else CALLS, 0)
    )
    left = choice(rng, LEFT) if extreme and rng.random() < 0.15 else "{}"
    written = f"{left.replace('{}', quoted(response))} ~ {right}"
    if extreme and rng.random() < 0.05:
        at = int(rng.integers(len(written)))
        written = written[:at] + choice(rng, SPOILT) + written[at:]
    return written


def _sum(rng: Rng, names: list[str], calls: list[str], depth: int) -> str:
    terms = [_term(rng, names, calls, depth) for _ in range(1 + int(rng.integers(3)))]
    signs = [" - " if rng.random() < 0.1 else " + " for _ in terms[1:]]
    return terms[0] + "".join(sign + term for sign, term in zip(signs, terms[1:], strict=True))


def _term(rng: Rng, names: list[str], calls: list[str], depth: int) -> str:
    if depth == DEEPEST or rng.random() < 0.5:
        return choice(rng, [*names, "."]) if rng.random() < 0.95 else choice(rng, ["0", "1", "-1"])
    way = choice(rng, ["call", "call", "pair", "product", "power", "nested"])
    if way == "call":
        call = choice(rng, calls)
        return call.format(*(choice(rng, names) for _ in range(call.count("{}"))))
    if way == "power":
        return f"({_sum(rng, names, calls, DEEPEST)})^{1 + rng.integers(3)}"
    sign = {"pair": ":", "product": " * ", "nested": "/"}[way]
    return f"{_term(rng, names, calls, depth + 1)}{sign}{_term(rng, names, calls, depth + 1)}"
