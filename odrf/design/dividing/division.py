"""The argument `cv`: how many folds, a label for each row, or a splitter as in scikit-learn."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import is_whole
from odrf.design.dividing.structured import (
    RowsToDivide,
    check_training_rows,
    most_folds,
    structured_folds,
)
from odrf.design.folds import FoldRows, folds_apart
from odrf.design.row_numbers import aligned
from odrf.errors import InputError, nearest

__all__ = ["Division", "Folds", "check_held_out_once", "read_division"]

FEWEST_FOLDS = 2
# scikit-learn's seeds have 32 bits.
MOST_SEEDS = 2**32


class Splitter(Protocol):
    """What divides rows into folds, as in scikit-learn."""

    def split(self, X: Any, y: Any = None, groups: Any = None) -> Iterable[tuple[Any, Any]]:
        """Yield the numbers of the training rows and of the test rows of each fold."""


Folds = int | str | ArrayLike | Splitter


@dataclass(frozen=True, eq=False)
class Division:
    """How rows are divided into folds.

    Attributes
    ----------
    k : int or None
        Number of folds; None if a splitter decides it.
    labels : (n,) int64 or None
        The fold 0 … k - 1 of each row, if it was given.
    splitter : object or None
        With ``split(X, y, groups)``, as in scikit-learn.
    """

    k: int | None
    labels: NDArray[np.int64] | None = None
    splitter: Any = None

    def is_random(self, rows: RowsToDivide) -> bool:
        """Return whether folds of the rows are drawn by the seed."""
        return self.splitter is None and self.labels is None and rows.order is None

    def folds(self, rows: RowsToDivide, seed: int) -> list[FoldRows]:
        """Return the folds of the rows.

        Raises
        ------
        InputError
            If a fold has no rows to train or to test, or training rows of one class only, or if
            the splitter fails, or returns what are no folds of these rows.
        """
        if self.splitter is not None:
            folds = _split(_seeded(self.splitter, seed), rows)
        elif self.labels is not None:
            folds = folds_apart(self.labels, int(self.labels.max()) + 1)
        else:
            assert self.k is not None
            return structured_folds(rows, self.k, seed)
        check_training_rows(folds, rows, "cv=: use others, with two classes outside of each fold")
        return folds

    def words(self, k: int, rows: RowsToDivide) -> str:
        """Return the name of the method, for k folds of the rows."""
        if self.splitter is not None:
            return f"cross-validation by {type(self.splitter).__name__}"
        if self.labels is not None:
            return f"cross-validation on {k} given folds"
        if rows.order is not None:
            return f"{k}-fold cross-validation in time"
        return f"{k}-fold cross-validation" + ("" if rows.groups is None else " of whole groups")


def read_division(
    cv: Any,
    rows: RowsToDivide,
    index: pd.Index,
    used: NDArray[np.bool_] | None = None,
    data: pd.DataFrame | None = None,
    otherwise: str = "",
) -> Division:
    """Return what `cv` asks for.

    Parameters
    ----------
    cv : int, str, array-like or splitter
        A number of folds; a column of `data`, or a label for each row; or an object with
        ``split(X, y, groups)``.
    rows : RowsToDivide
        The n rows.
    index : pandas.Index
        Their labels.
    used : (N,) bool, optional
        Which rows of the user's table these are; labels may be given for all of the N, too.
    data : DataFrame, optional
        The user's table of N rows.
    otherwise : str
        Ends the message: what else the argument may be.

    Raises
    ------
    InputError
        If it is none of these, there cannot be so many folds, or a row has no label.
    """
    if hasattr(cv, "split") and not isinstance(cv, str):
        if isinstance(cv, type):
            raise InputError(f"cv={cv.__name__} is a class: write cv={cv.__name__}()")
        return Division(None, splitter=cv)
    if is_whole(cv):
        return Division(_number(cv, rows, otherwise))
    if isinstance(cv, str) and data is not None:
        if cv not in data.columns:
            raise InputError(f"cv={cv!r} is not a column of the data{nearest(cv, data.columns)}")
        cv = data[cv]
    is_one_value = not hasattr(cv, "__len__") or getattr(cv, "ndim", 1) == 0
    if is_one_value or isinstance(cv, str | bytes | Mapping):
        raise InputError(
            f"cv={cv!r} is not a number of folds: use {FEWEST_FOLDS} to {most_folds(rows)} "
            f"({_counted(rows)}), one label for each row, or a splitter of scikit-learn{otherwise}"
        )
    labels = _codes_of(_of_rows(cv, index, used))
    return Division(int(labels.max()) + 1, labels)


def check_held_out_once(folds: list[FoldRows]) -> None:
    """Raise `InputError` if a row is held out by two of the folds."""
    times = np.sum([fold.test for fold in folds], axis=0)
    if times.max() > 1:
        raise InputError(
            f"cv= holds {(times > 1).sum()} rows out more than once, so that they would count more "
            "than the others: use folds that do not overlap"
        )


def _number(cv: Any, rows: RowsToDivide, otherwise: str) -> int:
    most = most_folds(rows)
    if most < FEWEST_FOLDS:
        raise InputError(
            f"cv={cv!r}: {_counted(rows)} are {most}, too few for {FEWEST_FOLDS} folds: use other "
            f"groups=, or another order={otherwise}"
        )
    if not FEWEST_FOLDS <= cv <= most:
        raise InputError(
            f"cv={cv!r} is not a number of folds: use {FEWEST_FOLDS} to {most} "
            f"({_counted(rows)}){otherwise}"
        )
    return int(cv)


def _counted(rows: RowsToDivide) -> str:
    """Return what there are as many of as there can be folds."""
    if rows.order is not None:
        return "the times after the first"
    return "the rows" if rows.groups is None else "the groups"


def _of_rows(cv: Any, index: pd.Index, used: NDArray[np.bool_] | None) -> pd.Series:
    """Return the labels of the n rows, whether they were given for these or for all N.

    Those of a Series belong to rows by its index.
    """
    if isinstance(cv, pd.Series):
        labels = cv.index
        if used is not None and len(cv) == len(used):
            labels = labels[used]
        if len(labels) == len(index) and not labels.equals(index):
            cv = aligned("cv", cv, index)
    values = pd.Series(cv.to_numpy() if isinstance(cv, pd.Series) else list(cv))
    if used is not None and len(values) == len(used):
        values = values[used]
    elif len(values) != len(index):
        raise InputError(
            f"cv has length {len(values)} and the data {len(index)} rows: give one label for each "
            "row"
        )
    if values.isna().any():
        raise InputError(
            f"cv leaves {values.isna().sum()} rows without a fold: give every row a label"
        )
    return values


def _codes_of(labels: pd.Series) -> NDArray[np.int64]:
    try:
        codes, different = pd.factorize(labels)
    except TypeError:
        raise InputError("cv holds values that are no labels: use numbers or texts") from None
    if len(different) < FEWEST_FOLDS:
        raise InputError(
            f"cv has one label, {different[0]}, for all rows: use {FEWEST_FOLDS} or more folds"
        )
    return codes.astype(np.int64)


def _seeded(splitter: Any, seed: int) -> Any:
    """Return the splitter; a copy with a seed if it draws rows at random and has none."""
    draws = getattr(splitter, "shuffle", True)
    if not draws or getattr(splitter, "random_state", seed) is not None:
        return splitter
    splitter = copy.copy(splitter)
    splitter.random_state = seed % MOST_SEEDS
    return splitter


def _split(splitter: Any, rows: RowsToDivide) -> list[FoldRows]:
    """Return the folds of a splitter, which gets row numbers as X."""
    name, n = type(splitter).__name__, len(rows.y)
    y = rows.y if rows.balanced is None else rows.balanced
    try:
        pairs = list(splitter.split(np.arange(n)[:, np.newaxis], y, rows.groups))
        folds = [FoldRows(_mask(train, n), _mask(test, n)) for train, test in pairs]
    except (ValueError, TypeError, IndexError) as error:  # a user's splitter may raise others
        raise InputError(f"cv={name}() does not divide the {n} rows: {error}") from error
    if len(folds) < FEWEST_FOLDS:
        raise InputError(f"cv={name}() makes {len(folds)} folds: use {FEWEST_FOLDS} or more")
    for number, (train, test) in enumerate(folds, start=1):
        if not train.any() or not test.any():
            raise InputError(f"cv={name}(): fold {number} has no rows to train, or none to test")
        if (train & test).any():
            raise InputError(
                f"cv={name}(): {(train & test).sum()} rows of fold {number} both train and test: "
                "use a splitter that keeps them apart"
            )
    return folds


def _mask(rows: Any, n: int) -> NDArray[np.bool_]:
    """Return row numbers, or a mask, as a mask (n,)."""
    mask: NDArray[np.bool_] = np.zeros(n, dtype=bool)
    numbers = np.asarray(rows)
    mask[numbers if len(numbers) else []] = True
    return mask
