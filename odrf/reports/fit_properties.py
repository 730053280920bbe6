"""The options and sizes of a fit, as the consistency theorems use them."""

from __future__ import annotations

import numpy as np

from odrf.design.encoding import Indicators, Ranks
from odrf.fits.fit import BoostedFit, Fit, GuidedFit
from odrf.fits.pruning import cut_by_call
from odrf.options.criteria import IN_WORDS
from odrf.options.sizes import CV, EXPONENTS, FIXED, FUNCTION, ONE_SE, OOB, RATE, Rule
from odrf.options.tree import ALL, Control
from odrf.statistics.theorems import FitProperties

__all__ = ["properties_of", "properties_of_boosted", "properties_of_guided"]

# The criteria that the theorems of [Z] are about.
COVERED = {"squared_error", "gini"}
GUIDED_FAMILY = "guided planes"
# A tree with this share of t_n leaves has them; with this share of the root's impurity a leaf is
# pure.
REACHED, PURE = 0.8, 1e-9


def properties_of(fit: Fit) -> FitProperties:
    """Return the properties of a tree or forest."""
    control, P = fit.control, len(fit.design.predictors)
    kinds = list(fit.kinds.values()) or [control]
    used = [kinds[g] for g in np.unique(fit.blend.of_tree)] if fit.blend is not None else kinds
    axis = [kind for kind in used if kind.mixture.n_directions == 0]
    other_families = [
        kind.mixture.name for kind in used if kind not in axis and not kind.mixture.on_subsets
    ]
    size, called = control.subset_size, cut_by_call(fit)
    by_hand = called is not None
    cut = called is not None and called[1] is None
    alpha, measured = (None, fit) if cut else (control.alpha, fit.first_grown)
    fixed_size = 1 if len(axis) == len(used) else None if isinstance(size, str) else size
    limited = control.max_leaves is not None or control.max_depth is not None
    pruned = bool((fit.forest.is_split() != (fit.forest.order > 0)).any())
    single = [
        kind.mixture.single_columns(len(fit.design.columns), kind.subset_size) for kind in used
    ]
    short = "" if cut or control.honest or control.max_depth is not None else _short(measured)
    return FitProperties(
        forest=fit.forest.n_trees > 1,
        classes=fit.kind == "classification",
        n=fit.data.n_rows,
        P=P,
        subset_size=fixed_size,
        family=other_families[0] if other_families else "",
        axis_trees=bool(axis),
        leaves=float((not cut and control.max_leaves) or measured.forest.leaves().mean()),
        leaves_along=control.max_leaves_rule.along,
        limited=control.max_leaves is not None,
        alpha=alpha,
        alpha_along=() if by_hand and not cut else control.alpha_rule.along,
        drawn=max(kind.sample_fraction for kind in used),
        drawn_along=control.sample_fraction_rule.along,
        replaced=control.resample == "bootstrap",
        honest=control.honest,
        single_columns=False if False in single else None if None in single else True,
        full=not limited and not pruned and control.penalty is None,
        scale=IN_WORDS.get(control.split_scale, ""),
        n_classes=control.settings.n_classes if fit.kind == "classification" else 0,
        penalty=control.penalty or "",
        criterion=_criterion({kind.criterion for kind in used}),
        random_cuts=_random_cuts(fit),
        stopped=_stopped(control, alpha is not None),
        cut=cut,
        no_rule=_no_rule(control, by_hand, cut),
        constant_by=rule.found_by if (rule := _rule(control)).kind == RATE else "",
        min_leaf=control.min_leaf,
        exact_rows=_exact_rows(fit, used),
        short=short,
        factors=_factors(fit),
    )


def _factors(fit: Fit) -> int:
    """Return how many predictors are factors, or made of some, and have finitely many values."""
    recipe = fit.design.recipe
    return sum(
        any(isinstance(recipe.variables[v].encoding, Indicators | Ranks) for v in term)
        for term in recipe.terms
    )


def _exact_rows(fit: Fit, used: list[Control]) -> float:
    """Return the most rows of a node in which all cuts are tried; infinite if no node has more."""
    most = min(kind.settings.exact_rows for kind in used)
    return float(most) if fit.forest.count[fit.forest.root[:-1]].max() > most else np.inf


def _short(grown: Fit) -> str:
    """Return why trees have far fewer leaves than t_n, in words; nothing if they do not.

    Trees whose leaves are pure have all leaves that they can have.  If nothing limits their number,
    trees of fewer than ln n leaves have too few.
    """
    control, forest = grown.control, grown.forest
    asked, known = control.max_leaves, "t_n"
    if asked is None:
        asked, known = np.log(grown.data.n_rows), "ln n"
    leaves, roots = float(forest.leaves().mean()), forest.impurity[forest.root[:-1]]
    impure = forest.impurity[forest.is_leaf()].max() > PURE * roots.max()
    if not impure or leaves >= REACHED * asked:
        return ""
    return f"{leaves:.3g} leaves, {known} = {asked:.3g}, min_leaf={control.min_leaf}"


def _random_cuts(fit: Fit) -> float:
    """Return the share of the trees that try random cuts of a direction only."""
    if fit.blend is None:
        return float(fit.control.n_thresholds != ALL)
    random = np.array([kind.n_thresholds != ALL for kind in fit.kinds.values()])
    return float(random[fit.blend.of_tree].mean())


def _criterion(criteria: set[str]) -> str:
    """Return the criterion of all trees, in words of options; nothing if some are covered."""
    return "" if criteria & COVERED else min(criteria)


def _stopped(control: Control, pruned: bool) -> tuple[str, ...]:
    """Return the options that stop growth at a fixed size, as a call has them."""
    names = ["max_depth"] if control.max_depth is not None else []
    if pruned and control.max_leaves_rule.kind == FIXED:
        names.append("max_leaves")
    return tuple(f"{name}={getattr(control, name)}" for name in names)


def _rule(control: Control) -> Rule:
    return control.max_leaves_rule if control.alpha is None else control.alpha_rule


def _no_rule(control: Control, by_hand: bool, cut: bool) -> str:
    """Return why the size of the trees follows no rule in n, if it is no fixed number."""
    rule = _rule(control)
    if by_hand:
        return f"prune() has set {'the leaves' if cut else 'α'}, not a rule in n"
    if rule.kind == FUNCTION and not rule.along:
        return "its function of n fails for many rows"
    if rule.kind in (CV, ONE_SE, OOB):
        by = rule.found_by if rule.kind == OOB else f"by {rule.found_by}"
        return f"α was chosen {by}, not by a rule in n"
    return ""


def properties_of_boosted(fit: BoostedFit) -> FitProperties:
    """Return the properties of boosted trees."""
    control = fit.control
    size = control.subset_size
    # the most leaves that the depth allows, for any n
    most = 2.0**control.max_depth
    return FitProperties(
        forest=True,
        classes=fit.kind == "classification",
        n=len(fit.data.y),
        P=len(fit.design.predictors),
        subset_size=None if isinstance(size, str) else size,
        family="" if control.mixture.on_subsets else control.mixture.name,
        axis_trees=control.mixture.n_directions == 0,
        leaves=most,
        leaves_along=(most,) * len(EXPONENTS),
        limited=True,
        alpha=None,
        alpha_along=(),
        drawn=control.sample_fraction,
        drawn_along=(),
        replaced=False,
        honest=False,
        single_columns=control.mixture.single_columns(len(fit.design.columns), size),
        full=False,
        summed=True,
    )


def properties_of_guided(fit: GuidedFit) -> FitProperties:
    """Return the properties of a guided forest."""
    classes = fit.kind == "classification"
    return FitProperties(
        forest=True,
        classes=classes,
        n=len(fit.data.y),
        P=len(fit.design.predictors),
        subset_size=fit.control.subspace,
        family=GUIDED_FAMILY,
        axis_trees=False,
        leaves=float(fit.forest.leaves().mean()),
        leaves_along=(),
        limited=False,
        alpha=None,
        alpha_along=(),
        drawn=1.0,
        drawn_along=(),
        replaced=False,
        honest=False,
        single_columns=False,
        full=True,
        n_classes=fit.control.n_classes if classes else 0,
        criterion="Gini index, classes scaled" if classes else "",
        cut_at="at the mean of a region",
        smallest="min_split",
    )
