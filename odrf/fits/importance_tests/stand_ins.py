"""Stand-ins for variables: values drawn from an estimate of their law given other variables.

A stand-in has the relation of the variable to the other variables, but none to the response beside
them.  So what a fit loses when it is given the stand-in is what the variable alone tells.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray
from pandas.api.types import is_bool_dtype, is_numeric_dtype
from patsy import EvalEnvironment

from odrf.design import Design, TrainingData, build_design
from odrf.design.columns import TEXT, contents
from odrf.engine.factors import indicated
from odrf.engine.running import one_thread
from odrf.errors import InputError, without_warnings
from odrf.fits.fit import Fit
from odrf.fits.growing import grow_fit
from odrf.fits.out_of_bag_values import forest_out_of_bag
from odrf.options.request import inner_request
from odrf.statistics.ridge import ridge_regression

__all__ = ["LabelLaw", "NumberLaw", "laws_given_others", "stand_ins"]

TREES = 100
MIN_LEAF = 5
# Trees of a large table draw a part of its rows: they are less alike, so that their mean is nearer
# to the law than that of trees on all rows, and they grow sooner.
ALL_ROWS, LEAST_SHARE = 2000, 0.1
# Numbers of few values are drawn as if they were labels, so that stand-ins have these values.
FEW_VALUES = 10
TARGET = "target"
# A number is determined by the others if the line leaves a hundred-thousandth of its spread: that
# much the smallest penalty and 32 bits take away.
DETERMINED = 1e-10
# Penalties of the linear fit: from almost none to almost a constant.
PENALTIES = 10.0 ** np.arange(-6, 3.1, 0.5)


class NumberLaw(NamedTuple):
    """The law of a number given other variables: a mean for each row, and residuals.

    Attributes
    ----------
    mean, residual : (m,) float64
        Of the rows without an empty cell.
    """

    mean: NDArray[np.float64]
    residual: NDArray[np.float64]


class LabelLaw(NamedTuple):
    """The law of a label given other variables.

    Attributes
    ----------
    labels : (K,)
    shares : (m, K) float64
        The probability of each label, of the rows without an empty cell.
    """

    labels: Any
    shares: NDArray[np.float64]


def laws_given_others(
    frame: pd.DataFrame, names: Sequence[str], seed: int, n_jobs: int
) -> dict[str, NumberLaw | LabelLaw]:
    """Estimate the law of each of some variables, given all variables but these.

    The mean of a number is that of ridge regression, plus that of a forest of its residuals if this
    has a smaller out-of-bag error.  The probabilities of a label, or of a number of at most ten
    values, are out-of-bag class shares of a forest.

    Parameters
    ----------
    frame : DataFrame of n rows
        All variables.
    names : sequence of str
    seed, n_jobs : int

    Raises
    ------
    InputError
        A variable is neither a number nor a label.
    """
    others = frame[[name for name in frame.columns if name not in names]]
    return {name: _law(frame[name], others, seed, n_jobs) for name in names}


def stand_ins(
    frame: pd.DataFrame, laws: dict[str, NumberLaw | LabelLaw], rng: np.random.Generator
) -> dict[str, Any]:
    """Draw values (n,) of each of the variables; empty cells stay empty.

    A number is the mean of its row plus the residual of another row, which is the same row for all
    numbers: so these keep their relation to each other.
    """
    place = rng.random(len(frame))
    return {name: _drawn(frame[name], law, place, rng) for name, law in laws.items()}


def _drawn(
    column: pd.Series, law: NumberLaw | LabelLaw, place: NDArray[np.float64], rng: Any
) -> Any:
    known = column.notna().to_numpy()
    if isinstance(law, NumberLaw):
        values = column.to_numpy(dtype=np.float64, na_value=np.nan, copy=True)
        values[known] = law.mean + law.residual[np.argsort(place[known])]
        return values
    above = rng.random((int(known.sum()), 1)) > np.cumsum(law.shares, axis=1)[:, :-1]
    values = column.astype(object).to_numpy(copy=True)
    values[known] = np.asarray(law.labels, dtype=object)[above.sum(axis=1)]
    return column if not known.any() else _like(values, column)


def _like(values: Any, column: pd.Series) -> Any:
    return pd.Series(values, index=column.index).astype(column.dtype)


def _law(column: pd.Series, others: pd.DataFrame, seed: int, n_jobs: int) -> NumberLaw | LabelLaw:
    number = is_numeric_dtype(column.dtype) and not is_bool_dtype(column.dtype)
    label = _is_category(column) or is_bool_dtype(column.dtype)
    if not (number or label or column.dtype == object or str(column.dtype).startswith("str")):
        raise InputError(
            f"column {column.name!r} is neither a number nor a label, so that no stand-in can be "
            "drawn for it: convert it to a number before the fit"
        )
    known = column[column.notna()]
    values = pd.unique(known)
    beside = others.loc[column.notna().to_numpy()]
    beside = beside.loc[:, beside.notna().any().to_numpy()]
    if len(values) < 2 or not len(beside.columns):
        return _alone(known, number)
    if number and len(values) > FEW_VALUES:
        return _number_law(known.to_numpy(dtype=np.float64), beside, seed, n_jobs)
    return _label_law(known, beside, seed, n_jobs)


def _alone(known: pd.Series, number: bool) -> NumberLaw | LabelLaw:
    """Return the law of a variable without others in its rows, or of one value."""
    if number:
        values = known.to_numpy(dtype=np.float64)
        return NumberLaw(np.full(len(values), values.mean()), values - values.mean())
    shares = known.astype(object).value_counts(normalize=True)
    return LabelLaw(shares.index, np.tile(shares.to_numpy(), (len(known), 1)))


@one_thread()
def _number_law(y: NDArray[np.float64], others: pd.DataFrame, seed: int, n_jobs: int) -> NumberLaw:
    design, data = _design(pd.Series(y), others, "regression")
    Z = np.nan_to_num(indicated(data.X).T.astype(np.float64))
    linear = ridge_regression(Z, y, np.ones(len(y)), PENALTIES)
    fitted, left_out = linear.intercept + Z @ linear.coef, y - linear.left_out
    of_line = (left_out**2).mean()
    if of_line <= DETERMINED * y.var():
        return NumberLaw(y, np.zeros(len(y)))
    fit = _forest(design, replace(data, y=left_out), seed, n_jobs)
    rest = forest_out_of_bag(fit).value[:, 0]
    rest = np.where(np.isnan(rest), 0.0, rest)
    mean = fitted + rest if ((left_out - rest) ** 2).mean() < of_line else fitted
    return NumberLaw(mean, y - mean)


def _label_law(known: pd.Series, others: pd.DataFrame, seed: int, n_jobs: int) -> LabelLaw:
    codes, labels = pd.factorize(known.astype(object), sort=False)
    # categories: labels may be different in nearly all rows
    target = pd.Series(pd.Categorical([f"{code:06d}" for code in codes]))
    design, data = _design(target, others, "classification")
    value = forest_out_of_bag(_forest(design, data, seed, n_jobs)).value
    overall = np.bincount(codes) / len(codes)
    return LabelLaw(labels, np.where(np.isnan(value), overall, value))


def _design(target: pd.Series, others: pd.DataFrame, kind: str) -> tuple[Design, TrainingData]:
    """Return the design of a target by all columns of other variables.

    What can be said of these, the fit has said when it was made.
    """
    data = others.set_axis([f"x{j}" for j in range(len(others.columns))], axis=1)
    # a formula with C() takes text that is different in nearly all rows, too
    texts = [name for name in data.columns if contents(data[name]) == TEXT]
    data = data.astype({name: "category" for name in texts if not _is_category(data[name])})
    data = data.assign(**{TARGET: target.array})
    with without_warnings():
        return build_design(f"{TARGET} ~ .", data, kind=kind, env=EvalEnvironment.capture())


def _is_category(column: pd.Series) -> bool:
    return isinstance(column.dtype, pd.CategoricalDtype)


def _forest(design: Design, data: TrainingData, seed: int, n_jobs: int) -> Fit:
    request = inner_request(
        n_trees=TREES,
        resample="bootstrap",
        min_leaf=MIN_LEAF,
        seed=seed,
        n_jobs=n_jobs,
        sample_fraction=min(1.0, max(LEAST_SHARE, ALL_ROWS / data.n_rows)),
    )
    return grow_fit("", design, data, request)
