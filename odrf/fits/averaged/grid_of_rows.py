"""Rows over which predictions are averaged: their values, groups and shares."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_list
from odrf.design.new_rows import with_values
from odrf.engine.factors import Matrix
from odrf.errors import InputError, nearest
from odrf.fits.fit import AnyFit
from odrf.fits.raw_rows import RawRows, raw_rows
from odrf.statistics.effects import NUMBERS
from odrf.text.names import free_name

__all__ = ["GroupedRows", "grouped_rows", "set_to", "shown_name", "values_at"]

MOST_GROUPS = 100


@dataclass(frozen=True, eq=False)
class GroupedRows:
    """Rows in groups, with a share of each in the average of its group.

    Attributes
    ----------
    rows : RawRows
        n rows.
    group : (n,) int64
        The group of each row, from 0.
    labels : DataFrame of C rows
        What the rows of each group have in common, by `shown_name`; without columns if there is one
        group.
    share : (n,) float64
        Case weights, divided by their sum in the group.
    """

    rows: RawRows
    group: NDArray[np.int64]
    labels: pd.DataFrame
    share: NDArray[np.float64]


def grouped_rows(fit: AnyFit, newdata: pd.DataFrame | None, by: Any) -> GroupedRows:
    """Return the training rows or new rows, in groups `by` the values of some columns.

    Raises
    ------
    InputError
        A column of `by` is unknown or has too many values, or the rows cannot be predicted.
    """
    rows = raw_rows(fit, newdata)
    n = len(rows.frame)
    if by is None:
        group, labels = np.zeros(n, dtype=np.int64), pd.DataFrame(index=range(1))
    else:
        names = [by] if isinstance(by, str) else list(by) if is_list(by) else None
        if not names:
            raise InputError(f"by={by!r} names no column: use a name, or a list of names")
        group, labels = _groups(_columns(names, rows, newdata))
        labels = labels.rename(columns={name: shown_name(fit, name) for name in labels})
    weights = rows.weights
    total = np.bincount(group, weights, len(labels))
    if not (total > 0).all():
        raise InputError(
            "by= makes a group of training rows that all have the weight 0: give the rows of the "
            "other groups as newdata="
        )
    return GroupedRows(rows, group, labels, weights / total[group])


def shown_name(fit: AnyFit, name: Any) -> str:
    """Return what a column of the data is called in tables of estimates, which have their own."""
    of_classes = () if fit.design.response.classes is None else ("class",)
    return free_name(name, ("term", "contrast", *of_classes, *NUMBERS))


def values_at(at: Any) -> list[dict[str, Any]]:
    """Return the combinations of the values of `at`, a mapping of names to values or lists.

    Raises
    ------
    InputError
        `at` is no such mapping, or a list is empty.
    """
    if at is None:
        return [{}]
    if not isinstance(at, Mapping) or not at:
        raise InputError(
            f"at={at!r} is no mapping of variables to values: write at={{'age': [30, 60]}}"
        )
    lists = [list(value) if is_list(value) else [value] for value in at.values()]
    empty = [name for name, values in zip(at, lists, strict=True) if not values]
    if empty:
        raise InputError(f"at= has no value for {empty[0]!r}: give one or more")
    return [dict(zip(at, values, strict=True)) for values in product(*lists)]


def set_to(fit: AnyFit, rows: RawRows, values: Mapping[str, Any]) -> Matrix:
    """Return the matrix of the rows with some variables set to other values."""
    return with_values(fit.design, rows.frame, rows.X, values) if values else rows.X


def _columns(
    names: Sequence[str], rows: RawRows, newdata: pd.DataFrame | None
) -> dict[str, pd.Series]:
    """Return the columns of these names, of the rows."""
    frame = rows.frame if newdata is None else newdata[rows.complete]
    unknown = [name for name in names if name not in frame.columns]
    if unknown:
        where = "a column of newdata" if newdata is not None else "a variable of the fit"
        raise InputError(
            f"by={unknown[0]!r} is not {where}{nearest(str(unknown[0]), frame.columns)}"
            + ("" if newdata is not None else ": give the rows with such a column as newdata=")
        )
    return {name: frame[name] for name in names}


def _groups(columns: Mapping[str, pd.Series]) -> tuple[NDArray[np.int64], pd.DataFrame]:
    frame = pd.DataFrame({name: column.to_numpy() for name, column in columns.items()})
    for name, column in columns.items():
        if isinstance(column.dtype, pd.CategoricalDtype):
            frame[name] = pd.Categorical(frame[name], column.cat.categories)
        elif column.dtype == np.float16:  # which pandas does not group by
            frame[name] = frame[name].astype(np.float32)
    grouped = frame.groupby(list(frame), dropna=False, observed=True, sort=True)
    group = grouped.ngroup().to_numpy().astype(np.int64)
    if grouped.ngroups > MOST_GROUPS:
        raise InputError(
            f"by={list(columns)} makes {grouped.ngroups} groups, more than {MOST_GROUPS}: cut "
            "numbers into classes first, such as pd.cut(data['age'], 4)"
        )
    first = np.unique(group, return_index=True)[1]
    return group, frame.iloc[first].reset_index(drop=True)
