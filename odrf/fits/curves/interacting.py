"""The interactions of the variables of a fit, and of the same fit to permuted responses."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from itertools import combinations
from typing import Any, NamedTuple, cast

import numpy as np
from numpy.typing import NDArray
from pandas.api.types import is_integer_dtype

from odrf.engine.factors import with_rows
from odrf.fits.boosted_fit import BoostedFit, grow_boosted_fit
from odrf.fits.curves.curve_rows import curves_of_rows
from odrf.fits.fit import AnyFit, Fit
from odrf.fits.growing import grow_fit
from odrf.fits.guided_fit import GuidedFit, grow_guided_fit
from odrf.fits.raw_rows import RawRows
from odrf.fits.stacked.stack_grown_alike import stack_grown_alike
from odrf.fits.stacked.stacked_fit import StackedFit
from odrf.statistics.curves import Interaction, overall_interaction, pair_interaction

__all__ = ["Interacting", "grown_on_permuted", "interacting", "some_rows"]


class Interacting(NamedTuple):
    """Interactions of P variables.

    Attributes
    ----------
    overall : list of P Interaction
        Of each variable with all others.
    pairs : list of P·(P - 1)/2 Interaction
        Of each pair, in the order of `itertools.combinations`.
    """

    overall: list[Interaction]
    pairs: list[Interaction]


def interacting(
    fit: AnyFit, rows: RawRows, names: Sequence[str], advance: Callable[[], object]
) -> Interacting:
    """Return the interactions of the variables, of averages over s rows at their own values.

    `advance` is called after each variable and each pair.
    """
    values = {name: _values(rows, name) for name in names}
    alone: dict[str, NDArray[np.float64]] = {}
    overall = []
    for name in names:
        predicted = _at_all(fit, rows, {name: values[name]})
        alone[name] = predicted.mean(axis=0)
        own = np.arange(len(predicted))
        overall.append(
            overall_interaction(predicted[own, own], alone[name], predicted.mean(axis=1))
        )
        advance()
    pairs = []
    for first, second in combinations(names, 2):
        both = _at_all(fit, rows, {name: values[name] for name in (first, second)}).mean(axis=0)
        pairs.append(pair_interaction(both, alone[first], alone[second]))
        advance()
    return Interacting(overall, pairs)


def some_rows(rows: RawRows, which: NDArray[np.int64]) -> RawRows:
    """Return some of the rows, all with the same weight."""
    every = np.ones(len(which), dtype=np.bool_)
    frame, X = rows.frame.iloc[which], with_rows(rows.X, which)
    return RawRows(frame, X, np.ones(len(which)), False, every, rows.offset[which])


def grown_on_permuted(fit: AnyFit, seed: int) -> AnyFit:
    """Grow the fit again on responses that have no relation to the predictors.

    They are permuted among the rows, together with their weights.

    Raises
    ------
    InputError
        The fit is a stack whose models depended on time.
    """
    data = fit.data
    order = np.random.default_rng(seed).permutation(data.n_rows)
    permuted = replace(data, y=data.y[order], weights=data.weights[order])
    if isinstance(fit, BoostedFit):
        return grow_boosted_fit(fit.call, fit.design, permuted, fit.offset, fit.control, False)
    if isinstance(fit, GuidedFit):
        return grow_guided_fit(fit.call, fit.design, permuted, fit.frame, fit.control, False)
    if isinstance(fit, StackedFit):
        return stack_grown_alike(fit, permuted)
    grown = cast(Fit, fit)
    return grow_fit(grown.call, grown.design, permuted, grown.request)


def _values(rows: RawRows, name: str) -> NDArray[Any]:
    column = rows.frame[name]
    # as objects, large whole numbers would become floats
    kept = column if is_integer_dtype(column.dtype) else column.astype(object)
    return np.asarray(kept.to_numpy())


def _at_all(fit: AnyFit, rows: RawRows, values: dict[str, Any]) -> NDArray[np.float64]:
    """Return the predictions (s, s, K) of each row at the values of each row."""
    return np.concatenate([block.predicted for block in curves_of_rows(fit, rows, values)])
