"""Folds: which rows are held out together."""

from __future__ import annotations

import copy
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple, Protocol

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from odrf.checks import is_whole
from odrf.design.design import Design, TrainingData
from odrf.design.structure import RowStructure
from odrf.design.weights import aligned
from odrf.errors import InputError, nearest

# Rows alone, whole groups of rows, rows in the order of time.  Groups, strata and times are given
# as codes 0, 1, … of the rows.

# Shares of strata are compared as whole numbers, so that rounding decides nothing.
UNIT = 1024


class FoldRows(NamedTuple):
    """The rows of one fold, two masks (n,): those that train, and those that are held out."""

    train: NDArray[np.bool_]
    test: NDArray[np.bool_]


def fold_of_rows(
    y: NDArray[np.float64] | NDArray[np.int64],
    n_classes: int,
    k: int,
    seed: int,
    weights: NDArray[np.float64] | None = None,
) -> NDArray[np.int64]:
    """Return the random fold 0 … k - 1 of each row (n,), stratified by classes and weights of 0."""
    order = np.random.default_rng(seed).permutation(len(y))
    if n_classes > 1:
        order = order[np.argsort(y[order], kind="stable")]
    if weights is not None:
        order = order[np.argsort(weights[order] == 0, kind="stable")]
    fold = np.empty(len(y), dtype=np.int64)
    fold[order] = np.arange(len(y)) % k
    return fold


def fold_of_groups(
    groups: NDArray[np.int64], strata: NDArray[np.int64], k: int, seed: int
) -> NDArray[np.int64]:
    """Return the fold 0 … k - 1 of each row (n,), the same for all rows of a group.

    `groups` and `strata` (n,) are codes 0, 1, ….  From the largest to the smallest, in random order
    among those of one size, each group goes to the fold with the smallest share of the strata of
    its rows so far, then to the one with the fewest rows.  So no fold is empty if there are k
    groups, and without strata the sizes of two folds differ by no more than the largest group.
    """
    n_groups, n_strata = int(groups.max()) + 1, int(strata.max()) + 1
    cells = np.bincount(groups * n_strata + strata, minlength=n_groups * n_strata)
    counts = cells.reshape(n_groups, n_strata)
    shares = counts * (UNIT * len(groups) // counts.sum(axis=0))
    sizes = counts.sum(axis=1)
    order = np.random.default_rng(seed).permutation(n_groups)
    fold_of_group = np.empty(n_groups, dtype=np.int64)
    held, rows = np.zeros((k, n_strata), dtype=np.int64), np.zeros(k, dtype=np.int64)
    for group in order[np.argsort(-sizes[order], kind="stable")]:
        fold = np.lexsort((rows, held @ shares[group]))[0]
        held[fold] += counts[group]
        rows[fold] += sizes[group]
        fold_of_group[group] = fold
    return fold_of_group[groups]


def block_of_times(order: NDArray[np.int64], k: int) -> NDArray[np.int64]:
    """Return the block 0 … k - 1 of each row (n,): consecutive times, about as many rows in each.

    `order` (n,) are codes 0, 1, … of times, of which there are k or more.  Rows of one time stay
    together, and no block is empty.
    """
    until = np.cumsum(np.bincount(order))
    begin = np.zeros(k, dtype=np.int64)
    for j in range(1, k):
        even = np.searchsorted(until, j * len(order) / k)
        begin[j] = np.clip(even, begin[j - 1] + 1, len(until) - (k - j))
    return np.searchsorted(begin, order, side="right") - 1


def rolling_origin(order: NDArray[np.int64], k: int) -> list[FoldRows]:
    """Return k folds in time: each block of rows but the first is the test of those before it."""
    block = block_of_times(order, k + 1)
    return [FoldRows(block < j, block == j) for j in range(1, k + 1)]


def last_times(order: NDArray[np.int64], share: float) -> NDArray[np.bool_]:
    """Return which rows (n,) have the last times, the fewest that hold the `share` of the rows.

    `order` (n,) are times as numbers; the first one is left out in any case.
    """
    times, counts = np.unique(order, return_counts=True)
    later = np.cumsum(counts[::-1])[::-1]
    begin = int(np.flatnonzero(later >= share * len(order))[-1])
    return order >= times[max(begin, min(1, len(times) - 1))]


def folds_apart(fold: NDArray[np.int64], k: int) -> list[FoldRows]:
    """Return k folds, in each of which the rows of one number 0 … k - 1 are held out."""
    return [FoldRows(fold != j, fold == j) for j in range(k)]


WITH_EVENTS = (
    "cv=, or of odt(), which prunes by cross-validation unless alpha=None: use more rows with "
    "events"
)


class RowsToDivide(NamedTuple):
    """What folds of n rows depend on: `y` (n,) are responses, or codes of `n_classes` classes.

    Rows of weight 0 are assigned apart from the others.  `events` (n,) marks rows with an event.
    """

    y: NDArray[np.float64]
    n_classes: int
    weights: NDArray[np.float64] | None = None
    structure: RowStructure | None = None
    events: NDArray[np.bool_] | None = None

    @property
    def balanced(self) -> NDArray[np.int64] | None:
        """Codes (n,) of what each fold has the same shares of: classes, or events; else None."""
        if self.events is not None:
            return self.events.astype(np.int64)
        return self.y.astype(np.int64) if self.n_classes > 1 else None

    @property
    def groups(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the groups (n,)."""
        return None if self.structure is None else _codes(self.structure.groups)

    @property
    def order(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the times (n,)."""
        return None if self.structure is None else _codes(self.structure.order)

    @property
    def strata(self) -> NDArray[np.int64] | None:
        """Codes 0, 1, … of the strata (n,)."""
        return None if self.structure is None else _codes(self.structure.strata)


def rows_to_divide(design: Design, data: TrainingData) -> RowsToDivide:
    """Return the training rows of a fit."""
    events = None if data.times is None else data.times.event > 0
    return RowsToDivide(data.y, design.response.n_classes, data.weights, data.structure, events)


def most_folds(rows: RowsToDivide) -> int:
    """Return how many folds there can be: as many as rows, groups, or times after the first."""
    if rows.order is not None:
        return int(rows.order.max())
    return len(rows.y) if rows.groups is None else int(rows.groups.max()) + 1


def structured_folds(rows: RowsToDivide, k: int, seed: int) -> list[FoldRows]:
    """Return k folds, at most `most_folds`: in time, of whole groups, or at random.

    Raises `InputError` if training rows of a fold have weight 0, no events or, in time or with
    groups, one class only.
    """
    order, groups = rows.order, rows.groups
    if order is None:
        folds = folds_apart(fold_numbers(rows, k, seed), k)
        if rows.events is not None and groups is None:
            check_training_rows(folds, rows, WITH_EVENTS)
        elif groups is not None:
            check_training_rows(folds, rows, "groups=: use fewer folds, or other groups")
        else:
            check_training_rows(folds, rows, "weights=: leave out rows of weight 0", True)
        return folds
    folds = rolling_origin(order, k)
    check_training_rows(folds, rows, "order=: use fewer folds, so that more rows come first")
    return folds


def fold_numbers(rows: RowsToDivide, k: int, seed: int) -> NDArray[np.int64]:
    """Return the fold of each row (n,): whole groups, blocks of time, or by classes and strata."""
    order, groups = rows.order, rows.groups
    if groups is not None:
        return fold_of_groups(groups, strata_cells(rows), k, seed)
    if order is not None:
        return block_of_times(order, k)
    if rows.strata is None:
        codes = rows.balanced
        number = 1 if codes is None else int(codes.max()) + 1
        return fold_of_rows(rows.y if codes is None else codes, number, k, seed, rows.weights)
    cells = strata_cells(rows)
    return fold_of_rows(cells.astype(np.float64), int(cells.max()) + 1, k, seed, rows.weights)


def check_training_rows(
    folds: list[FoldRows], rows: RowsToDivide, way_out: str, weights_only: bool = False
) -> None:
    """Raise `InputError` if training rows are of one class, without events, or of weight 0."""
    weights, events = rows.weights, rows.events
    counted = events if events is None or weights is None else events & (weights > 0)
    for what, values in (("all have weight 0", weights), ("have no events", counted)):
        for number, (train, _) in enumerate(folds, start=1):
            if values is not None and not values[train].any():
                raise _unfit(number, what, way_out)
        if weights_only:
            return
    for number, (train, _) in enumerate(folds, start=1):
        if rows.n_classes > 1 and (rows.y[train] == rows.y[train][0]).all():
            raise _unfit(number, "are all of one class", way_out)


def _unfit(number: int, what: str, way_out: str) -> InputError:
    return InputError(
        f"the training rows of fold {number} {what}, so that no model can be fitted; the folds are "
        f"those of {way_out}"
    )


def strata_cells(rows: RowsToDivide) -> NDArray[np.int64]:
    """Return codes (n,) of combinations of stratum, class or event, and whether the weight is 0."""
    of_rows = [codes for codes in (rows.strata, rows.balanced) if codes is not None]
    if rows.weights is not None:
        of_rows.append((rows.weights == 0).astype(np.int64))
    code: NDArray[np.int64] = np.zeros(len(rows.y), dtype=np.int64)
    for part in of_rows:
        code = np.unique(code * (int(part.max()) + 1) + part, return_inverse=True)[1]
    return code


def _codes(values: NDArray[np.int64] | None) -> NDArray[np.int64] | None:
    """Return codes 0, 1, … (n,), each of which some row has, in the order of the values."""
    return None if values is None else np.unique(values, return_inverse=True)[1]


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
    """How rows are divided: into `k` folds, by `labels` (n,), or by a scikit-learn `splitter`."""

    k: int | None
    labels: NDArray[np.int64] | None = None
    splitter: Any = None

    def is_random(self, rows: RowsToDivide) -> bool:
        """Return whether folds of the rows are sampled by the seed."""
        return self.splitter is None and self.labels is None and rows.order is None

    def folds(self, rows: RowsToDivide, seed: int) -> list[FoldRows]:
        """Return the folds of the rows, each with rows to train and to test, and of two classes."""
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
    """Return the division into folds that the argument `cv` describes.

    It is a number of folds; a column of `data`, the user's table of N rows, or a label for each; or
    has ``split(X, y, groups)``.  `used` (N,) marks the rows, whose labels are `index`.  Raises
    `InputError`, which ends with `otherwise`, if it is none of these, or there cannot be so many
    folds.
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
    """Return the labels of the n rows, given for these or for all N, of a Series by its index."""
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


def held_out_share(rows: RowsToDivide, share: float, rng: np.random.Generator) -> NDArray[np.bool_]:
    """Return which rows (n,) of positive weight are held out, about a `share` of them.

    Of rows in order, these are the last ones; else rows, or whole groups, are drawn at random, the
    same share of each class, of events, and of each stratum.
    """
    n, order, groups = len(rows.y), rows.order, rows.groups
    weighted = np.ones(n, dtype=bool) if rows.weights is None else rows.weights > 0
    units = np.arange(n) if groups is None else groups
    if order is not None:
        held = np.zeros(n, dtype=bool)
        held[weighted] = last_times(order[weighted], share)
        return held
    candidates = np.flatnonzero(weighted)
    drawn = rng.permutation(candidates[np.unique(units[candidates], return_index=True)[1]])
    for codes in (rows.balanced, rows.strata):
        if codes is not None:
            drawn = drawn[np.argsort(codes[drawn], kind="stable")]
    ends = np.floor(share * np.arange(len(drawn) + 1) + 0.5)
    return weighted & np.isin(units, units[drawn[np.diff(ends) > 0]])
