"""The theorems that may cover a fit: their conditions, and the conclusion.

[Z] is Zhan, Liu and Xia; [P] the paper on manifold-aware projection forests.  A condition on a rate
cannot be judged at one n.  A rule in n can: its values at n, 10·n, … 10¹²·n rows and far beyond
either tend to the limit of the condition, or they do not.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from odrf.options.sizes import EXPONENTS
from odrf.statistics.theorem_facts import (
    ASSUMED,
    FAILS,
    HOLDS,
    UNKNOWN,
    Condition,
    FitProperties,
    limit_status,
)

__all__ = ["conclusion", "conditions", "ratios"]

# The values at n, 10·n, … 10¹²·n are reported.
REPORTED = 13
ON_RESPONSE = "splits chosen on the response"
HONEST, SUBSAMPLES, FEW = "[P] Theorem 2", "draws without replacement", "s/n → 0"
WAYS_OUT = {SUBSAMPLES: 'resample="subsample"', FEW: "sample_fraction=lambda n: n**-0.3"}


def conditions(fit: FitProperties) -> list[Condition]:
    """Return every condition of every theorem that may cover the fit.

    The theorems of [Z] are about trees whose leaves are filled by the rows that chose the splits.
    """
    name = HONEST if fit.honest else _theorem(fit)
    on = [Condition(name, ON_RESPONSE, f"on {fit.scale}", FAILS)] if fit.scale else []
    if fit.honest:
        return [*on, *_of_honest(fit)]
    of_size = _of_pruned(fit) if fit.alpha is not None else _of_unpruned(fit)
    if fit.summed:
        of_size = [
            Condition(name, "trees alike, averaged", "a sum, each fitted to residuals", FAILS)
            for name in (_theorem(fit), HONEST)
        ] + of_size
    return [*on, *of_size, *(_of_honest(fit) if fit.forest else [])]


def conclusion(fit: FitProperties) -> str:
    """Return the conclusion for the fit, in one sentence."""
    if fit.summed:
        return (
            "No result of [Z] or [P] applies: they are about a tree, or the mean of trees grown "
            "alike, not about a sum of trees, each fitted to the residuals of those before it."
        )
    if fit.scale:
        return (
            f"No result of [Z] or [P] applies: they are about {ON_RESPONSE} itself, not on "
            f'{fit.scale}; split_scale="response" would do for that.'
        )
    return _conclusion_if_honest(fit) if fit.honest else _conclusion_by_rates(fit)


def _conclusion_if_honest(fit: FitProperties) -> str:
    honest = _of_honest(fit)
    failed = [c.statement for c in honest if c.status == FAILS]
    unknown = [c.statement for c in honest if c.status == UNKNOWN]
    if failed:
        ways = [WAYS_OUT[statement] for statement in failed if statement in WAYS_OUT]
        way = f"; {' and '.join(ways)} would do" if len(ways) == len(failed) else ""
        return f"No result applies, because {HONEST} asks for {_listed(failed)}{way}."
    if unknown:
        return f"Whether {HONEST} applies cannot be judged, because of: {_listed(unknown)}."
    assumed = "P(class | x) is Lipschitz and the density of x is bounded away from 0 and infinity"
    return f"Consistent where {assumed}, by {HONEST}."


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _conclusion_by_rates(fit: FitProperties) -> str:
    if fit.family:
        return (
            "No result of [Z] applies: they are about directions estimated on random subsets of "
            f"the predictors, not those of {fit.family}."
        )
    name = _theorem(fit)
    rates = [c for c in conditions(fit) if c.theorem == name and c.status != ASSUMED][1:]
    failed = [c.statement for c in rates if c.status == FAILS]
    unknown = [c.statement for c in rates if c.status == UNKNOWN]
    if failed:
        why = " and ".join(failed)
        way = _way_out(fit)
        return f"No result of [Z] applies, because the rule fails {why}; {way} would do."
    if unknown:
        return (
            f"Whether {name} applies cannot be judged: a fixed number does not show how it would "
            f"change with n; {_way_out(fit)} would do."
        )
    if fit.subset_size is None or fit.subset_size >= fit.P:
        part = ", which covers its oblique trees" if fit.axis_trees else ""
        return f"Consistent for any continuous {_truth(fit)}, by {name}{part}."
    corollary = "[Z] Corollary 2" if fit.alpha is not None else "[Z] Corollary 1"
    of = "one variable" if fit.subset_size == 1 else f"{fit.subset_size} variables"
    return (
        f"Consistent only where {_truth(fit)} is a sum of functions of {of} each, by {corollary}."
    )


def ratios(fit: FitProperties) -> dict[str, tuple[float, ...]]:
    """Return the quantities that must go to 0, at n, 10·n, … 10¹²·n; empty without a rule."""
    if fit.honest:
        along = np.asarray(fit.drawn_along)
        named = {"1/s": tuple(1.0 / (along * _rows(along, fit.n))), "s/n": fit.drawn_along}
    elif fit.alpha is not None:
        along = np.asarray(fit.alpha_along)
        named = {"α_n": fit.alpha_along, "ln⁵n/(α_n·n)": _over(along, fit.n, 5)}
    else:
        along = np.asarray(fit.leaves_along)
        inverse = tuple(1.0 / np.maximum(along, 1e-300))
        named = {"1/t_n": inverse, "t_n·ln⁴n/n": _times(along, fit.n, 4)}
    return {name: values[:REPORTED] for name, values in named.items() if len(values)}


def _truth(fit: FitProperties) -> str:
    return "P(class | x)" if fit.classes else "regression function"


def _theorem(fit: FitProperties) -> str:
    """Return the name of the theorem of [Z] on fits of this kind."""
    if fit.alpha is not None:
        return "[Z] Theorem 5" if fit.forest else "[Z] Theorem 3"
    return "[Z] Theorem 4" if fit.forest else "[Z] Theorem 1"


def _way_out(fit: FitProperties) -> str:
    if fit.alpha is not None:
        return 'alpha="1/sqrt(n)" or alpha=lambda n: n**-0.5'
    return "max_leaves=lambda n: n**0.5"


def _of_unpruned(fit: FitProperties) -> list[Condition]:
    """Return the conditions of Theorems 1 and 4 of [Z]: at most t_n leaves."""
    name, n = _theorem(fit), fit.n
    along = np.asarray(fit.leaves_along)
    ratio = f"t_n·ln⁴n/n = {fit.leaves * np.log(n) ** 4 / n:.3g}"
    if fit.limited:
        grows = limit_status(fit.leaves_along, True)
        slowly = limit_status(_times(along, n, 4), False)
    else:
        # leaves of bounded size: their number is proportional to n
        grows, slowly = HOLDS, FAILS
    return [
        *_common(name, fit),
        Condition(name, "t_n → ∞", f"t_n = {fit.leaves:.4g}", grows),
        Condition(name, "t_n = o(n/ln⁴n)", ratio, slowly),
    ]


def _of_pruned(fit: FitProperties) -> list[Condition]:
    """Return the conditions of Theorems 3 and 5 of [Z]: pruning with α_n."""
    name, n, alpha = _theorem(fit), fit.n, fit.alpha or 0.0
    along = np.asarray(fit.alpha_along)
    needed = np.log(n) ** 5 / (alpha * n) if alpha > 0 else np.inf
    return [
        *_common(name, fit),
        Condition(name, "α_n → 0", f"α_n = {alpha:.4g}", limit_status(fit.alpha_along, False)),
        Condition(
            name,
            "ln⁵n/(α_n·n) → 0",
            f"ln⁵n/(α_n·n) = {needed:.3g}",
            limit_status(_over(along, n, 5), False) if alpha > 0 else FAILS,
        ),
    ]


def _common(name: str, fit: FitProperties) -> list[Condition]:
    """Return the conditions that all theorems of [Z] have in common."""
    random = fit.subset_size is None or fit.subset_size >= fit.P
    if fit.family:
        random, size = False, f"directions of {fit.family} instead"
    elif fit.subset_size is None:
        size = "q random, up to N(A)^0.4"
    else:
        size = f"q = {fit.subset_size} of {fit.P}"
    if fit.axis_trees:
        size += "; trees on single predictors beside" if random else "; single predictors"
    return [
        Condition(name, "subsets of any size", size, HOLDS if random else FAILS),
        Condition(
            name,
            "Y sub-Gaussian",
            "an indicator is bounded" if fit.classes else "see the evidence",
            HOLDS if fit.classes else ASSUMED,
        ),
        Condition(name, "m continuous", f"the {_truth(fit)}", ASSUMED),
    ]


def _of_honest(fit: FitProperties) -> list[Condition]:
    """Return the conditions of Theorem 2 of [P]: honest forests on small subsamples.

    It uses Theorem 3 of Athey, Tibshirani and Wager (2019), which also requires that both sides of
    a split keep a share of the rows of the node; [P] assumes this for splits by impurity.
    """
    along = np.asarray(fit.drawn_along)
    size, share = f"s = {fit.drawn * fit.n:.4g}", f"s/n = {fit.drawn:.3g}"
    rising, falling = HOLDS, FAILS
    if len(along):
        rising = limit_status(tuple(along * _rows(along, fit.n)), True)
        falling = limit_status(fit.drawn_along, False)
    else:
        share += " at any n"
    filled_by = "half of a tree's rows" if fit.honest else "the rows that choose the splits"
    single = {True: "they are tried", False: "none is tried", None: "not known"}
    leaves = "down to min_leaf" if fit.full else "limited otherwise"
    lines = [
        ("a forest for classes", _kind(fit), _status(fit.forest and fit.classes)),
        ("leaves filled by other rows", filled_by, _status(fit.honest)),
        ("each predictor alone", single[fit.single_columns], _status(fit.single_columns)),
        (SUBSAMPLES, _draws(fit), _status(not fit.replaced)),
        ("s → ∞", size, rising),
        (FEW, share, falling),
        ("leaves of bounded size", leaves, _status(fit.full)),
        ("both sides keep a share", "of a node's rows", ASSUMED),
        ("P(class | x) Lipschitz", "in all predictors", ASSUMED),
        ("density between ε and 1/ε", "of the predictors", ASSUMED),
    ]
    return [Condition(HONEST, *line) for line in lines]


def _status(fact: bool | None) -> str:
    return UNKNOWN if fact is None else HOLDS if fact else FAILS


def _kind(fit: FitProperties) -> str:
    return f"{'forest' if fit.forest else 'tree'} for {'classes' if fit.classes else 'numbers'}"


def _draws(fit: FitProperties) -> str:
    return "bootstrap" if fit.replaced else "subsample" if fit.drawn < 1 else "all rows"


def _rows(along: NDArray[np.float64], n: int) -> NDArray[np.float64]:
    rows: NDArray[np.float64] = n * 10.0 ** np.array(EXPONENTS[: len(along)], dtype=np.float64)
    return rows


def _times(along: NDArray[np.float64], n: int, power: int) -> tuple[float, ...]:
    """Return t·ln^power(n)/n at n, 10·n, …, for the values t `along` n."""
    rows = _rows(along, n)
    return tuple(along * np.log(rows) ** power / rows)


def _over(along: NDArray[np.float64], n: int, power: int) -> tuple[float, ...]:
    """Return ln^power(n)/(α·n) at n, 10·n, …, for the values α `along` n."""
    rows = _rows(along, n)
    return tuple(np.log(rows) ** power / (np.maximum(along, 1e-300) * rows))
