"""Rows that belong together: groups, an order in time, strata.

A tree that was grown on some rows of a subject, or before a time, cannot show with the others how
well new subjects, or later times, are predicted.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from pandas.api import types

from odrf.design.weights import row_labels
from odrf.engine.resamples import RowCodes
from odrf.errors import InputError

STRUCTURE_ARGUMENTS = ("groups", "order", "strata")
"""The arguments of the functions that grow trees."""

FEWEST_UNITS = 2


@dataclass(frozen=True, eq=False)
class RowStructure:
    """Which of n rows belong together, as codes 0, 1, …, each of which some row has.

    `groups` and `strata` (n,) are numbered in the order of their first rows; `order` (n,) are the
    ranks of times.  By argument, `labels` are what the user calls them, `columns` the columns that
    were named.
    """

    groups: NDArray[np.int64] | None = None
    order: NDArray[np.int64] | None = None
    strata: NDArray[np.int64] | None = None
    labels: dict[str, pd.Index] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    @property
    def codes(self) -> RowCodes:
        """The codes, for the engine."""
        return RowCodes(self.groups, self.order, self.strata)

    @property
    def n_groups(self) -> int | None:
        """Number of groups, None without groups."""
        return None if self.groups is None else len(self.labels["groups"])

    def keeping(self, rows: NDArray[np.bool_]) -> RowStructure:
        """Return the structure of the `rows` (n,) alone, without codes that none of them has."""
        kept: dict[str, Any] = {}
        labels = {}
        for name, codes in self._given():
            row_codes, kept[name] = np.unique(codes[rows], return_inverse=True)
            labels[name] = self.labels[name][row_codes]
        return replace(self, labels=labels, **kept)

    def with_more(self, data: pd.DataFrame, rows: NDArray[np.bool_]) -> RowStructure:
        """Return the structure of these rows followed by some `rows` (m,) of another data frame."""
        if self.order is not None:
            raise InputError(
                "update() cannot add rows to a fit with order=, because its trees were grown on "
                "rows before their cuts: fit again with all rows"
            )
        more: dict[str, Any] = {}
        labels = {}
        for name, codes in self._given():
            if name not in self.columns:
                raise InputError(
                    f"{name}= of the fit was given as values, and new rows need theirs: fit with "
                    f"{name}= as the name of a column, which newdata has, too"
                )
            values = row_labels(name, self.columns[name], data)[rows]
            _require_full(name, values)
            both = np.concatenate([self.labels[name].astype(object), values.astype(object)])
            row_codes, levels = pd.factorize(both)
            more[name] = np.concatenate(
                [codes, row_codes[len(self.labels[name]) :].astype(np.int64)]
            )
            labels[name] = pd.Index(levels)
        return replace(self, labels=labels, **more)

    def _given(self) -> list[tuple[str, NDArray[np.int64]]]:
        pairs = [(name, getattr(self, name)) for name in STRUCTURE_ARGUMENTS]
        return [(name, codes) for name, codes in pairs if codes is not None]


def read_structure(
    data: pd.DataFrame,
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    rows: NDArray[np.bool_] | None = None,
) -> RowStructure | None:
    """Return the structure of the `rows` (n,) of a data frame, by default all; None without any.

    The arguments are names of columns, or one value for each row of `data`.  Raises `InputError` if
    values are missing or too few, `order` has none, or both `groups` and `order` are given.
    """
    arguments = {"groups": groups, "order": order, "strata": strata}
    named = {name: value for name, value in arguments.items() if value is not None}
    if not named:
        return None
    if groups is not None and order is not None:
        raise InputError(
            "groups= and order= say two things about which rows are left out together: use groups= "
            "to predict new groups, or order= to predict later times"
        )
    rows = np.ones(len(data), dtype=np.bool_) if rows is None else rows
    codes: dict[str, Any] = {}
    labels: dict[str, pd.Index] = {}
    for name, value in named.items():
        values = row_labels(name, value, data)[rows]
        _require_full(name, values)
        if name == "order":
            _require_ordered(values)
        row_codes, levels = pd.factorize(values, sort=name == "order")
        codes[name], labels[name] = row_codes.astype(np.int64), _plain(pd.Index(levels))
        _require_several(name, labels[name])
    columns = {name: value for name, value in named.items() if isinstance(value, str)}
    return RowStructure(**codes, labels=labels, columns=columns)


def require_usable(structure: RowStructure | None, weights: NDArray[np.float64]) -> None:
    """Require two groups or times of positive weight, two units in a stratum, groups in one."""
    if structure is None:
        return
    used = weights > 0
    kept = structure.keeping(used)
    for name in ("groups", "order"):
        if name in kept.labels:
            _require_several(name, kept.labels[name], " of positive weight")
    if structure.strata is None or kept.strata is None:
        return
    units = np.arange(len(weights)) if structure.groups is None else structure.groups
    pairs = np.unique(np.column_stack([units, structure.strata])[used], axis=0)
    counted = "rows" if structure.groups is None else "groups"
    unit, times = np.unique(pairs[:, 0], return_counts=True)
    if (times > 1).any():
        label = structure.labels["groups"][unit[np.argmax(times > 1)]]
        raise InputError(
            f"groups= and strata=: group {_shown(label)} has rows in several strata, and a group "
            "is sampled whole: give each group one stratum, or leave strata= out"
        )
    stratum, sizes = np.unique(pairs[:, 1], return_counts=True)
    if (sizes < FEWEST_UNITS).any():
        label = structure.labels["strata"][stratum[np.argmax(sizes < FEWEST_UNITS)]]
        raise InputError(
            f"strata=: stratum {_shown(label)} has one of the {counted}, which cannot be both "
            "sampled and left out: join it with another stratum, so that each has two or more"
        )


def _plain(labels: pd.Index) -> pd.Index:
    """Return categories as what they name."""
    if isinstance(labels, pd.CategoricalIndex):
        return labels.astype(labels.categories.dtype)
    return labels


def _shown(label: Any) -> str:
    return repr(label.item() if isinstance(label, np.generic) else label)


def _require_full(name: str, values: pd.Series) -> None:
    missing = int(values.isna().sum())
    if missing:
        noun = "value" if missing == 1 else "values"
        raise InputError(
            f"{name}= has {missing} missing {noun}: fill them in, or leave these rows out"
        )


def _require_several(name: str, labels: pd.Index, which: str = "") -> None:
    if len(labels) >= FEWEST_UNITS or name == "strata":
        return
    counted = {"groups": "one group", "order": "one time"}[name]
    raise InputError(
        f"{name}= has {counted} only in the rows{which}, so that none can be left out: leave "
        f"{name}= out, or name another column"
    )


def _require_ordered(values: pd.Series) -> None:
    dtype = values.dtype
    number = types.is_numeric_dtype(dtype) and not (
        types.is_bool_dtype(dtype) or types.is_complex_dtype(dtype)
    )
    time = types.is_datetime64_any_dtype(dtype) or types.is_timedelta64_dtype(dtype)
    if number or time or isinstance(dtype, pd.PeriodDtype):
        return
    raise InputError(
        "order= must be numbers, dates or times, which have an order: convert the column, for "
        "example by pandas.to_datetime"
    )
