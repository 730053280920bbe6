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
    of_size = _of_zhan(fit)
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
    refused = _refused(fit)
    if refused:
        return f"No result of [Z] applies: they are about {refused}."
    name, rates = _theorem(fit), _rates(fit)
    failed = [c.statement for c in rates if c.status == FAILS]
    if failed:
        why = " and ".join(failed)
        way = _way_out(fit)
        return f"No result of [Z] applies, because the rule fails {why}; {way} would do."
    if any(c.status == UNKNOWN for c in rates):
        return f"Whether {name} applies cannot be judged: {_why_unknown(fit)}."
    where, rest = f"for any continuous {_truth(fit)}", ""
    if fit.subset_size is not None and fit.subset_size < fit.P:
        name = "[Z] Corollary 2" if fit.alpha is not None else "[Z] Corollary 1"
        of = "one variable" if fit.subset_size == 1 else f"{fit.subset_size} variables"
        where = f"where {_the_truth(fit)} is a sum of functions of {of} each"
        rest = "; no result of [Z] is about other truths"
    others = ["those on single predictors"] if fit.axis_trees and fit.subset_size != 1 else []
    others += ["those with random cuts"] if fit.random_cuts else []
    if others:
        return (
            f"{name} covers some of the trees, which are consistent {where}, but not "
            f"{_listed(others)}; blend=False would do."
        )
    if _by_labels(fit):
        rest = f", if it holds for the error rate as for squared error{rest}"
    return f"Consistent {where}, by {name}{rest}."


def _refused(fit: FitProperties) -> str:
    """Return what trees the theorems of [Z] are about, and why not this one; else nothing."""
    if fit.family:
        return (
            f"directions estimated on random subsets of the predictors, not those of {fit.family}"
        )
    if fit.penalty:
        return (
            f'trees split until they have t_n leaves, not with penalty="{fit.penalty}"; '
            "penalty=None would do"
        )
    if fit.criterion:
        return (
            f"splits by variance or the Gini index, not by {fit.criterion}; "
            'criterion="gini" would do'
        )
    if fit.random_cuts == 1:
        return 'the best cut of a direction, not random ones; n_thresholds="all" would do'
    return ""


def _why_unknown(fit: FitProperties) -> str:
    if fit.stopped:
        does, it = ("does", "it") if len(fit.stopped) == 1 else ("do", "them")
        return f"{_listed(list(fit.stopped))} {does} not show a change with n; leave {it} out"
    why = fit.no_rule or "a fixed number does not show how it would change with n"
    return f"{why}; {_way_out(fit)} would do"


def ratios(fit: FitProperties) -> dict[str, tuple[float, ...]]:
    """Return the quantities that must go to 0, at n, 10·n, … 10¹²·n; empty without a rule."""
    s = _drawn_symbol(fit)
    if fit.honest:
        along = np.asarray(fit.drawn_along)
        named = {"1/s": tuple(1.0 / (along * _rows(along, fit.n))), "s/n": fit.drawn_along}
    elif fit.alpha is not None:
        named = {"α_n": fit.alpha_along, f"ln⁵{s}/(α_n·{s})": _over(fit, 5)}
    else:
        along = np.asarray(fit.leaves_along)
        inverse = tuple(1.0 / np.maximum(along, 1e-300))
        named = {"1/t_n": inverse, f"t_n·ln⁴{s}/{s}": _times(fit, 4)}
    return {name: values[:REPORTED] for name, values in named.items() if len(values)}


def _truth(fit: FitProperties) -> str:
    return "P(class | x)" if fit.classes else "regression function"


def _the_truth(fit: FitProperties) -> str:
    return _truth(fit) if fit.classes else f"the {_truth(fit)}"


def _by_labels(fit: FitProperties) -> bool:
    """Return whether wrong labels prune the fit: [Z] prove their theorems for squared errors."""
    return fit.classes and fit.alpha is not None


def _theorem(fit: FitProperties) -> str:
    """Return the name of the theorem of [Z] on fits of this kind."""
    if fit.alpha is not None:
        return "[Z] Theorem 5" if fit.forest else "[Z] Theorem 3"
    return "[Z] Theorem 4" if fit.forest else f"[Z] Theorem {2 if fit.classes else 1}"


def _way_out(fit: FitProperties) -> str:
    if fit.alpha is not None:
        return 'alpha="1/sqrt(n)" or alpha=lambda n: n**-0.5'
    return "max_leaves=lambda n: n**0.5"


def _rates(fit: FitProperties) -> list[Condition]:
    """Return the conditions on t_n of Theorems 1, 2 and 4 of [Z], or on α_n of 3 and 5.

    A tree that draws s of the n rows has leaves, and is pruned, as one of s rows.
    """
    name, s, rows = _theorem(fit), _drawn_symbol(fit), fit.drawn * fit.n
    grows = Condition(name, "t_n → ∞", f"t_n = {fit.leaves:.4g}", _grows(fit))
    if fit.alpha is None:
        ratio = f"t_n·ln⁴{s}/{s} = {fit.leaves * np.log(rows) ** 4 / rows:.3g}"
        # leaves of bounded size: their number is proportional to n
        slowly = limit_status(_times(fit, 4), False) if fit.limited else FAILS
        if fit.cut or (fit.stopped and not fit.limited):
            slowly = UNKNOWN
        return [grows, Condition(name, "t_n = o(n/ln⁴n)", ratio, slowly)]
    needed = np.log(rows) ** 5 / (fit.alpha * rows) if fit.alpha > 0 else np.inf
    slowly = limit_status(_over(fit, 5), False) if fit.alpha > 0 else FAILS
    return [
        grows,
        Condition(name, "α_n → 0", f"α_n = {fit.alpha:.4g}", limit_status(fit.alpha_along, False)),
        Condition(name, "ln⁵n/(α_n·n) → 0", f"ln⁵{s}/(α_n·{s}) = {needed:.3g}", slowly),
    ]


def _grows(fit: FitProperties) -> str:
    """Return whether the number of leaves, before pruning by α_n, rises without bound."""
    if fit.cut:
        return UNKNOWN
    grows = limit_status(fit.leaves_along, True) if fit.limited else HOLDS
    return UNKNOWN if fit.stopped and grows == HOLDS else grows


def _of_zhan(fit: FitProperties) -> list[Condition]:
    """Return the conditions of the theorem of [Z] on fits of this kind."""
    name = _theorem(fit)
    lines = [
        ("subsets of any size", *_subsets(fit)),
        ("best direction is found", *_found(fit)),
        ("best cut of a direction", _cuts(fit), _status(not (fit.random_cuts or fit.cut_at))),
        ("splits until t_n leaves", fit.penalty or "no penalty", _status(not fit.penalty)),
        (
            "variance or Gini index",
            fit.criterion or ("Gini index" if fit.classes else "variance"),
            _status(not fit.criterion),
        ),
    ]
    if fit.forest:
        whole = fit.drawn == 1 and not fit.replaced
        lines.append(("all rows in each tree", _draws(fit), HOLDS if whole else ASSUMED))
    if fit.n_classes > 2:
        lines.append(("two classes", f"{fit.n_classes}, all in one gain", ASSUMED))
    if _by_labels(fit):
        lines.append(("pruned by squared error", "by the error rate", ASSUMED))
    if fit.constant_by:
        lines.append(("the rate has a fixed constant", f"by {fit.constant_by}", ASSUMED))
    tails = "an indicator is bounded" if fit.classes else "see the evidence"
    lines += [
        ("Y sub-Gaussian", tails, HOLDS if fit.classes else ASSUMED),
        ("m continuous", _the_truth(fit), ASSUMED),
        ("x in [0, 1]^p", "scaled by the training rows", ASSUMED),
    ]
    return [*_rates(fit), *(Condition(name, *line) for line in lines)]


def _subsets(fit: FitProperties) -> tuple[str, str]:
    random = fit.subset_size is None or fit.subset_size >= fit.P
    if fit.family:
        random, size = False, f"directions of {fit.family} instead"
    elif fit.subset_size is None:
        size = "q random, up to N(A)^0.4"
    else:
        size = f"q = {fit.subset_size} of {fit.P}"
    if fit.axis_trees:
        size += "; trees on single predictors beside" if random else "; single predictors"
    return size, _status(random)


def _found(fit: FitProperties) -> tuple[str, str]:
    return ("the best of those drawn", FAILS) if fit.family else ("it is estimated", ASSUMED)


def _cuts(fit: FitProperties) -> str:
    if fit.cut_at:
        return fit.cut_at
    if not fit.random_cuts:
        return "all are tried"
    return f"random ones in {100 * fit.random_cuts:.3g} % of the trees"


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
    single = {True: "they are tried", False: "not all are tried", None: "not known"}
    leaves = f"down to {fit.smallest}" if fit.full else "limited otherwise"
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


def _drawn_symbol(fit: FitProperties) -> str:
    return "n" if fit.drawn == 1 else "s"


def _drawn(along: NDArray[np.float64], fit: FitProperties) -> NDArray[np.float64]:
    """Return the rows that a tree draws, at n, 10·n, …; at least e of them."""
    share = fit.drawn_along[: len(along)] or fit.drawn
    rows: NDArray[np.float64] = np.maximum(_rows(along, fit.n) * np.asarray(share), np.e)
    return rows


def _times(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return t·ln^power(s)/s at n, 10·n, …, for the rule of t_n and the s rows of a tree."""
    along = np.asarray(fit.leaves_along)
    rows = _drawn(along, fit)
    return tuple(along * np.log(rows) ** power / rows)


def _over(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return ln^power(s)/(α·s) at n, 10·n, …, for the rule of α_n and the s rows of a tree."""
    along = np.asarray(fit.alpha_along)
    rows = _drawn(along, fit)
    return tuple(np.log(rows) ** power / (np.maximum(along, 1e-300) * rows))
