"""Named rates in n: how α_n may fall, and how the number of leaves t_n may rise.

Zhan, Liu and Xia, Theorems 1, 3, 4 and 5: trees that stop at t_n leaves are consistent if
t_n → ∞ and t_n = o(n/ln⁴n); pruned ones if α_n → 0 and ln⁵n/(α_n·n) → 0 (the exponent is hard to
read in print; 5 is enough in every reading).  A rate fixes α_n or t_n up to a constant, which
theory leaves open.  The constant is chosen on held-out rows, at the number of rows that the trees
of the folds grow on, and is then used at n.
"""

from __future__ import annotations

import math
from collections.abc import Callable

__all__ = ["ALPHA_RATES", "IN_WORDS", "LEAF_RATES"]

Rate = Callable[[float], float]
# ln n stays positive.
LEAST = 2.0

ALPHA_RATES: dict[str, Rate] = {
    "log6/n": lambda n: math.log(max(n, LEAST)) ** 6 / n,
    "1/sqrt(n)": lambda n: 1 / math.sqrt(n),
}
"""Names of rates for α_n."""

LEAF_RATES: dict[str, Rate] = {
    "sqrt": math.sqrt,
    "n/log5": lambda n: n / math.log(max(n, LEAST)) ** 5,
}
"""Names of rates for t_n."""

IN_WORDS = {
    "log6/n": "ln(n)^6/n",
    "1/sqrt(n)": "1/sqrt(n)",
    "sqrt": "sqrt(n)",
    "n/log5": "n/ln(n)^5",
}
"""The rates as functions of n, by name."""
