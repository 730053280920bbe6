"""Consistency: which theorem covers a fit, and what the data show of its conditions."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterable
from dataclasses import replace
from functools import cached_property

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf import plots
from odrf.design.encoding import Indicators, Ranks
from odrf.engine.trees.forest import joined
from odrf.errors import AbsentError
from odrf.fits.fit import AnyFit, BoostedFit, Fit, GuidedFit
from odrf.fits.pruning import cut_by_call
from odrf.options.boosting import REFIT
from odrf.options.criteria import IN_WORDS
from odrf.options.sizes import CV, EXPONENTS, FIXED, FUNCTION, ONE_SE, OOB, RATE, Rule
from odrf.options.tree import ALL, ResolvedOptions
from odrf.pruning.complexity import growth_ranks
from odrf.public import public, public_method, respelled
from odrf.statistics.theorems import (
    DRAWS,
    TAIL,
    Condition,
    FitProperties,
    conclusion,
    conditions,
    leaf_diameters,
    normal_quantiles,
    predictors_per_split,
    ratios,
    tail_index,
    tail_p,
)
from odrf.text.splits import number
from odrf.text.summary import Card, TableReport

# Most trees whose leaf diameters are computed; more would change little.
MEASURED_TREES = 20
QUARTER = 0.25
# Residuals, and responses, with smaller p-values have heavier tails than normal ones.
HEAVY, HEAVY_RESPONSE = 0.01, 0.05


class TheoremReport(TableReport):
    """Base class of reports on theorems: one row of the table for each condition."""

    _title = "Consistency"

    @property
    @abstractmethod
    def conclusion(self) -> str:
        """The conclusion, in one sentence."""

    def _of_conditions(self, conditions: Iterable[Condition]) -> pd.DataFrame:
        """Return the table of conditions."""
        lines = [(c.theorem, c.statement, c.quantity, c.status) for c in conditions]
        return pd.DataFrame(lines, columns=["theorem", "condition", "quantity", "verdict"])

    def _facts(self) -> dict[str, str]:
        return {"Conclusion": self.conclusion}

    def _sections(self) -> dict[str, pd.DataFrame]:
        return {"Conditions": self.table.set_index("theorem")}

    def _card(self) -> Card:
        conditions = self.table.set_index("theorem").rename_axis(None)
        return Card(self._title, self._facts(), conditions)


@public
class ConsistencyReport(TheoremReport):
    """Which consistency theorem covers a fit, and what the data show of its conditions.

    Returned by the method `consistency` of results.

    Attributes
    ----------
    fit : AnyFit
    facts : FitProperties
        Its options and sizes, as the theorems use them.
    table : DataFrame
        One row for each condition.  Columns: ``theorem``; ``condition``; ``quantity``, its value at
        this n; ``verdict``: "holds", "does not hold", "cannot be evaluated" (an option given as a
        number does not tell how it would change with n), "assumed", "differs" (the fit is known to
        depart from what the theorem is about, and how much that matters is not known), or
        "contradicted" (the data speak against it).

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> report = odrf.odt(
    ...     "progression ~ .", data, max_leaves=lambda n: n**0.5, seed=1
    ... ).consistency()
    >>> report.conclusion[:50]
    'Consistent for any continuous regression function '
    >>> report.conclusion[50:]
    'if Y is sub-Gaussian and what differs does no harm, by [Z] Theorem 1.'
    """

    def __init__(self, fit: AnyFit, facts: FitProperties, residuals: NDArray[np.float64]) -> None:
        self.fit, self._residuals = fit, residuals
        self.facts = replace(facts, tails=self._heavy_tails())
        self.table = self._of_conditions(conditions(self.facts))

    @cached_property
    def _tails(self) -> tuple[float, float]:
        """Hill's tail index of the residuals, and its p-value."""
        return tail_index(self._residuals), tail_p(self._residuals, self.fit.control.seed)

    def _heavy_tails(self) -> str:
        """Return the test in words if tails of residuals and of responses are heavy; else nothing.

        Residuals of a bounded response may have heavy tails, too, where trees are too small for it.
        """
        if not len(self._residuals) or self._tails[1] > HEAVY:
            return ""
        y = self.fit.data.y
        if tail_p(y - np.median(y), self.fit.control.seed) > HEAVY_RESPONSE:
            return ""
        index, p = self._tails
        return f"tail index {index:.3g}, p = {p:.2g}"

    @property
    def conclusion(self) -> str:
        """The conclusion, in one sentence: what a theorem says, and on which conditions.

        It says so if the data speak against a condition: if the tails of residuals (p < 0.01) and
        of responses (p < 0.05) are heavier than normal ones, or if trees have far fewer leaves than
        the theorem asks for.
        """
        return conclusion(self.facts)

    @cached_property
    def evidence(self) -> pd.Series:
        """What the data show: tails of residuals, leaf sizes, leaf diameters, predictors per split.

        ``tail index`` is Hill's estimate from the largest 5 % of the absolute residuals; ``tail p``
        is the p-value of so large an index for normal residuals.  A leaf's diameter is the diagonal
        of the bounding box of its rows, divided by that of all rows; median and quantile are over
        rows and trees.  It must shrink as trees grow with n: compare ``… with a quarter of the
        leaves``, the median when trees had a quarter of their leaves.  ``leaves without rows``, for
        honest fits only, is the share of leaves whose value comes from a node above.
        """
        sizes = self.leaf_sizes
        counts = self.predictors_per_split
        values: dict[str, float] = {}
        if len(self._residuals):
            values["tail index"], values["tail p"] = self._tails
        values |= {
            "rows per leaf, median": float(np.median(sizes)),
            "rows per leaf, largest": float(sizes.max()),
            "leaf diameter, median": float(np.median(self.leaf_diameters)),
            "leaf diameter, 90 %": float(np.quantile(self.leaf_diameters, 0.9)),
            "… with a quarter of the leaves": float(np.median(self._diameters(QUARTER))),
        }
        if self.facts.honest:
            values["leaves without rows"] = float((sizes == 0).mean())
        if counts.sum():
            values["splits on one predictor"] = counts[0] / counts.sum()
            values["predictors per split, mean"] = float(
                np.average(np.arange(1, len(counts) + 1), weights=counts)
            )
        return pd.Series(values, name="value")

    @cached_property
    def leaf_sizes(self) -> NDArray[np.int64]:
        """Number of training rows in each leaf; a row sampled twice counts twice."""
        forest = self.fit.forest
        return forest.count[forest.is_leaf()].astype(np.int64)

    @cached_property
    def predictors_per_split(self) -> NDArray[np.int64]:
        """Number of splits that combine 1, 2, 3, … predictors."""
        return predictors_per_split(self.fit.forest, self.fit.design.first)

    @cached_property
    def leaf_diameters(self) -> NDArray[np.float64]:
        """Diameter of each training row's leaf (n, b) in the first b trees; the root's is 1."""
        return self._diameters(1.0)

    def _diameters(self, share: float) -> NDArray[np.float64]:
        """Return the diameters when trees had this share of their leaves, and at least 2."""
        fit, forest = self.fit, self.fit.forest
        n_trees = min(MEASURED_TREES, forest.n_trees)
        trees = joined((forest.tree(b) for b in range(n_trees)), n_trees)
        leaves = np.maximum(np.ceil(share * trees.leaves()), 2)
        kept = growth_ranks(trees) < np.repeat(leaves, np.diff(trees.root))
        smaller = trees.keeping(trees.is_split() & kept)
        return leaf_diameters(smaller, fit.data.X, fit.control.n_jobs)

    @property
    def normal_quantiles(self) -> NDArray[np.float64]:
        """The sorted residuals, standardised by their median absolute deviation.

        For normal residuals these are normal quantiles.  The plot compares the two.

        Raises
        ------
        AbsentError
            For classes, whose residuals are bounded; for guided forests, which have no out-of-bag
            rows; for boosted trees of one run without held-out rows.
        """
        if not len(self._residuals):
            raise AbsentError(
                "normal_quantiles needs a regression with residuals that estimate the noise: "
                "classes have no tails, guided forests have no out-of-bag rows, and boosted trees "
                "need rows held out by validation=, or several runs"
            )
        return normal_quantiles(self._residuals)

    @property
    def ratios(self) -> dict[str, tuple[float, ...]]:
        """Quantities that must converge to 0, by name, each at n, 10·n, … 10¹²·n rows.

        Empty if no option of the fit is a function of n or a rate.
        """
        return ratios(self.facts)

    def _sections(self) -> dict[str, pd.DataFrame]:
        evidence = self.evidence.map(lambda value: number(value, 3)).to_frame()
        return super()._sections() | {"Evidence": evidence}

    def _notes(self) -> tuple[str, ...]:
        notes = [
            "[Z]: Zhan, Liu and Xia (arXiv 2211.12653); [P]: Manifold-aware forests (Perry et "
            "al.). A rate is known by what its rule gives at n, 10 n, ... 10^12 n rows and beyond."
        ]
        if len(self._residuals):
            index, p = self._tails
            notes.append(
                "Tested: are the tails of the residuals heavier than those of a normal "
                f"distribution? Hill's tail index of the largest {100 * TAIL:.0f} % of |residuals| "
                f"is {index:.3g}, p = {p:.2g} by {DRAWS} normal samples."
            )
        fact = self.facts
        if fact.forest and not fact.limited and fact.drawn < 1 and not fact.honest:
            notes.append(
                "A later version of [Z] (arXiv 2211.12653v4) announces consistency of fully grown "
                "forests on subsamples."
            )
        if isinstance(self.fit, Fit) and self.fit.changes is not None:
            notes.append(
                "The fit was updated, and splits that were made on fewer rows may have stayed: the "
                "results are about trees that are grown on all rows at once."
            )
        if isinstance(self.fit, BoostedFit) and self.fit.control.leaf_values == REFIT:
            notes.append(
                "A later version of [Z] (arXiv 2211.12653v4) announces consistency of boosting by "
                'orthogonal matching pursuit, as leaf_values="refit" is.'
            )
        return tuple(notes)

    @respelled(renamed={"axes": "ax"})
    @public_method
    def plot(self, *, ax: NDArray | None = None) -> NDArray:
        """Plot the ratios against n, the tails of the residuals, leaf sizes and split sizes.

        Parameters
        ----------
        ax : array of 4 Axes, optional
            Where to draw.  By default on a new figure.

        Returns
        -------
        array of 4 Axes

        Raises
        ------
        InputError
            If `ax` has another number of axes.
        """
        tails = self.normal_quantiles if len(self._residuals) else None
        return plots.fits.plot_consistency(
            self.facts.n, self.ratios, tails, self.leaf_sizes, self.predictors_per_split, ax
        )


# The options and sizes of a fit, as the consistency theorems use them.

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
    criteria = {kind.criterion for kind in used}
    return FitProperties(
        forest=fit.forest.n_trees > 1, classes=fit.kind == "classification", n=fit.training.n_rows,
        P=P, subset_size=fixed_size, family=other_families[0] if other_families else "",
        axis_trees=bool(axis),
        leaves=float((not cut and control.max_leaves) or measured.forest.leaves().mean()),
        leaves_along=control.max_leaves_rule.along, limited=control.max_leaves is not None,
        alpha=alpha, alpha_along=() if by_hand and not cut else control.alpha_rule.along,
        drawn=max(kind.sample_fraction for kind in used),
        drawn_along=control.sample_fraction_rule.along, replaced=control.resample == "bootstrap",
        honest=control.honest,
        single_columns=False if False in single else None if None in single else True,
        full=not limited and not pruned and control.penalty is None,
        scale=IN_WORDS.get(control.split_scale, ""),
        n_classes=control.settings.n_classes if fit.kind == "classification" else 0,
        penalty=control.penalty or "", criterion="" if criteria & COVERED else min(criteria),
        random_cuts=_random_cuts(fit), stopped=_stopped(control, alpha is not None), cut=cut,
        no_rule=_no_rule(control, by_hand, cut),
        constant_by=rule.found_by if (rule := _rule(control)).kind == RATE else "",
        min_leaf=control.min_leaf, exact_rows=_exact_rows(fit, used), short=short,
        factors=_factors(fit),
    )  # fmt: skip


def _factors(fit: Fit) -> int:
    """Return how many predictors are factors, or made of some, and have finitely many values."""
    recipe = fit.design.recipe
    return sum(
        any(isinstance(recipe.variables[v].encoding, Indicators | Ranks) for v in term)
        for term in recipe.terms
    )


def _exact_rows(fit: Fit, used: list[ResolvedOptions]) -> float:
    """Return the most rows of a node in which all cuts are tried; infinite if no node has more."""
    most = min(kind.settings.exact_rows for kind in used)
    return float(most) if fit.forest.count[fit.forest.root[:-1]].max() > most else np.inf


def _short(grown: Fit) -> str:
    """Return why trees have far fewer leaves than t_n, in words; nothing if they do not.

    Pure leaves are as many as there can be; without a limit, fewer than ln n leaves are too few.
    """
    control, forest = grown.control, grown.forest
    most, known = control.max_leaves, "t_n"
    if most is None:
        most, known = np.log(grown.training.n_rows), "ln n"
    leaves, roots = float(forest.leaves().mean()), forest.impurity[forest.root[:-1]]
    impure = forest.impurity[forest.is_leaf()].max() > PURE * roots.max()
    if not impure or leaves >= REACHED * most:
        return ""
    return f"{leaves:.3g} leaves, {known} = {most:.3g}, min_leaf={control.min_leaf}"


def _random_cuts(fit: Fit) -> float:
    """Return the share of the trees that try random cuts of a direction only."""
    if fit.blend is None:
        return float(fit.control.n_thresholds != ALL)
    random = np.array([kind.n_thresholds != ALL for kind in fit.kinds.values()])
    return float(random[fit.blend.of_tree].mean())


def _stopped(control: ResolvedOptions, pruned: bool) -> tuple[str, ...]:
    """Return the options that stop growth at a fixed size, as a call has them."""
    names = ["max_depth"] if control.max_depth is not None else []
    if pruned and control.max_leaves_rule.kind == FIXED:
        names.append("max_leaves")
    return tuple(f"{name}={getattr(control, name)}" for name in names)


def _rule(control: ResolvedOptions) -> Rule:
    return control.max_leaves_rule if control.alpha is None else control.alpha_rule


def _no_rule(control: ResolvedOptions, by_hand: bool, cut: bool) -> str:
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
    # the most leaves that the depth allows, for any n; 2^200 is more than any n
    most = 2.0 ** min(control.max_depth, 200)
    return FitProperties(
        forest=True, classes=fit.kind == "classification", n=len(fit.data.y),
        P=len(fit.design.predictors), subset_size=None if isinstance(size, str) else size,
        family="" if control.mixture.on_subsets else control.mixture.name,
        axis_trees=control.mixture.n_directions == 0, leaves=most,
        leaves_along=(most,) * len(EXPONENTS), limited=True, alpha=None, alpha_along=(),
        drawn=control.sample_fraction, drawn_along=(), replaced=False, honest=False,
        single_columns=control.mixture.single_columns(len(fit.design.columns), size), full=False,
        summed=True,
    )  # fmt: skip


def properties_of_guided(fit: GuidedFit) -> FitProperties:
    """Return the properties of a guided forest."""
    classes = fit.kind == "classification"
    return FitProperties(
        forest=True, classes=classes, n=len(fit.data.y), P=len(fit.design.predictors),
        subset_size=fit.control.subspace, family=GUIDED_FAMILY, axis_trees=False,
        leaves=float(fit.forest.leaves().mean()), leaves_along=(), limited=False, alpha=None,
        alpha_along=(), drawn=1.0, drawn_along=(), replaced=False, honest=False,
        single_columns=False, full=True, n_classes=fit.control.n_classes if classes else 0,
        criterion="Gini index, classes scaled" if classes else "", cut_at="at the mean of a region",
        smallest="min_split",
    )  # fmt: skip
