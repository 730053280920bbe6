"""Effects of a fit, with what is to be known of their standard errors."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd
from tqdm import tqdm

from odrf.fits.averaged.averages import trees_vary
from odrf.fits.averaged.estimating import DIFFERENCE, RATIO, Estimand, estimated
from odrf.fits.averaged.grid_of_rows import grouped_rows
from odrf.fits.fit import AnyFit, Fit
from odrf.reports.averaged.effects import Effects
from odrf.warn import warn_user

__all__ = ["effects_of"]

EXPECTATION = (
    "Standard errors are for the forest's expectation over training samples, which differs from "
    "the truth by the forest's bias."
)
NOT_FOR_INFERENCE = (
    "The forest was not grown for inference: its standard errors may be too large; those of "
    "odrf(…, inference=True) are closer to the variation over samples."
)


def effects_of(
    fit: AnyFit,
    title: str,
    estimands: Sequence[Estimand],
    by: object,
    newdata: pd.DataFrame | None,
    level: float,
    population: bool,
    progress: bool,
    ratio: bool = False,
) -> Effects:
    """Return the effects of the estimands; the other arguments are those of the results' methods.

    Warns
    -----
    UserWarning
        The forest has too few trees for standard errors.
    """
    grouped = grouped_rows(fit, newdata, by)
    averages = sum(1 + (estimand.low is not None) for estimand in estimands)
    with tqdm(total=averages * len(grouped.share), unit="row", disable=not progress) as bar:
        comparison = RATIO if ratio else DIFFERENCE
        found = estimated(fit, grouped, estimands, comparison, population, bar.update)
        bar.update(bar.total - bar.n)
    advised = 0 if found.uncertainty is None else found.uncertainty.trees_advised
    if advised:
        n_trees = fit.forest.n_trees
        warn_user(
            f"{n_trees} trees are few for standard errors: their Monte Carlo error is large, and "
            f"too few trees make them too large on average; use n_trees={advised}, or "
            f"grow({advised - n_trees})"
        )
    return Effects(title, fit.call, found, level, float(ratio), _notes(fit))


def _notes(fit: AnyFit) -> tuple[str, ...]:
    if not trees_vary(fit):
        return (
            "There are no standard errors, because they compare trees that drew a row with trees "
            "that did not: fit a forest with odrf(), whose trees draw rows.",
        )
    assert isinstance(fit, Fit)
    return (EXPECTATION,) if fit.control.inference else (EXPECTATION, NOT_FOR_INFERENCE)
