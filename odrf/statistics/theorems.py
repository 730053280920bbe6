"""The theorems that may cover a fit: their conditions, the evidence, and the conclusion.

[Z] is Zhan, Liu and Xia; [P] the paper on manifold-aware projection forests. No rate can be
evaluated at one n. A rule can: its values at n, 10·n, … 10¹²·n and beyond tend to a limit, or do
not.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from odrf.engine.factors import Matrix, indicated
from odrf.engine.trees.forest import Forest, node_of_terms
from odrf.engine.trees.routing import leaf_nodes
from odrf.options.sizes import EXPONENTS

Floats = NDArray[np.float64]
Integers = NDArray[np.int64]

HOLDS, FAILS = "holds", "does not hold"
UNKNOWN, ASSUMED = "cannot be evaluated", "assumed"
# What is known to be otherwise than in a theorem, and what the data of the fit speak against.
DIFFERS, CONTRADICTED = "differs", "contradicted"
# The limit of a rule is decided by its last values.
LAST = 3
# A smaller step is rounding; a step this much smaller than the one before tends to a limit.
LEAST_STEP = 1e-9
SLOWING = 0.7


@dataclass(frozen=True)
class FitProperties:
    """The properties of a fit that the conditions of the theorems are about."""

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
    scale: str = ""
    n_classes: int = 0
    penalty: str = ""
    criterion: str = ""
    random_cuts: float = 0.0
    stopped: tuple[str, ...] = ()
    cut: bool = False
    no_rule: str = ""
    constant_by: str = ""
    cut_at: str = ""
    smallest: str = "min_leaf"
    min_leaf: int = 1
    exact_rows: float = np.inf
    short: str = ""
    tails: str = ""
    factors: int = 0


@dataclass(frozen=True)
class Condition:
    """One condition of a theorem, the `quantity` at this n that it is about, and its status."""

    theorem: str
    statement: str
    quantity: str
    status: str


def limit_status(values: Sequence[float], to_infinity: bool) -> str:
    """Return whether the values of a rule tend to infinity, or else to 0; `UNKNOWN` without any.

    They do if their logarithms keep rising, or falling, from 10⁴⁸·n rows on, and do not slow down:
    the exponent of 10 doubles each time, so that even ln(ln n) rises by about as much.
    """
    if len(values) < LAST:
        return UNKNOWN
    logs = np.log(np.maximum(np.asarray(values, dtype=float)[-LAST:], 1e-300))
    steps = np.diff(logs if to_infinity else -logs)
    goes_on = steps[1:] > SLOWING * steps[:-1]
    return HOLDS if (steps > LEAST_STEP).all() and goes_on.all() else FAILS


def rows_along(along: Floats, n: int) -> Floats:
    """Return n, 10·n, …: as many as the values of a rule."""
    rows: Floats = n * 10.0 ** np.array(EXPONENTS[: len(along)], dtype=np.float64)
    return rows


def symbol_of_drawn(fit: FitProperties) -> str:
    """Return what the rows of a tree are called: n if it has all of them."""
    return "n" if fit.drawn == 1 else "s"


def drawn_of_rule(along: Floats, fit: FitProperties) -> Floats:
    """Return the rows that a tree draws, at n, 10·n, …; at least e of them."""
    share = fit.drawn_along[: len(along)] or fit.drawn
    rows: Floats = np.maximum(rows_along(along, fit.n) * np.asarray(share), np.e)
    return rows


def leaves_to_rows(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return t·ln^power(s)/s at n, 10·n, …, for the rule of t_n and the s rows of a tree."""
    along = np.asarray(fit.leaves_along)
    rows = drawn_of_rule(along, fit)
    return tuple(along * np.log(rows) ** power / rows)


def rows_to_alpha(fit: FitProperties, power: int) -> tuple[float, ...]:
    """Return ln^power(s)/(α·s) at n, 10·n, …, for the rule of α_n and the s rows of a tree."""
    along = np.asarray(fit.alpha_along)
    rows = drawn_of_rule(along, fit)
    return tuple(np.log(rows) ** power / (np.maximum(along, 1e-300) * rows))


# The values at n, 10·n, … 10¹²·n are reported.
REPORTED = 13
ON_RESPONSE = "splits chosen on the response"
HONEST, SUBSAMPLES, FEW = "[P] Theorem 2", "draws without replacement", "s/n → 0"
WAYS_OUT = {SUBSAMPLES: 'resample="subsample"', FEW: "sample_fraction=lambda n: n**-0.3"}


def conditions(fit: FitProperties) -> list[Condition]:
    """Return every condition of every theorem that may cover the fit, honest or not."""
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
    """Return the conclusion for the fit, in one sentence: no more than the conditions allow."""
    if fit.summed:
        return (
            "No result of [Z] or [P] applies: they are about a tree, or the mean of trees grown "
            "alike, not about a sum of trees, each fitted to the residuals of those before it."
        )
    obstacles = _obstacles_if_honest(fit) if fit.honest else _obstacles(fit)
    if fit.scale:
        scale = f"they are about {ON_RESPONSE} itself, not on {fit.scale}"
        obstacles.insert(
            0, (f"No result of [Z] or [P] applies: {scale}", ['split_scale="response"'])
        )
    conditions = _of_honest(fit) if fit.honest else _of_zhan(fit)
    against = [f"{c.statement} ({c.quantity})" for c in conditions if c.status == CONTRADICTED]
    data = f"the data contradict a condition: {_listed(against)}" if against else ""
    if obstacles:
        reasons, ways = zip(*obstacles, strict=True)
        words = [each for of_one in ways for each in of_one]
        way = f"; {_listed(words)} would do" if all(ways) and not data else ""
        return f"{'; '.join(filter(None, [*reasons, data]))}{way}."
    name, where, rest = (HONEST, "", "") if fit.honest else _covering(fit)
    conditional = f"{where}{_conditionally(fit, conditions)}"
    if data:
        return f"No conclusion: by {name} it is consistent{conditional}{rest}, but {data}."
    return f"Consistent{conditional}, by {name}{rest}."


def _conditionally(fit: FitProperties, conditions: list[Condition]) -> str:
    """Return what must be true for a theorem to hold for the fit, from "if" on."""
    needed = [] if fit.classes else ["Y is sub-Gaussian"]
    if fit.honest:
        needed = [
            "P(class | x) is Lipschitz",
            "the density of x is bounded away from 0 and infinity",
            "both sides of a split keep a share of its rows",
        ]
    if any(each.status == DIFFERS for each in conditions):
        needed.append("what differs does no harm")
    if not fit.honest and _by_labels(fit):
        needed.append("it holds for the error rate as for squared error")
    return f" if {_listed(needed)}" if needed else ""


def _covering(fit: FitProperties) -> tuple[str, str, str]:
    """Return the theorem or corollary of [Z], the truths that it is about, and what it is not."""
    name, where, rest = _theorem(fit), f" for any continuous {_truth(fit)}", ""
    if fit.subset_size is not None and fit.subset_size < fit.P:
        name = "[Z] Corollary 2" if fit.alpha is not None else "[Z] Corollary 1"
        of = "one variable" if fit.subset_size == 1 else f"{fit.subset_size} variables"
        where = f" where {_the_truth(fit)} is a sum of functions of {of} each"
        rest = "; no result of [Z] is about other truths"
    return name, where, rest


def _listed(words: list[str]) -> str:
    *first, last = words
    return f"{', '.join(first)} and {last}" if first else last


def _obstacles_if_honest(fit: FitProperties) -> list[tuple[str, list[str]]]:
    """Return why [P] does not apply, or this is unknown, each with a remedy; see below."""
    honest, obstacles = _of_honest(fit), []
    failed = [c.statement for c in honest if c.status == FAILS]
    unknown = [c.statement for c in honest if c.status == UNKNOWN]
    if failed:
        known = all(statement in WAYS_OUT for statement in failed)
        ways = [WAYS_OUT[statement] for statement in failed] if known else []
        obstacles.append((f"No result applies, because {HONEST} asks for {_listed(failed)}", ways))
    if unknown:
        of = f"Whether {HONEST} applies cannot be evaluated, because of: {_listed(unknown)}"
        obstacles.append((of, []))
    return obstacles


def _obstacles(fit: FitProperties) -> list[tuple[str, list[str]]]:
    """Return why no theorem of [Z] applies, or this is unknown, each with its remedies."""
    about, obstacles = _trees_meant(fit), []
    if about:
        of = f"No result of [Z] applies: they are about {', and about '.join(dict(about))}"
        known = all(way for _, way in about)
        obstacles.append((of, [way for _, way in about] if known else []))
    rates = _rates(fit)
    failed = [c.statement for c in rates if c.status == FAILS]
    if failed:
        why = f"because the rule fails {' and '.join(failed)}"
        obstacles.append((f"No result of [Z] applies, {why}", _ways_of_rates(fit)))
    elif any(c.status == UNKNOWN for c in rates):
        unknown = fit.no_rule or "a fixed number does not show how it would change with n"
        if fit.stopped:
            does = "does" if len(fit.stopped) == 1 else "do"
            unknown = f"{_listed(list(fit.stopped))} {does} not show a change with n"
        why = f"Whether {_theorem(fit)} applies cannot be evaluated: {unknown}"
        obstacles.append((why, _ways_of_rates(fit)))
    others = ["those on single predictors"] if fit.axis_trees and fit.subset_size != 1 else []
    others += ["those with random cuts"] if 0 < fit.random_cuts < 1 else []
    if others:
        # trees of one kind are of another criterion by default
        ways = ["blend=False", 'criterion="gini"'] if fit.classes else ["blend=False"]
        name, where, _ = _covering(fit)
        conditional = f"{where}{_conditionally(fit, _of_zhan(fit))}"
        some = f"{name} covers some of the trees, which are consistent{conditional}"
        obstacles.append((f"{some}, but not {_listed(others)}", ways))
    return obstacles


def _trees_meant(fit: FitProperties) -> list[tuple[str, str]]:
    """Return what trees the theorems of [Z] are about, where not these; and the way to them."""
    about = []
    if fit.family:
        words = "directions estimated on random subsets of the predictors, not those of"
        about.append((f"{words} {fit.family}", ""))
    if fit.penalty:
        words = f'trees that split until they have t_n leaves, not with penalty="{fit.penalty}"'
        about.append((words, "penalty=None"))
    if fit.criterion:
        words = f"splits by variance or the Gini index, not by {fit.criterion}"
        about.append((words, 'criterion="gini"'))
    if fit.random_cuts == 1:
        about.append(("the best cut of a direction, not random ones", 'n_thresholds="all"'))
    return about


def _ways_of_rates(fit: FitProperties) -> list[str]:
    """Return the options by which the rates would hold; none if these would not do."""
    ways = [f"{option.partition('=')[0]}=None" for option in fit.stopped]
    grown = replace(fit, stopped=(), limited=fit.limited and fit.alpha is None)
    if all(c.status == HOLDS for c in _rates(grown)):
        return ways
    n = rows_along(np.ones(len(EXPONENTS)), fit.n)
    if fit.alpha is None:
        ruled = replace(grown, limited=True, cut=False, leaves_along=tuple(n**0.5))
    else:
        ruled = replace(grown, cut=False, alpha=fit.n**-0.5, alpha_along=tuple(n**-0.5))
    way = "max_leaves=lambda n: n**0.5"
    if fit.alpha is not None:
        way = 'alpha="1/sqrt(n)" or alpha=lambda n: n**-0.5'
    return [*ways, way] if all(c.status == HOLDS for c in _rates(ruled)) else []


def ratios(fit: FitProperties) -> dict[str, tuple[float, ...]]:
    """Return the quantities that must go to 0, at n, 10·n, … 10¹²·n; empty without a rule."""
    s = symbol_of_drawn(fit)
    if fit.honest:
        along = np.asarray(fit.drawn_along)
        named = {"1/s": tuple(1.0 / (along * rows_along(along, fit.n))), "s/n": fit.drawn_along}
    elif fit.alpha is not None:
        named = {"α_n": fit.alpha_along, f"ln⁵{s}/(α_n·{s})": rows_to_alpha(fit, 5)}
    else:
        along = np.asarray(fit.leaves_along)
        inverse = tuple(1.0 / np.maximum(along, 1e-300))
        named = {"1/t_n": inverse, f"t_n·ln⁴{s}/{s}": leaves_to_rows(fit, 4)}
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


def _rates(fit: FitProperties) -> list[Condition]:
    """Return the conditions on t_n of Theorems 1, 2 and 4 of [Z], or on α_n of 3 and 5."""
    name, s, rows = _theorem(fit), symbol_of_drawn(fit), fit.drawn * fit.n
    # whether the number of leaves, before pruning by α_n, rises without bound
    rises = limit_status(fit.leaves_along, True) if fit.limited else HOLDS
    rises = UNKNOWN if fit.cut or (fit.stopped and rises == HOLDS) else rises
    grows = Condition(name, "t_n → ∞", f"t_n = {fit.leaves:.4g}", rises)
    if fit.alpha is None:
        ratio = f"t_n·ln⁴{s}/{s} = {fit.leaves * np.log(rows) ** 4 / rows:.3g}"
        # leaves of bounded size: their number is proportional to n
        slowly = limit_status(leaves_to_rows(fit, 4), False) if fit.limited else FAILS
        if fit.cut or (fit.stopped and not fit.limited):
            slowly = UNKNOWN
        return [grows, Condition(name, "t_n = o(n/ln⁴n)", ratio, slowly)]
    needed = np.log(rows) ** 5 / (fit.alpha * rows) if fit.alpha > 0 else np.inf
    slowly = limit_status(rows_to_alpha(fit, 5), False) if fit.alpha > 0 else FAILS
    return [
        grows,
        Condition(name, "α_n → 0", f"α_n = {fit.alpha:.4g}", limit_status(fit.alpha_along, False)),
        Condition(name, "ln⁵n/(α_n·n) → 0", f"ln⁵{s}/(α_n·{s}) = {needed:.3g}", slowly),
    ]


def _of_zhan(fit: FitProperties) -> list[Condition]:
    """Return the conditions of the theorem of [Z] on fits of this kind."""
    name, direction = _theorem(fit), ("it is estimated", DIFFERS)
    if fit.family:
        direction = "the best of those drawn", FAILS
    elif fit.subset_size == 1 or fit.P == 1:
        direction = "single predictors", HOLDS
    lines = [
        ("subsets of any size", *_subsets(fit)),
        ("best direction is found", *direction),
        ("best cut of a direction", *_cuts(fit)),
        ("splits until t_n leaves", *_grown(fit)),
        (
            "variance or Gini index",
            fit.criterion or ("Gini index" if fit.classes else "variance"),
            _status(not fit.criterion),
        ),
    ]
    if fit.forest:
        whole = fit.drawn == 1 and not fit.replaced
        lines.append(("all rows in each tree", _draws(fit), HOLDS if whole else DIFFERS))
    if fit.n_classes > 2:
        lines.append(("two classes", f"{fit.n_classes}, all in one gain", DIFFERS))
    if _by_labels(fit):
        lines.append(("pruned by squared error", "by the error rate", DIFFERS))
    if fit.constant_by:
        lines.append(("the rate has a fixed constant", f"by {fit.constant_by}", DIFFERS))
    tails = "an indicator is bounded" if fit.classes else fit.tails or "see the evidence"
    heavy = HOLDS if fit.classes else CONTRADICTED if fit.tails else ASSUMED
    lines += [
        ("Y sub-Gaussian", tails, heavy),
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
    # Theorems 1 to 3 search all predictors of a tree at once
    drawn = random and not fit.forest and fit.subset_size is None and fit.P > 1
    return size, DIFFERS if drawn else _status(random)


def _cuts(fit: FitProperties) -> tuple[str, str]:
    if fit.cut_at:
        return fit.cut_at, FAILS
    if fit.random_cuts:
        return f"random ones in {100 * fit.random_cuts:.3g} % of the trees", FAILS
    if np.isfinite(fit.exact_rows):
        return f"between bins in nodes of more than {fit.exact_rows:g} rows", DIFFERS
    return "all are tried", HOLDS


def _grown(fit: FitProperties) -> tuple[str, str]:
    if fit.penalty:
        return fit.penalty, FAILS
    if fit.short:
        return fit.short, CONTRADICTED
    if fit.min_leaf > 1:
        return f"no leaf below {fit.min_leaf} rows", DIFFERS
    return "no penalty", HOLDS


def _of_honest(fit: FitProperties) -> list[Condition]:
    """Return the conditions of Theorem 2 of [P]: honest forests on small subsamples."""
    along = np.asarray(fit.drawn_along)
    size, share = f"s = {fit.drawn * fit.n:.4g}", f"s/n = {fit.drawn:.3g}"
    rising, falling = HOLDS, FAILS
    if len(along):
        rising = limit_status(tuple(along * rows_along(along, fit.n)), True)
        falling = limit_status(fit.drawn_along, False)
    else:
        share += " at any n"
    filled_by = "half of a tree's rows" if fit.honest else "the rows that choose the splits"
    single = {True: "they are tried", False: "not all are tried", None: "not known"}
    leaves = f"down to {fit.smallest}" if fit.full else "limited otherwise"
    density = "of the predictors", ASSUMED
    if fit.factors:
        density = f"{fit.factors} of {fit.P} are factors", DIFFERS
    kind = f"{'forest' if fit.forest else 'tree'} for {'classes' if fit.classes else 'numbers'}"
    lines = [
        ("a forest for classes", kind, _status(fit.forest and fit.classes)),
        ("leaves filled by other rows", filled_by, _status(fit.honest)),
        ("each predictor alone", single[fit.single_columns], _status(fit.single_columns)),
        (SUBSAMPLES, _draws(fit), _status(not fit.replaced)),
        ("s → ∞", size, rising),
        (FEW, share, falling),
        ("leaves of bounded size", leaves, _status(fit.full)),
        ("both sides keep a share", "of a node's rows", ASSUMED),
        ("P(class | x) Lipschitz", "in all predictors", ASSUMED),
        ("density between ε and 1/ε", *density),
    ]
    return [Condition(HONEST, *line) for line in lines]


def _status(fact: bool | None) -> str:
    return UNKNOWN if fact is None else HOLDS if fact else FAILS


def _draws(fit: FitProperties) -> str:
    return "bootstrap" if fit.replaced else "subsample" if fit.drawn < 1 else "all rows"


# Share of the residuals that form the tail; number of normal samples, and their largest size.
TAIL, DRAWS, LARGEST_DRAW = 0.05, 400, 5000
# Largest number of columns that diameters are measured on.
COLUMNS = 50


def tail_index(residuals: Floats) -> float:
    """Return Hill's index ξ of the tails x^(-1/ξ), from the largest 5 % of |residuals|.

    Of a normal distribution ξ is 0, but the estimate from 5 % of a large sample is about 1/6.
    """
    size = np.sort(np.abs(residuals))[::-1]
    k = max(2, int(TAIL * len(size)))
    if len(size) <= k or not size[k] > 0:
        return 0.0
    return float(np.mean(np.log(size[:k] / size[k])))


def tail_p(residuals: Floats, seed: int) -> float:
    """Return the Monte Carlo p-value of the tail index of normal residuals; of 5000 at most."""
    observed = tail_index(residuals)
    n = len(residuals)
    rng = np.random.default_rng(seed)
    if n > LARGEST_DRAW:
        observed = tail_index(rng.choice(residuals, LARGEST_DRAW, replace=False))
        n = LARGEST_DRAW
    simulated = [tail_index(rng.standard_normal(n)) for _ in range(DRAWS)]
    return float((1 + np.sum(np.array(simulated) >= observed)) / (DRAWS + 1))


def normal_quantiles(residuals: Floats) -> Floats:
    """Return the sorted residuals (n,), standardised by median and median absolute deviation."""
    centre = np.median(residuals)
    scale = np.median(np.abs(residuals - centre)) / 0.6744897501960817
    return np.sort(residuals - centre) / (scale if scale > 0 else 1.0)


def leaf_diameters(forest: Forest, X: Matrix, n_jobs: int) -> Floats:
    """Return the diameter of the leaf of each row in each tree (n, B); that of the root is 1."""
    leaves = leaf_nodes(forest, X, n_jobs)
    columns = np.unique(np.linspace(0, len(X) - 1, min(len(X), COLUMNS)).astype(int))
    values = indicated(X[columns]).astype(np.float64)
    whole = np.sqrt(np.sum(np.ptp(values, axis=1) ** 2))
    diameters = np.column_stack([_diameters(values, leaf) for leaf in leaves.T])
    return diameters / (whole if whole > 0 else 1.0)


def _diameters(X: Floats, leaf: Integers) -> Floats:
    """Return for each row (n,) the diagonal of the box around the rows of X (q, n) in its leaf."""
    order = np.argsort(leaf, kind="stable")
    starts = np.flatnonzero(np.append(True, np.diff(leaf[order]) > 0))
    rows = np.diff(np.append(starts, len(leaf)))
    ordered = X[:, order]
    span = np.maximum.reduceat(ordered, starts, axis=1) - np.minimum.reduceat(
        ordered, starts, axis=1
    )
    diameters: Floats = np.empty(len(leaf))
    diameters[order] = np.repeat(np.sqrt(np.sum(span**2, axis=0)), rows)
    return diameters


def predictors_per_split(forest: Forest, first: Integers) -> Integers:
    """Return the numbers of splits (q,) that combine 1, 2, 3 … predictors."""
    node = node_of_terms(forest)
    is_split, P = forest.is_split(), len(first) - 1
    numbers = np.zeros(P + 1, dtype=np.int64)
    # Tree by tree: one call for the millions of terms of a guided forest could not be interrupted.
    bounds = pairwise(np.searchsorted(node, forest.root))
    for (begin, end), root in zip(bounds, forest.root, strict=False):
        of_tree, index = node[begin:end], forest.index[begin:end]
        in_split = is_split[of_tree]
        predictor = np.searchsorted(first, index[in_split], side="right") - 1
        pairs = (of_tree[in_split] - root) * np.int64(P + 1) + predictor
        if (np.diff(pairs) < 0).any():
            pairs = np.sort(pairs)
        distinct = pairs[np.diff(pairs, prepend=-1) > 0]
        sizes = np.bincount(distinct // (P + 1))
        numbers += np.bincount(sizes[sizes > 0], minlength=P + 1)
    return np.trim_zeros(numbers, "b")[1:]


# What is proved of the consistency of survival trees and forests, and what a fit has of it.
#
# [I] Ishwaran and Kogalur (2010), Statistics and Probability Letters 80, 1056-1064: general rules
# of splitting, bootstraps and drawn predictors, if all predictors are factors.  [C] Cui, Zhu, Zhou
# and Kosorok (2022), Statistica Sinica 32, 1245-1267: of finitely many predictors with splits at
# random, or many weakly correlated ones.  Both are about splits on single predictors; further
# conditions, which no fit can show, are in the papers.

FINITE = "[I]"
RANDOM, SPARSE = "[C], splits at random", "[C], splits that are chosen"
CENSORING = "censoring independent of the event, given the predictors"
AT_RISK = "rows at risk at the last time, whatever the predictors"
ALONE = "splits on single predictors"
GROWING = "rows of a leaf → ∞"


@dataclass(frozen=True)
class SurvivalFitProperties:
    """The properties of a fit to survival times that the theorems are about."""

    P: int
    numbers: int
    mixed: float
    oblique: bool
    chosen: bool
    least_rows: int
    summed: bool = False


def conditions_of_curves(fit: SurvivalFitProperties) -> list[Condition]:
    """Return the conditions of the results that may cover the fit."""
    return [*_finite(fit), *_univariate(fit)]


def _finite(fit: SurvivalFitProperties) -> list[Condition]:
    numbers = f"{fit.numbers} of {fit.P} are numbers" if fit.numbers else "factors only"
    mixed = "not of numbers" if fit.numbers else f"{100 * (1 - fit.mixed):.3g}% of the leaves"
    separated = FAILS if fit.numbers or fit.mixed else HOLDS
    return [
        Condition(FINITE, CENSORING, "", ASSUMED),
        Condition(FINITE, AT_RISK, "", ASSUMED),
        Condition(FINITE, "finitely many values of predictors", numbers, _status(not fit.numbers)),
        Condition(FINITE, "leaves of one value each", mixed, separated),
        *_of_curves(FINITE, fit),
    ]


def _univariate(fit: SurvivalFitProperties) -> list[Condition]:
    name = SPARSE if fit.chosen else RANDOM
    tried = "several predictors, too" if fit.oblique else "one at a time"
    conditions = [
        Condition(name, CENSORING, "", ASSUMED),
        Condition(name, AT_RISK, "", ASSUMED),
        Condition(name, ALONE, tried, _status(not fit.oblique)),
        Condition(name, GROWING, f"at least {fit.least_rows}", UNKNOWN),
        *_of_curves(name, fit),
    ]
    if fit.chosen:
        weakly = "predictors weakly correlated, and what else the paper asks of them"
        conditions.append(Condition(name, weakly, "", ASSUMED))
    return conditions


def _of_curves(name: str, fit: SurvivalFitProperties) -> list[Condition]:
    steps = [Condition(name, "curves in the leaves, and their mean", "steps of a score", FAILS)]
    return steps if fit.summed else []


def conclusion_on_curves(fit: SurvivalFitProperties) -> str:
    """Return the conclusion for the fit, in one sentence."""
    if fit.summed:
        return (
            "No result covers it: [I] and [C] are about trees whose leaves have curves, and these "
            "add up to a score, whose curves have all the same shape."
        )
    if not fit.numbers and not fit.mixed:
        return (
            "Consistent survival curves if censoring is independent of the event given the "
            "predictors, and if rows are at risk at the last time whatever the predictors, in the "
            f"case of {FINITE}: each leaf has rows of one value of the predictors, so that its "
            "curve is that of this value."
        )
    if fit.oblique:
        return (
            "No result covers it: [I] is about predictors with finitely many values, each in a "
            "leaf of its own, and [C] about splits on single predictors."
        )
    return (
        "Whether [C] applies cannot be evaluated: it needs leaves whose rows grow with n, and a "
        "fixed min_leaf does not show how they would"
        + (", and predictors that are weakly correlated." if fit.chosen else ".")
    )
