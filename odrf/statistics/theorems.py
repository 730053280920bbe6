"""The theorems that could cover a fit, condition by condition, and what follows.

[Z] is Zhan, Liu and Xia; [P] the paper on manifold-aware projection forests.  A condition on a rate
cannot be judged at one n.  What can be judged is the rule: its values at n, 10·n, … 10¹²·n rows
and far beyond go the right way, or they do not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from odrf.options.sizes import EXPONENTS

__all__ = [
    "ASSUMED",
    "CONSTANT",
    "FAILS",
    "HOLDS",
    "Condition",
    "Facts",
    "conclusion",
    "conditions",
    "ratios",
    "verdict",
]

HOLDS, FAILS = "holds", "does not hold"
CONSTANT, ASSUMED = "cannot be judged", "assumed"
# The last values tell where a rule goes.
LAST = 4
DRAWN = 13
HONEST, SUBSAMPLES, FEW = "[P] Theorem 2", "draws without replacement", "s/n → 0"
WAYS_OUT = {SUBSAMPLES: 'resample="subsample"', FEW: "sample_fraction=lambda n: n**-0.3"}


@dataclass(frozen=True)
class Facts:
    """What theory asks of a fit.

    Attributes
    ----------
    forest : bool
        Whether it is a forest; else a tree.
    classes : bool
        Whether it predicts classes, by regressing their indicators.
    n : int
        Training rows.
    P : int
        Predictors.
    subset_size : int or None
        Predictors in each subset; None for a random number.
    family : str
        What the directions are drawn by where they are not estimated on random subsets; else
        empty.
    axis_trees : bool
        Whether some of the trees split on single predictors only.
    leaves : float
        t_n, or the mean number of leaves where there is no limit.
    leaves_along : tuple of float
        What the rule of t_n gives at n, 10·n, …; empty without a rule.
    limited : bool
        Whether t_n limits the leaves.
    alpha : float or None
        α_n, None where nothing is pruned.
    alpha_along : tuple of float
    drawn : float
        Rows that each tree draws, as a share of n; 1 for a bootstrap or for all rows.
    drawn_along : tuple of float
        What the rule of that share gives at n, 10·n, …; empty without a rule.
    replaced : bool
        Whether the draws are with replacement.
    honest : bool
        Whether other rows fill the leaves than those that shape the tree.
    single_columns : bool or None
        Whether every axis direction may be tried at every node; None if that is not known.
    full : bool
        Whether trees grow until their leaves are small, with nothing else to limit them.
    summed : bool
        Whether trees are added up, each grown on what those before it leave, not averaged.
    """

    forest: bool
    classes: bool
    n: int
    P: int
    subset_size: int | None
    family: str
    axis_trees: bool
    leaves: float
    leaves_along: tuple[float, ...]
    limited: bool
    alpha: float | None
    alpha_along: tuple[float, ...]
    drawn: float
    drawn_along: tuple[float, ...]
    replaced: bool
    honest: bool
    single_columns: bool | None
    full: bool
    summed: bool = False


@dataclass(frozen=True)
class Condition:
    """One condition of a theorem.

    Attributes
    ----------
    theorem : str
    says : str
        The condition.
    quantity : str
        What it is about, at this n.
    verdict : str
        `HOLDS`, `FAILS`, `CONSTANT` or `ASSUMED`.
    """

    theorem: str
    says: str
    quantity: str
    verdict: str


def verdict(values: Sequence[float], rises: bool) -> str:
    """Judge whether a rule's values go to infinity (`rises`), or else to 0.

    They do as far as can be seen if they keep rising, or falling, from 10¹²·n rows on.  A rule
    that stays where it is does not.  Without values there is nothing to judge.
    """
    if len(values) < LAST:
        return CONSTANT
    steps = np.diff(np.log(np.maximum(np.asarray(values, dtype=float)[-LAST:], 1e-300)))
    return HOLDS if (steps > 0 if rises else steps < 0).all() else FAILS


def conditions(facts: Facts) -> list[Condition]:
    """Return every condition of every theorem that could cover the fit.

    Those of [Z] are about trees whose leaves are filled by the rows that shaped them.
    """
    if facts.honest:
        return _of_honest(facts)
    found = _of_pruned(facts) if facts.alpha is not None else _of_unpruned(facts)
    if facts.summed:
        found = [
            Condition(name, "trees alike, averaged", "a sum, each on what is left", FAILS)
            for name in (_theorem(facts), HONEST)
        ] + found
    return [*found, *(_of_honest(facts) if facts.forest else [])]


def conclusion(facts: Facts) -> str:
    """Return in a sentence what follows for the fit."""
    if facts.summed:
        return (
            "No result of [Z] or [P] applies: they are about a tree, or the mean of trees grown "
            "alike, not about a sum of trees each grown on what those before it leave."
        )
    return _of_honesty(facts) if facts.honest else _of_rates(facts)


def _of_honesty(facts: Facts) -> str:
    found = _of_honest(facts)
    failed = [c.says for c in found if c.verdict == FAILS]
    unknown = [c.says for c in found if c.verdict == CONSTANT]
    if failed:
        ways = [WAYS_OUT[says] for says in failed if says in WAYS_OUT]
        way = f"; {' and '.join(ways)} would do" if len(ways) == len(failed) else ""
        return f"No result applies, because {HONEST} asks for {_listed(failed)}{way}."
    if unknown:
        return f"Whether {HONEST} applies cannot be judged, because of: {_listed(unknown)}."
    assumed = "P(class | x) is Lipschitz and the density of x is bounded away from 0 and infinity"
    return f"Consistent where {assumed}, by {HONEST}."


def _listed(words: list[str]) -> str:
    *some, last = words
    return f"{', '.join(some)} and {last}" if some else last


def _of_rates(facts: Facts) -> str:
    if facts.family:
        return (
            "No result of [Z] applies: it has directions estimated on random subsets of the "
            f"predictors, not those of {facts.family}."
        )
    name = _theorem(facts)
    rates = [c for c in conditions(facts) if c.theorem == name and c.verdict != ASSUMED][1:]
    failed = [c.says for c in rates if c.verdict == FAILS]
    unknown = [c.says for c in rates if c.verdict == CONSTANT]
    if failed:
        why = " and ".join(failed)
        way = _way_out(facts)
        return f"No result of [Z] applies, because the rule fails {why}; {way} would do."
    if unknown:
        return (
            f"Whether {name} applies cannot be judged: a number says nothing of how it would go "
            f"with n; {_way_out(facts)} would do."
        )
    if facts.subset_size is None or facts.subset_size >= facts.P:
        some = ", which covers its oblique trees" if facts.axis_trees else ""
        return f"Consistent for any continuous {_truth(facts)}, by {name}{some}."
    corollary = "[Z] Corollary 2" if facts.alpha is not None else "[Z] Corollary 1"
    of = "one variable" if facts.subset_size == 1 else f"{facts.subset_size} variables"
    return (
        f"Consistent only where {_truth(facts)} is a sum of functions of {of} each, by {corollary}."
    )


def ratios(facts: Facts) -> dict[str, tuple[float, ...]]:
    """Return what has to go to 0, at n, 10·n, … 10¹²·n, by name; empty without a rule."""
    if facts.honest:
        along = np.asarray(facts.drawn_along)
        named = {"1/s": tuple(1.0 / (along * _rows(along, facts.n))), "s/n": facts.drawn_along}
    elif facts.alpha is not None:
        along = np.asarray(facts.alpha_along)
        named = {"α_n": facts.alpha_along, "ln⁵n/(α_n·n)": _over(along, facts.n, 5)}
    else:
        along = np.asarray(facts.leaves_along)
        inverse = tuple(1.0 / np.maximum(along, 1e-300))
        named = {"1/t_n": inverse, "t_n·ln⁴n/n": _times(along, facts.n, 4)}
    return {name: values[:DRAWN] for name, values in named.items() if len(values)}


def _truth(facts: Facts) -> str:
    return "P(class | x)" if facts.classes else "regression function"


def _theorem(facts: Facts) -> str:
    """Return the theorem of [Z] that is about fits of this kind."""
    if facts.alpha is not None:
        return "[Z] Theorem 5" if facts.forest else "[Z] Theorem 3"
    return "[Z] Theorem 4" if facts.forest else "[Z] Theorem 1"


def _way_out(facts: Facts) -> str:
    if facts.alpha is not None:
        return 'alpha="1/sqrt(n)" or alpha=lambda n: n**-0.5'
    return "max_leaves=lambda n: n**0.5"


def _of_unpruned(facts: Facts) -> list[Condition]:
    """Theorems 1 and 4 of [Z]: as many leaves as t_n."""
    name, n = _theorem(facts), facts.n
    along = np.asarray(facts.leaves_along)
    ratio = f"t_n·ln⁴n/n = {facts.leaves * np.log(n) ** 4 / n:.3g}"
    if facts.limited:
        grows, slowly = verdict(facts.leaves_along, True), verdict(_times(along, n, 4), False)
    else:
        # leaves of bounded size: their number is in proportion to n
        grows, slowly = HOLDS, FAILS
    return [
        *_common(name, facts),
        Condition(name, "t_n → ∞", f"t_n = {facts.leaves:.4g}", grows),
        Condition(name, "t_n = o(n/ln⁴n)", ratio, slowly),
    ]


def _of_pruned(facts: Facts) -> list[Condition]:
    """Theorems 3 and 5 of [Z]: a price α_n of a leaf."""
    name, n, alpha = _theorem(facts), facts.n, facts.alpha or 0.0
    along = np.asarray(facts.alpha_along)
    needed = np.log(n) ** 5 / (alpha * n) if alpha > 0 else np.inf
    return [
        *_common(name, facts),
        Condition(name, "α_n → 0", f"α_n = {alpha:.4g}", verdict(facts.alpha_along, False)),
        Condition(
            name,
            "ln⁵n/(α_n·n) → 0",
            f"ln⁵n/(α_n·n) = {needed:.3g}",
            verdict(_over(along, n, 5), False) if alpha > 0 else FAILS,
        ),
    ]


def _common(name: str, facts: Facts) -> list[Condition]:
    """Return what the theorems of [Z] have in common."""
    random = facts.subset_size is None or facts.subset_size >= facts.P
    if facts.family:
        random, size = False, f"directions of {facts.family} instead"
    elif facts.subset_size is None:
        size = "q random, up to N(A)^0.4"
    else:
        size = f"q = {facts.subset_size} of {facts.P}"
    if facts.axis_trees:
        size += "; trees on single predictors beside" if random else "; single predictors"
    return [
        Condition(name, "subsets of any size", size, HOLDS if random else FAILS),
        Condition(
            name,
            "Y sub-Gaussian",
            "an indicator is bounded" if facts.classes else "see the evidence",
            HOLDS if facts.classes else ASSUMED,
        ),
        Condition(name, "m continuous", f"the {_truth(facts)}", ASSUMED),
    ]


def _of_honest(facts: Facts) -> list[Condition]:
    """Theorem 2 of [P]: honest forests on small subsamples.

    It rests on Theorem 3 of Athey, Tibshirani and Wager (2019), which also asks that both sides of
    a split keep a share of the node's rows; [P] takes it that splits by impurity do.
    """
    along = np.asarray(facts.drawn_along)
    size, share = f"s = {facts.drawn * facts.n:.4g}", f"s/n = {facts.drawn:.3g}"
    rising, falling = HOLDS, FAILS
    if len(along):
        rising = verdict(tuple(along * _rows(along, facts.n)), True)
        falling = verdict(facts.drawn_along, False)
    else:
        share += " at any n"
    others = "half of a tree's rows" if facts.honest else "the rows that shape the tree"
    single = {True: "they are tried", False: "none is tried", None: "not known"}
    leaves = "down to min_leaf" if facts.full else "limited otherwise"
    lines = [
        ("a forest for classes", _kind(facts), _judged(facts.forest and facts.classes)),
        ("leaves filled by other rows", others, _judged(facts.honest)),
        ("each predictor alone", single[facts.single_columns], _judged(facts.single_columns)),
        (SUBSAMPLES, _draws(facts), _judged(not facts.replaced)),
        ("s → ∞", size, rising),
        (FEW, share, falling),
        ("leaves of bounded size", leaves, _judged(facts.full)),
        ("both sides keep a share", "of a node's rows", ASSUMED),
        ("P(class | x) Lipschitz", "in all predictors", ASSUMED),
        ("density between ε and 1/ε", "of the predictors", ASSUMED),
    ]
    return [Condition(HONEST, *line) for line in lines]


def _judged(fact: bool | None) -> str:
    return CONSTANT if fact is None else HOLDS if fact else FAILS


def _kind(facts: Facts) -> str:
    return f"{'forest' if facts.forest else 'tree'} for {'classes' if facts.classes else 'numbers'}"


def _draws(facts: Facts) -> str:
    return "bootstrap" if facts.replaced else "subsample" if facts.drawn < 1 else "all rows"


def _rows(along: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    rows: NDArray[np.float64] = n * 10.0 ** np.array(EXPONENTS[: len(along)], dtype=np.float64)
    return rows


def _times(along: NDArray[np.float64], n: int, power: int) -> tuple[float, ...]:
    """Return t·ln^power n/n along n."""
    rows = _rows(along, n)
    return tuple(along * np.log(rows) ** power / rows)


def _over(along: NDArray[np.float64], n: int, power: int) -> tuple[float, ...]:
    """Return ln^power n/(α·n) along n."""
    rows = _rows(along, n)
    return tuple(np.log(rows) ** power / (np.maximum(along, 1e-300) * rows))
