"""The response: its kind, classes, causes and values; class weights."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, cast

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.checks import is_number
from odrf.design.columns import (
    Values,
    column_values,
    listed,
    measurement,
    rows_listed,
    warn_of_spellings,
    warn_of_text,
)
from odrf.design.encoding import observed_levels, require_shared
from odrf.design.evaluation import Evaluation
from odrf.design.formula import quoted
from odrf.design.missing import require_finite
from odrf.design.survival_times import (
    SurvivalTimes,
    censored_category,
    read_causes,
    read_times,
    unit_of_times,
)
from odrf.errors import InputError, nearest, warn_user

# Limits of numeric responses, so that fourth powers of them (variances of squared errors) and of
# their differences, times weights, stay in the range of floats.
LARGEST, NARROWEST = 1e60, 1e-60
KINDS = ("auto", "regression", "classification")
"""The known values of `kind`."""
SURVIVAL = "survival"
"""The kind of a response ``Surv()``, which no `kind` makes of other responses."""


@dataclass(frozen=True, eq=False)
class Response:
    """What is predicted, with its `name` as in the formula, and its kind.

    `classes` (K,): the labels in the order of the categories, else sorted; `levels` (L,): these and
    categories without rows, None if there are none.  `columns`, `evaluation`: what it is computed
    from, and how; None for a column as it is.  `ordered`: an ordered categorical.

    `causes`: those of the events of a survival response, else empty.  `of_events`: whether numbers
    are probabilities of events.  `censored`: what censored rows are called if the events are a
    categorical.  `imitated`: whether it is what another fit predicts.  `less`: what is subtracted,
    in words.  `unit`: of times that were durations.
    """

    name: str
    kind: str
    classes: pd.Index | None = None
    columns: tuple[str, ...] = ()
    evaluation: Evaluation | None = None
    ordered: bool = False
    levels: pd.Index | None = None
    causes: tuple[str, ...] = ()
    of_events: bool = False
    censored: str = ""
    imitated: bool = False
    less: str = ""
    unit: str = ""

    @property
    def in_words(self) -> str:
        """Its name, as summaries have it."""
        if self.less:
            return f"{self.name}, less {self.less}"
        return f"{self.name}, as another fit predicts it" if self.imitated else self.name

    @property
    def in_probabilities(self) -> bool:
        """Whether what is predicted are probabilities: of classes, or of events."""
        return self.classes is not None or self.of_events

    @cached_property
    def dtype(self) -> pd.CategoricalDtype:
        """The type of predicted classes: that of a categorical response, or its like."""
        return pd.CategoricalDtype(
            self.classes if self.levels is None else self.levels, self.ordered
        )

    @cached_property
    def places(self) -> NDArray[np.intp]:
        """(K + 1,) Where each class is among the categories of `dtype`; -1 for no class."""
        of_class = self.dtype.categories.get_indexer(self.classes)  # type: ignore[arg-type]
        return np.append(of_class, -1)

    @property
    def spelling(self) -> str:
        """As a formula names it: its name, quoted if it is that of a column and odd."""
        return quoted(self.name) if self.evaluation is None else self.name

    @property
    def n_classes(self) -> int:
        """K; 1 for a numeric response."""
        return 1 if self.classes is None else len(self.classes)

    @property
    def ordinal(self) -> bool:
        """Whether there are three or more ordered classes; with two, order makes no difference."""
        return self.ordered and self.n_classes > 2

    def numbers(self, data: pd.DataFrame) -> NDArray[np.float64]:
        """Return the responses of new rows (n,): numbers, or class codes 0 … K - 1.

        Raises `InputError` if columns lack, values are missing, no number or an unknown class, or
        if the response is a survival time.
        """
        if self.causes:
            raise InputError(f"response {self.name!r} is a survival time, and no number")
        values = cast(pd.Series, self._values(data).data)  # not of several columns, see above
        if self.classes is None:
            return self._measured(values)
        codes = self.classes.get_indexer(pd.Index(values))
        if (codes < 0).any():
            unseen = pd.Index(values)[codes < 0].unique()
            raise InputError(
                f"response {self.name!r} has classes that no training row has: "
                f"{listed(unseen)}; leave such rows out"
            )
        return codes.astype(np.float64)

    def known_numbers(self, data: pd.DataFrame) -> NDArray[np.float64]:
        """Return what `numbers` does of rows (n,); NaN for unknown classes, and without numbers."""
        numbers = np.full(len(data), np.nan)
        if self.classes is not None:
            codes = self.classes.get_indexer(pd.Index(cast(pd.Series, self._values(data).data)))
            numbers[codes >= 0] = codes[codes >= 0]
            return numbers
        try:
            return self.numbers(data)
        except InputError:
            return numbers

    def times(self, data: pd.DataFrame) -> SurvivalTimes:
        """Return times and events of new rows (n,), of a survival response."""
        columns = cast(pd.DataFrame, self._values(data).data)
        if unit_of_times(self.name, columns) != self.unit:
            was, now = ("durations", "numbers") if self.unit else ("numbers", "durations")
            raise InputError(
                f"response {self.name!r}: times of the training rows were {was}, and these are "
                f"{now}: bring them into one type"
            )
        return read_times(self.name, columns, self.causes)

    def _values(self, data: pd.DataFrame) -> Values:
        """Return the values of the response on rows that have all of its columns."""
        if self.less:
            raise InputError(
                f"the response is {self.name!r} less {self.less}, which new rows do not have: give "
                "them to the fit that this is a part of"
            )
        absent = [name for name in self.columns if name not in data.columns]
        if absent:
            raise InputError(
                f"new data lacks column {absent[0]!r} of the response {self.name!r}"
                f"{nearest(absent[0], data.columns)}: rows to evaluate on need their responses"
            )
        missing = data[list(self.columns)].isna().any(axis=1).to_numpy()
        if missing.any():
            raise InputError(
                f"response {self.name!r} is missing in {rows_listed(missing, data.index)}: "
                "leave these rows out"
            )
        rule = self.evaluation
        return column_values(data, self.name) if rule is None else rule.values(data)

    def _measured(self, values: pd.Series) -> NDArray[np.float64]:
        if measurement(values, self.name, True) not in ("numeric", "logical"):
            raise InputError(
                f"response {self.name!r} held numbers in training and has dtype {values.dtype} "
                "now: convert it to numbers"
            )
        y = values.to_numpy(dtype=np.float64, copy=True)
        require_finite(y[np.newaxis], [self.name], values.index, "response")
        _require_moderate(self.name, y)
        return y


def read_response(
    values: Values, kind: str, rows: str = "row"
) -> tuple[Response, NDArray[np.float64]]:
    """Return the response of the training rows, and its values (n,): numbers or codes 0 … K - 1.

    With `kind` "auto", numbers mean regression and all else classification; `rows` is what messages
    call a row.  Raises `InputError` if values are constant, infinite or immensely large, of several
    columns, of a type that cannot be predicted, or text that is different in nearly every row.
    Warns of two distinct numbers if `kind` is "auto", of classes that are numbers or dates, or
    differ only in spaces or capitals.
    """
    data = values.data
    if values.censored:
        raise InputError(
            f"response {values.name!r} is a survival time, which this does not take: use odt(), "
            "odrf() or odbt() with a data frame in memory, and compare(), tune() or "
            "learning_curve() to compare them"
        )
    if isinstance(data, pd.DataFrame):
        raise InputError(f"response {values.name!r} has several columns: fit a model for each")
    scale = measurement(data, values.name, True)
    numeric = scale in ("numeric", "logical") and not values.nominal
    guessed = kind == "auto"
    if guessed:
        kind = "regression" if numeric and scale == "numeric" else "classification"
    if scale == "numeric":
        numbers = data.to_numpy(dtype=np.float64)[np.newaxis]
        require_finite(numbers, [values.name], data.index, "response")
    if kind == "regression" and not numeric:
        raise InputError(
            f"response {values.name!r} is not numeric (dtype {data.dtype}): "
            'use kind="classification", or convert it to numbers'
        )
    if kind == "classification":
        if scale == "nominal" and not values.nominal:
            _check_labels(values.name, data, guessed)
        return _read_classes(data, values, rows)
    # a fit must not change when the user writes to the column
    y = data.to_numpy(dtype=np.float64, copy=True)
    distinct = np.unique(y)
    _require_two(values.name, distinct, rows)
    _require_moderate(values.name, y)
    if guessed and len(distinct) == 2:
        warn_user(
            f"response {values.name!r} is numeric with only two values ({distinct[0]:g} and "
            f'{distinct[1]:g}), taken as regression: use kind="classification" if they are '
            'classes, kind="regression" to silence this'
        )
    return Response(values.name, kind), y


def read_survival(values: Values, kind: str) -> tuple[Response, SurvivalTimes]:
    """Return a response ``Surv()`` of the training rows, and their times and events.

    Warns if the first category of the event seems not to be that of censored rows.
    """
    if kind != "auto":
        raise InputError(
            f'kind="{kind}" is not for the response {values.name!r}, which is a survival time: '
            "leave it out"
        )
    columns = cast(pd.DataFrame, values.data)
    causes = read_causes(values.name, columns)
    censored = censored_category(values.name, columns)
    unit = unit_of_times(values.name, columns)
    response = Response(values.name, SURVIVAL, causes=causes, censored=censored, unit=unit)
    return response, read_times(values.name, columns, causes)


def require_variation(name: str, y: NDArray[np.float64]) -> None:
    """Raise `InputError` if the responses y (n,), which are not all the same, hardly vary."""
    if np.ptp(y) < NARROWEST:
        raise InputError(
            f"response {name!r} varies by less than {NARROWEST:g}, and squares would leave the "
            "range of floats: multiply it by a large number"
        )


def _check_labels(name: str, labels: pd.Series, guessed: bool) -> None:
    """Raise or warn if labels do not look like classes; `guessed`: no argument says they are."""
    levels = observed_levels(labels)
    if not isinstance(labels.dtype, pd.CategoricalDtype):
        require_shared(name, levels, len(labels), True)
        if guessed:
            warn_of_text(name, levels, "classes")
    warn_of_spellings(name, levels)


def _read_classes(
    data: pd.Series, values: Values, rows: str
) -> tuple[Response, NDArray[np.float64]]:
    classes = observed_levels(data)
    levels = None
    if isinstance(data.dtype, pd.CategoricalDtype):
        levels = data.dtype.categories
    if values.levels is not None:
        levels = pd.Index(values.levels)
        outside = classes.difference(levels)
        if len(outside):
            raise InputError(
                f"response {values.name!r} has values that are not among its levels: "
                f"{listed(outside)}; add them to levels="
            )
        classes = levels[levels.isin(classes)]
    _require_two(values.name, classes, rows)
    codes = classes.get_indexer(pd.Index(data)).astype(np.float64)
    dtype = data.dtype
    has_order = isinstance(dtype, pd.CategoricalDtype) and bool(dtype.ordered)
    ordered = has_order and not values.nominal
    response = Response(values.name, "classification", classes, ordered=ordered, levels=levels)
    return response, codes


def _require_moderate(name: str, y: NDArray[np.float64]) -> None:
    largest = np.abs(y).max(initial=0.0)
    if largest > LARGEST:
        raise InputError(
            f"response {name!r} has values up to {largest:g} in size, and its squares would leave "
            f"the range of floats: divide it by a large number, to at most {LARGEST:g}"
        )


def _require_two(name: str, distinct: pd.Index | NDArray[np.float64], rows: str) -> None:
    if len(distinct) < 2:
        raise InputError(
            f"response {name!r} is constant ({distinct.tolist()[0]!r} in every {rows}): there is "
            "nothing to predict, so use another response"
        )


BALANCED = "balanced"
# Limits of a factor, so that squares of weights stay in the range of floats.
SMALLEST_FACTOR, LARGEST_FACTOR = 1e-60, 1e60


def class_factors(
    class_weights: Any, response: Response, y: NDArray[np.float64], weights: NDArray[np.float64]
) -> NDArray[np.float64]:
    """Return the factors (K,) by which the case weights of each class are multiplied.

    ``"balanced"`` gives all classes the same total weight and keeps the sum over all rows; classes
    with hardly any weight, less than 1e-60 of it, keep theirs, and those that a mapping does not
    name. `y` and `weights` (n,) are class codes and case weights.
    """
    if response.causes:
        raise InputError(
            f"class_weights= needs classes, and {response.name!r} is a survival time: leave it "
            "out, or weight single rows with weights="
        )
    if response.classes is None:
        raise InputError(
            f"class_weights= needs classes, but {response.name!r} is numeric: leave it out, use "
            'kind="classification", or weight single rows with weights='
        )
    if is_balanced(class_weights):
        totals = np.bincount(y.astype(np.int64), weights, minlength=len(response.classes))
        present = totals > SMALLEST_FACTOR * totals.sum()
        share = totals.sum() / present.sum()
        return np.divide(share, totals, out=np.ones(len(totals)), where=present)
    if not isinstance(class_weights, Mapping):
        raise InputError(
            f"class_weights={class_weights!r}: use None, {BALANCED!r} or a mapping of classes to "
            "positive numbers"
        )
    return _from_mapping(class_weights, response.classes)


def is_balanced(class_weights: Any) -> bool:
    """Return whether the argument gives all classes the same total weight."""
    return isinstance(class_weights, str) and class_weights == BALANCED


def _from_mapping(class_weights: Mapping[Any, Any], classes: pd.Index) -> NDArray[np.float64]:
    factors: NDArray[np.float64] = np.ones(len(classes))
    codes = {label: code for code, label in enumerate(classes.tolist())}
    for label, value in class_weights.items():
        if label not in codes:
            raise InputError(
                f"class_weights names {label!r}, which is not a class of the response; classes "
                f"are {listed(classes, 10)}{nearest(label, classes)}"
            )
        if not is_number(value) or not SMALLEST_FACTOR <= float(value) <= LARGEST_FACTOR:
            raise InputError(
                f"class_weights[{label!r}]={value!r}: use a positive number, from "
                f"{SMALLEST_FACTOR:g} to {LARGEST_FACTOR:g}"
            )
        factors[codes[label]] = float(value)
    return factors
