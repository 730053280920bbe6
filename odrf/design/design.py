"""From formula and data frame to arrays, for training rows and for new rows."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import nullcontext
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from patsy import EvalEnvironment

from odrf.checks import checked_choice
from odrf.design import missing as missing_cells
from odrf.design import weights as case_weights
from odrf.design.columns import Schema, check_frame, learn_schema, listed
from odrf.design.encoding import (
    INDICATORS,
    UNSEEN,
    GatheredLevels,
    unseen_levels_expected,
    unseen_levels_refused,
)
from odrf.design.formula import Formula, read_formula
from odrf.design.missing import MISSING, SURROGATE, Missing, find_missing
from odrf.design.predictors import Predictors, kept_columns, learn_predictors
from odrf.design.response import (
    KINDS,
    Response,
    class_factors,
    read_response,
    read_survival,
    require_variation,
)
from odrf.design.scaling import Scaling, with_sparse_columns
from odrf.design.structure import RowStructure, read_structure, require_usable
from odrf.design.survival_times import SurvivalTimes, require_events
from odrf.design.variables import grid_of, training_values
from odrf.engine.directions.candidates import FeatureGroups, count_terms, feature_groups_of
from odrf.engine.factors import Matrix, layout_of, stored, with_layout, with_rows
from odrf.engine.memory import MOST_ROWS, require_numbers
from odrf.engine.resamples import RowCodes
from odrf.engine.survival.event_ranks import null_residuals
from odrf.errors import InputError


@dataclass(frozen=True, eq=False)
class RowsApart:
    """The m rows of weight 0, which the fit does not use, but predicts with its training rows.

    `frame` has the columns of predictors, response and offset; `where` (n + m,) marks these rows
    among all, in the order of the data frame.
    """

    frame: pd.DataFrame
    where: NDArray[np.bool_]

    def among(self, of_training: Any, of_these: Any) -> Any:
        """Return series or data frames of the n training rows and of these, in their order."""
        both = pd.concat([of_training, of_these])
        return both.iloc[np.argsort(np.argsort(self.where, kind="stable"))]


@dataclass(frozen=True, eq=False)
class RowCounts:
    """What is known of training rows that a fit does not have: see `TrainingData`."""

    n_rows: int
    n_dropped: int
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    class_weights: NDArray[np.float64] | None
    weight_unit: float


@dataclass(frozen=True, eq=False)
class TrainingData:
    """The training rows as arrays.

    `X` (p, n): scaled predictors; those with missing cells so that their mean is 0.  With codes for
    factors of many levels, see `odrf.engine.factors`. `y` (n,): response, or class codes 0 … K - 1.
    Of survival times, martingale residuals: events less cumulative hazards. `weights` (n,): case
    weights times class weights, divided by `weight_unit`, all positive. `index`: labels of the n
    rows.

    `complete` (N,): the rows of the data frame that are used; the others have missing values, or
    weight 0. `missing_columns`, `empty_cells`: numbers of missing values per column: of the rows
    left out, and of the predictors of the others. `class_weights` (K,): factors of the case
    weights. `weight_unit`: a power of two, see `odrf.design.weights.unit_of`. `kept`: columns that
    cannot be read back from `X`, see `odrf.design.new_rows`.

    `structure`, `times`: groups, order and strata; times and events, of ``Surv()``. `weightless`
    (N,): rows of weight 0, of which those `apart` can be predicted. `sampled_from`: how many rows
    the chunks had of which these are a random sample; 0 if they are all.
    """

    X: Matrix
    y: NDArray[np.float64]
    weights: NDArray[np.float64]
    index: pd.Index
    complete: NDArray[np.bool_]
    missing_columns: dict[str, int]
    empty_cells: dict[str, int]
    class_weights: NDArray[np.float64] | None = None
    weight_unit: float = 1.0
    kept: pd.DataFrame | None = None
    structure: RowStructure | None = None
    times: SurvivalTimes | None = None
    weightless: NDArray[np.bool_] | None = None
    apart: RowsApart | None = None
    sampled_from: int = 0

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__ | {"X": (with_sparse_columns(stored(self.X)), layout_of(self.X))}

    def __setstate__(self, state: dict[str, Any]) -> None:
        array, layout = state["X"]
        self.__dict__.update(state, X=with_layout(array.matrix(), layout))

    @property
    def counts(self) -> RowCounts:
        """What a fit that does not have these rows keeps of them."""
        return RowCounts(
            self.n_rows, self.n_dropped, self.missing_columns, self.empty_cells,
            self.class_weights, self.weight_unit,
        )  # fmt: skip

    @property
    def n_rows(self) -> int:
        """Number of training rows n."""
        return len(self.index)

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because of missing values."""
        return int((~self.considered).sum())

    @property
    def considered(self) -> NDArray[np.bool_]:
        """`complete`, without the rows of weight 0: as if they were not in the data frame."""
        return self.complete if self.weightless is None else self.complete[~self.weightless]

    @property
    def codes(self) -> RowCodes | None:
        """Codes of groups, order and strata, as the engine reads them."""
        return None if self.structure is None else self.structure.codes

    def require_times(self) -> SurvivalTimes:
        """Return the survival times of the rows; raise if the response is something else."""
        if self.times is None:
            raise InputError("the response is no survival time: write Surv(time, event) ~ .")
        return self.times

    def keeping(self, rows: NDArray[np.bool_]) -> TrainingData:
        """Return the `rows` (n,) alone."""
        X = with_rows(self.X, rows)
        return replace(
            self,
            X=X,
            y=self.y[rows],
            weights=self.weights[rows],
            index=self.index[rows],
            kept=None if self.kept is None else self.kept[rows],
            structure=None if self.structure is None else self.structure.keeping(rows),
            times=None if self.times is None else self.times.keeping(rows),
            apart=None,
        )


def subjects_of(data: TrainingData) -> NDArray[np.int64] | None:
    """Return the subject (n,) of each row of survival times; None if groups are no subjects.

    Groups are subjects if no two rows of one, of positive weight, are at risk at the same time, as
    those of a hospital are.
    """
    if data.times is None or data.structure is None or data.structure.groups is None:
        return None
    times, groups = data.times, data.structure.groups
    start = np.zeros(len(times)) if times.start is None else times.start
    order = np.lexsort((start, groups))
    order = order[data.weights[order] > 0]
    same = groups[order][1:] == groups[order][:-1]
    overlap = start[order][1:] < times.time[order][:-1]
    return None if (same & overlap).any() else groups


def rows_a_subject(data: TrainingData) -> float:
    """Return how many rows of positive weight a subject has in the mean; 1 without subjects."""
    subjects = None if data.times is None else subjects_of(data)
    if subjects is None:
        return 1.0
    present = subjects[data.weights > 0]
    return len(present) / len(np.unique(present))


def last_rows(data: TrainingData) -> NDArray[np.bool_]:
    """Return which rows (n,) of survival times are the last of their subjects, if any, else all.

    Only at the end of its last row is a subject lost to follow-up.
    """
    times, subjects = data.require_times(), subjects_of(data)
    last = np.ones(len(times), dtype=np.bool_)
    if subjects is not None:
        order = np.lexsort((times.time, subjects))
        order = order[data.weights[order] > 0]
        last[order[:-1]] = subjects[order][1:] != subjects[order][:-1]
    return last


def rows_apart(
    data: pd.DataFrame,
    apart: NDArray[np.bool_],
    complete: NDArray[np.bool_],
    required: Sequence[str],
    read: Callable[[pd.DataFrame], object],
) -> RowsApart | None:
    """Return the rows `apart` (N,) of a data frame that can be predicted; None without any.

    `complete` (N,) are the training rows.  Rows that lack a `required` column are left out; `read`
    raises an `InputError` if rows cannot be predicted.
    """
    apart = apart & find_missing(data, required).complete
    try:
        with unseen_levels_expected():
            read(data[apart])
    except InputError:
        return None
    return RowsApart(data[apart], apart[complete | apart]) if apart.any() else None


@dataclass(frozen=True, eq=False)
class Design:
    """The recipe from a data frame to the matrix of predictors; it holds no data.

    `formula`: as the user wrote it.  `missing`, `unseen`: how missing values, and levels that no
    training row has, are treated.  `fills`: imputation values by column, if `missing` is "median".
    `grid`: channels, height and width, if columns are pixels.  `weights`: the column of case
    weights.
    """

    formula: str
    response: Response
    recipe: Predictors
    schema: Schema
    scaling: Scaling
    missing: str
    grid: tuple[int, int, int] | None = None
    weights: str | None = None
    fills: dict[str, Any] = field(default_factory=dict)
    unseen: str = "missing"

    @property
    def predictors(self) -> tuple[str, ...]:
        """(P,) One name per predictor: "age", "log(bmi)", "a:b", "sex"."""
        return self.recipe.names

    @property
    def columns(self) -> tuple[str, ...]:
        """(p,) One name per column of the matrix: "age", "sex[male]", "bs(a, 4)[0]"."""
        return self.recipe.columns

    @property
    def first(self) -> NDArray[np.int64]:
        """(P + 1,) Predictor j has the columns ``first[j]:first[j + 1]``."""
        return self.recipe.first

    @property
    def types(self) -> NDArray[np.int8]:
        """(P,) 0 for one plain column, 1 for indicators of levels, 2 for a basis."""
        return self.recipe.types

    @property
    def feature_groups(self) -> FeatureGroups:
        """Which columns make up each predictor, in the form that the engine uses."""
        holes = self.recipe.holes & (self.types != INDICATORS)
        if self.missing == SURROGATE:
            missing_level = self.recipe.holes & (self.types == INDICATORS)
            return FeatureGroups(self.first, self.types, holes, missing_level)
        return feature_groups_of(self.first, self.types, holes)

    @property
    def of_empty_cells(self) -> NDArray[np.bool_]:
        """(p,) Which columns are missing indicators of a predictor that is no factor."""
        marks = np.zeros(len(self.columns), dtype=np.bool_)
        marks[self.first[1:][self.recipe.holes & (self.types != INDICATORS)] - 1] = True
        return marks

    @property
    def has_fills(self) -> bool:
        """Whether terms of splits have imputation values: not if there are surrogates."""
        return self.missing != SURROGATE and bool(self.of_empty_cells.any())

    @property
    def n_terms(self) -> int:
        """Number of columns, a factor of many levels counting as one."""
        return int(count_terms(self.feature_groups).sum())

    def keeping(self, which: Sequence[int]) -> Design:
        """Return the design of these predictors, with the rows ``recipe.columns_of(which)``."""
        recipe, columns = self.recipe.keeping(which), self.recipe.columns_of(which)
        needed = {name for variable in recipe.variables for name in variable.columns}
        return replace(
            self,
            formula=f"{self.response.spelling} ~ {' + '.join(recipe.spellings)}",
            recipe=recipe,
            schema=self.schema.keeping(needed),
            scaling=self.scaling.of(columns),
            fills={name: fill for name, fill in self.fills.items() if name in needed},
        )

    def matrix(self, data: pd.DataFrame) -> tuple[Matrix, NDArray[np.bool_]]:
        """Return the predictors of n new rows, X (p, m), and which rows (n,) they are of.

        X is scaled, with codes for factors of many levels (`odrf.engine.factors`); NaN where a cell
        is missing and no training row has a missing cell of the predictor.  The m rows are all, or
        if `missing` is "drop" those without missing values.  Raises `InputError` if columns lack or
        have another type than in training, values are infinite, or `missing` or `unseen` refuses
        them.  One warning names all factors with levels that no training row has: their indicators
        are 0 there, or NaN if `missing` is "split" and the factor has few levels.
        """
        frame = self.schema.select(data)
        complete: NDArray[np.bool_] = np.ones(len(frame), dtype=np.bool_)
        if self.missing in ("raise", "drop"):
            missing = find_missing(frame, self.schema.columns)
            if self.missing == "raise":
                missing.require_none()
            frame, complete = missing.complete_rows(frame), missing.complete
        self.schema.check_contents(frame)
        frame = missing_cells.filled(frame, self.fills)
        refused = unseen_levels_refused() if self.unseen == "raise" else nullcontext()
        with refused, GatheredLevels(self.missing in ("split", "surrogate")):
            unknown = np.nan if self.missing == "split" else 0.0
            return self.recipe.columns_on(frame).scaled(self.scaling, unknown), complete

    def labelled(self, data: pd.DataFrame) -> tuple[Matrix, NDArray[np.float64]]:
        """Return X (p, m) and responses or codes y (m,) of new rows without missing predictors."""
        X, complete = self.matrix(data)
        return X, self.response.numbers(data[complete])


class UsedColumns(NamedTuple):
    """The columns that are used, and how missing cells of predictors are treated.

    `aside`: columns beside response and predictors, such as that of the weights.
    """

    columns: tuple[str, ...]
    response: tuple[str, ...]
    predictors: tuple[str, ...]
    aside: tuple[str, ...]
    missing: str

    def left_out(self, frame: pd.DataFrame) -> Missing:
        """Return the missing values for which rows are left out; raise if `missing` is "raise"."""
        required = list(dict.fromkeys([*self.response, *self.aside]))
        every = list(dict.fromkeys([*self.predictors, *required]))
        if self.missing == "raise":
            rows = find_missing(frame, self.response).complete_rows(frame)
            find_missing(rows, every).require_none()
        return find_missing(frame, every if self.missing == "drop" else required)


def read_terms(
    formula: str,
    names: list[str],
    env: EvalEnvironment,
    aside: Sequence[str],
    without: Sequence[str] = (),
    *,
    kind: str,
    missing: str,
    unseen: str,
    known: Sequence[str] = MISSING,
) -> tuple[Formula, UsedColumns]:
    """Return the terms of a formula, and the columns that they need, of those with these `names`.

    ``.`` leaves out the columns `aside` and `without`; `known` are the treatments of missing
    cells.  Raises `InputError` if an option is unknown, or the formula cannot be read.
    """
    checked_choice("kind", kind, KINDS)
    checked_choice("missing", missing, known)
    checked_choice("unseen", unseen, UNSEEN)
    terms = read_formula(formula, names, env, [*aside, *without])
    response, predictors = terms.response.columns, terms.columns
    needed = {*response, *predictors, *aside}
    columns = tuple([name for name in names if name in needed])
    return terms, UsedColumns(columns, tuple(response), predictors, tuple(aside), missing)


class Learned(NamedTuple):
    """A design, and of the n rows that it was learned from the predictors, responses and times.

    `frame` are the rows with imputation values.
    """

    design: Design
    frame: pd.DataFrame
    X: Matrix
    y: NDArray[np.float64]
    times: SurvivalTimes | None


def learn_design(
    formula: str,
    terms: Formula,
    frame: pd.DataFrame,
    empty: Mapping[str, int],
    env: EvalEnvironment,
    *,
    kind: str,
    missing: str,
    unseen: str,
    weights: str | None,
    grid: tuple[int, int, int] | None,
    rows: str,
    all_rows: bool = True,
    times_weighted: NDArray[np.float64] | None = None,
) -> Learned:
    """Learn the design from the rows of a frame: all, or those that tell all about a block of rows.

    `empty` has the numbers of missing cells by column, `rows` is what messages call a row.  Unless
    the frame has `all_rows`, no column is replaced by its ranks.  The response may be ``Surv()`` if
    there are weights `times_weighted` (n,).
    """
    evaluation, values = training_values(terms.response, frame, env)
    times = None
    if values.censored and times_weighted is not None:
        response, times = read_survival(values, kind)
        require_events(response.name, times, times_weighted)
        y = null_residuals(times.ranks, times_weighted)
    else:
        response, y = read_response(values, kind, rows)
        require_variation(response.name, y)
    response = replace(response, columns=tuple(terms.response.columns), evaluation=evaluation)
    fills = missing_cells.learn_fills(frame, terms.columns) if missing == "median" else {}
    frame = missing_cells.filled(frame, fills) if fills else frame
    recipe = learn_predictors(terms.terms, frame, {} if fills else empty, env, all_rows)
    scaling, X = recipe.columns_on(frame).learned(recipe.columns)
    schema = learn_schema(frame, terms.columns)
    design = Design(
        formula, response, recipe, schema, scaling, missing, grid, weights, fills, unseen
    )
    return Learned(design, frame, X, y, times)


def build_design(
    formula: str,
    data: pd.DataFrame,
    *,
    kind: str = "auto",
    missing: str = "split",
    unseen: str = "missing",
    weights: str | ArrayLike | None = None,
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    aside: str | None = None,
    class_weights: str | Mapping[Any, float] | None = None,
    with_times: bool = False,
    env: EvalEnvironment,
) -> tuple[Design, TrainingData]:
    """Return the design learned from formula and data, and the training arrays.

    The arguments are those of `odrf.odt`.  Rows whose response is missing are left out, and so are
    rows of weight 0: nothing is learned from them.  ``.`` leaves out the columns of weights,
    groups, order and strata, and the column `aside`, whose missing values make a row incomplete.
    `with_times`: the response may be ``Surv()``.  Functions in the formula are looked up in `env`.

    Examples
    --------
    >>> data = pd.DataFrame({"y": [1.5, 2.5, 4.0], "a": [0, 5, 10], "sex": ["f", "m", "f"]})
    >>> design, training = build_design("y ~ .", data, env=EvalEnvironment.capture())
    >>> design.columns
    ('a', 'sex[f]', 'sex[m]')
    >>> training.X
    array([[0. , 0.5, 1. ],
           [1. , 0. , 1. ],
           [0. , 1. , 0. ]], dtype=float32)
    """
    check_frame(data)
    require_numbers(len(data), MOST_ROWS, "rows of data", "use fewer rows")
    column = weights if isinstance(weights, str) else None
    terms, used = read_terms(
        formula,
        data.columns.tolist(),
        env,
        [name for name in (column, aside) if name is not None],
        [name for name in (groups, order, strata) if isinstance(name, str)],
        kind=kind,
        missing=missing,
        unseen=unseen,
    )
    weight, counted = np.ones(len(data)), np.ones(len(data), dtype=np.bool_)
    if weights is not None:
        weight = case_weights.raw_weights(weights, data)
        counted = case_weights.rows_that_count(weight)
    all_count = bool(counted.all())
    considered = data if all_count else data[counted]
    left_out = _left_out(used, considered)
    complete = counted.copy()
    complete[counted] = left_out.complete
    frame, w = left_out.complete_rows(considered), weight[complete]
    factors: NDArray[np.float64] | None = None
    unit = 1.0
    if weights is not None:
        case_weights.check_weights(w)
        unit = case_weights.unit_of(w)
    structure = None
    if groups is not None or order is not None or strata is not None:
        structure = read_structure(data, groups, order, strata, complete)
        require_usable(structure, w)
    empty = find_missing(frame, terms.columns).counts
    learned = learn_design(
        formula,
        terms,
        frame,
        empty,
        env,
        kind=kind,
        missing=missing,
        unseen=unseen,
        weights=column,
        grid=grid_of(data),
        rows="row" if all_count else "row of positive weight",
        times_weighted=w if with_times else None,
    )
    design, y = learned.design, learned.y
    w = w / unit
    if class_weights is not None:
        factors = class_factors(class_weights, design.response, y, w)
        w = w * factors[y.astype(np.int64)]
    kept = kept_columns(design.recipe, learned.frame, terms.columns)
    training = TrainingData(
        learned.X, y, w, frame.index, complete, left_out.counts, empty, factors, unit, kept,
        structure, learned.times,
    )  # fmt: skip
    if all_count:
        return design, training
    required = used.columns if missing in ("raise", "drop") else used.response
    frame = data[list(used.columns)]
    apart = rows_apart(frame, ~counted, complete, required, design.matrix)
    return design, replace(training, weightless=~counted, apart=apart)


def _left_out(used: UsedColumns, data: pd.DataFrame) -> Missing:
    """Return the missing values for which rows are left out; raise if the others are too few."""
    left_out = used.left_out(data)
    empty = [name for name in used.response if left_out.counts.get(name) == len(data)]
    if empty:
        raise InputError(
            f"response {empty[0]!r} is missing in every row: use another column as the response"
        )
    n_complete = int(left_out.complete.sum())
    known = data[list(used.response)].notna().all(axis=1).sum()
    if known < 2:
        raise InputError(
            f"the response is known in {known} of {len(data)} rows, and at least 2 are needed: "
            f"fill in {listed(list(used.response))}, or use another response"
        )
    if n_complete < 2:
        raise InputError(
            f"{left_out}: {n_complete} rows are complete, and at least 2 are needed; leave "
            "such columns out of the formula, fill them in, or keep rows with missing values with "
            'missing="split"'
        )
    return left_out
