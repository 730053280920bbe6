"""Comparison of models by cross-validation, all on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from scipy.stats import rankdata, studentized_range, wilcoxon
from scipy.stats import t as student

from odrf import plots
from odrf.checks import MOST, Seed, checked_seed, checked_whole, is_whole
from odrf.design.folds import Division, FoldRows, Folds, read_division
from odrf.design.functions import environment
from odrf.errors import InputError
from odrf.evaluation.metrics import Metric, metric_for
from odrf.evaluation.models import (
    UNNAMED,
    BesideFormula,
    RowSplit,
    Scoring,
    Task,
    arguments_given,
    check_formulas,
    check_predicted,
    check_same_kind,
    each_in_turn,
    named_tables,
    read_models,
    read_task,
)
from odrf.public import public
from odrf.text.summary import Card, Report

if TYPE_CHECKING:
    from matplotlib.axes import Axes


# Statistics of methods that are compared on the same folds, or on the same tables (Demšar 2006;
# Nadeau and Bengio 2003; references are those of `compare`).

DIGITS = 12
LEVEL = 0.95
"""Coverage of the intervals of differences."""


def differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``first - second`` (J,), rounded to 12 digits of the largest value.

    Losses that differ only by rounding, as from another order of summation, become ties.
    """
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    if scale == 0:
        return np.zeros(len(first))
    return scale * np.round((first - second) / scale, DIGITS)


def signed_rank(difference: NDArray[np.float64]) -> float:
    """Return the two-sided p-value of Wilcoxon's signed-rank test of differences (J,) around 0.

    It is 1 if all differences are 0.
    """
    return float(wilcoxon(difference).pvalue) if difference.any() else 1.0


def corrected_std_error(values: NDArray[np.float64], ratio: float) -> NDArray[np.float64]:
    """Return the standard errors of means over J folds of scores (J, …) (Nadeau and Bengio 2003).

    The training sets of the folds overlap, so the scores of the folds are not independent and the
    plain standard error, √(variance / J), is far too small.  This one is
    √((1/J + n_test/n_train)·variance); `ratio` is n_test / n_train.
    """
    return np.sqrt((1.0 / len(values) + ratio) * np.var(values, axis=0, ddof=1))


class MeanDifference(NamedTuple):
    """A mean difference with its standard error, interval, t statistic and two-sided p-value."""

    difference: float
    std_error: float
    conf_low: float
    conf_high: float
    statistic: float
    p_value: float


def corrected_t(
    difference: NDArray[np.float64], ratio: float, level: float = LEVEL
) -> MeanDifference:
    """Return the mean of differences (J,), with interval and p-value of the corrected resampled t.

    t = mean / √((1/J + ratio)·variance), on J - 1 degrees of freedom; `ratio` is n_test / n_train
    (Nadeau and Bengio 2003; for repeated cross-validation Bouckaert and Frank 2004).  With a ratio
    of 0 it is the paired t of independent differences.  If all are 0, so are error and t, and p is
    1; if they are equal otherwise, or there is only one, their variance is unknown: NaN.
    """
    mean = float(difference.mean())
    if not difference.any():
        return MeanDifference(0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    if not np.ptp(difference) > 0:
        return MeanDifference(mean, *[np.nan] * 5)
    freedom = len(difference) - 1
    error = float(corrected_std_error(difference, ratio))
    half = float(student.ppf((1 + level) / 2, freedom)) * error
    p_value = float(2 * student.sf(abs(mean) / error, freedom))
    return MeanDifference(mean, error, mean - half, mean + half, mean / error, p_value)


def adjusted_by_holm(p: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return p-values (m,) after Holm's correction; NaN, of what was not tested, stay."""
    from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - slow to load

    adjusted, known = np.full(len(p), np.nan), ~np.isnan(p)
    if known.any():
        adjusted[known] = multipletests(p[known], method="holm")[1]
    return adjusted


def mean_ranks(losses: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return each method's mean rank (m,) from losses (J, m): 1 is best, ties get mean ranks."""
    return rankdata(losses, axis=1).mean(axis=0)


def wins(losses: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return how often no method has a smaller loss, for each method (m,); losses are (J, m)."""
    return (losses == losses.min(axis=1, keepdims=True)).sum(axis=0)


def critical_difference(methods: int, tables: int, level: float = 0.05) -> float:
    """Return the difference of mean ranks that is significant by Nemenyi's test (Demšar 2006).

    `methods` are ranked on a number of `tables`; `level` holds for all pairs together.

    Examples
    --------
    >>> round(critical_difference(4, 14), 3)
    1.254
    """
    quantile = studentized_range.ppf(1 - level, methods, np.inf) / np.sqrt(2)
    return float(quantile * np.sqrt(methods * (methods + 1) / (6 * tables)))


class FoldsUsed(NamedTuple):
    """Folds of a comparison.

    `k`: their number, of several tables the largest.  `spelled`: the arguments that make them, as
    the call shows them.  `by`: the name of the method, such as "10-fold cross-validation".
    `ratio`: number of test rows divided by number of training rows, of all folds.
    """

    k: int
    spelled: str
    by: str
    ratio: float


# Why there is no t-test.
EQUAL = (
    "Where two models differ by the same in all folds, these do not tell how the difference "
    "varies: there is no t-test."
)


@public
@dataclass(eq=False, repr=False)
class Comparison(Report):
    """Scores of models on the same folds, with standard errors, ranks and tests.

    Made by `odrf.compare`.

    Attributes
    ----------
    scores : DataFrame
        The score of each model (columns) on each fold.  Indexed by ``table``, ``repeat`` and
        ``fold``; the last two count from 1.
    metric : Metric
    formula : str or None
        None if every table has its own formula.
    sizes : dict of str to int
        Rows of each table.
    folds : FoldsUsed
        The number of folds, the name of the method, and how many rows test beside those that train.
    seed : int

    Examples
    --------
    >>> import odrf
    >>> data = odrf.load_data("diabetes")
    >>> models = {"all": ("progression ~ .", odrf.odt), "two": ("progression ~ bmi + bp", odrf.odt)}
    >>> comparison = odrf.compare("progression ~ .", data, models, cv=5, seed=1)
    >>> comparison.table.columns.tolist()
    ['estimate', 'std_error', 'rank', 'wins']
    >>> comparison.pairs.index.tolist()
    [('all', 'two'), ('two', 'all')]
    """

    scores: pd.DataFrame
    metric: Metric
    formula: str | None
    sizes: dict[str, int]
    folds: FoldsUsed
    seed: int

    @property
    def call(self) -> str:
        """The call that made the comparison."""
        metric = self.metric
        name = repr(metric.name) if metric.kind is not None else metric.name
        repeats = f", repeats={self.repeats}" if self.repeats > 1 else ""
        return (
            f"compare({self.formula!r}, data, models, {self.folds.spelled}{repeats}, "
            f"metric={name}, seed={self.seed})"
        )

    @property
    def cv(self) -> int:
        """Number of folds; of tables with different numbers, the largest."""
        return self.folds.k

    @property
    def repeats(self) -> int:
        """How often each table was divided into folds."""
        return int(self.scores.index.get_level_values("repeat").max())

    @property
    def models(self) -> tuple[str, ...]:
        """The names of the models."""
        return tuple(self.scores.columns)

    @cached_property
    def means(self) -> pd.DataFrame:
        """Mean score of each model (columns) on each table."""
        return self.scores.groupby(level="table", sort=False).mean()

    @cached_property
    def table(self) -> pd.DataFrame:
        """One row for each model, the best first.

        - ``estimate``: mean score over the folds.  With several tables, the mean of their means;
          compare it only if all responses have the same unit, otherwise compare ranks.
        - ``std_error``: its standard error, corrected for the overlap of training sets (Nadeau and
          Bengio 2003); with several tables, the standard error over tables.
        - ``rank``: mean rank over the folds, or over the tables; 1 is best.
        - ``wins``: number of folds, or tables, on which no model is better.  Ties count for each.
        """
        losses = self._losses
        ratio = 0.0 if self._several_tables else self.folds.ratio
        table = pd.DataFrame(
            {
                "estimate": self.metric.sign * losses.mean(axis=0),
                "std_error": corrected_std_error(losses, ratio),
                "rank": mean_ranks(losses),
                "wins": wins(losses),
            },
            index=self.scores.columns,
        )
        order = table["rank"] if self._several_tables else self.metric.sign * table["estimate"]
        return table.loc[order.sort_values(kind="stable").index]

    @cached_property
    def pairs(self) -> pd.DataFrame:
        """Differences of each pair of models, with intervals and two-sided tests.

        Each pair is there in both orders, so that it is found by either; only signs differ.
        ``difference`` is the mean score of `model` less that of `than`, with its ``std_error`` and
        the ends of its 95 % interval, ``conf_low`` and ``conf_high``.

        With one table these are of the corrected resampled t-test (Nadeau and Bengio 2003), which
        allows for training sets that overlap: ``statistic_t``, ``p_value_t``, and ``p_adjusted_t``
        after Holm's correction for all pairs.  They are NaN where the scores differ by the same in
        all folds.  Last come the p-values of Wilcoxon's signed-rank test over the folds,
        ``p_value_wilcoxon`` and ``p_adjusted_wilcoxon``.  It takes the folds for independent: its
        p-values are too small, and summaries leave them out.

        With several tables, which are independent, error and interval are those of the mean over
        tables by Student's t, and Wilcoxon's test is over the tables (Demšar 2006).
        """
        losses = dict(zip(self.models, self._losses.T, strict=True))
        ratio, sign = 0.0 if self._several_tables else self.folds.ratio, self.metric.sign
        once = list(combinations(self.models, 2))
        between = [sign * differences(losses[model], losses[than]) for model, than in once]
        table = pd.DataFrame(
            [corrected_t(pair, ratio) for pair in between],
            index=pd.MultiIndex.from_tuples(once, names=["model", "than"]),
        ).rename(columns={"statistic": "statistic_t", "p_value": "p_value_t"})
        if self._several_tables:
            table = table.drop(columns=["statistic_t", "p_value_t"])
        else:
            table["p_adjusted_t"] = adjusted_by_holm(table["p_value_t"].to_numpy())
        table["p_value_wilcoxon"] = [signed_rank(pair) for pair in between]
        table["p_adjusted_wilcoxon"] = adjusted_by_holm(table["p_value_wilcoxon"].to_numpy())
        back = table.copy()
        turned = [name for name in ("difference", "statistic_t") if name in table]
        back[turned] = -table[turned]
        back["conf_low"], back["conf_high"] = -table["conf_high"], -table["conf_low"]
        both = pd.concat([table, back.swaplevel().rename_axis(table.index.names)])
        order = [(model, than) for model in self.models for than in self.models if model != than]
        return both.loc[order] + 0.0  # turns -0.0 into 0.0

    @property
    def critical_difference(self) -> float | None:
        """The difference of mean ranks that is significant at 5 % by Nemenyi's test.

        None with one table, whose folds are not independent.
        """
        if not self._several_tables:
            return None
        return critical_difference(len(self.models), len(self.sizes))

    def plot(self, *, ax: Axes | None = None) -> Axes:
        """Draw each model's mean score, the best on top; with several tables, the mean ranks.

        These are dots with one standard error to either side, as in `table`; with several tables
        the diagram of Demšar (2006), in which a bar joins models whose ranks differ by less than
        `critical_difference`.
        """
        if self.critical_difference is None:
            return plots.style.plot_means(self.table, f"{self.metric.words}, {self.folds.by}", ax)
        return plots.evaluation.plot_ranks(self.table["rank"], self.critical_difference, ax=ax)

    @property
    def _title(self) -> str:
        return "Comparison of models"

    def _card(self) -> Card:
        return Card(self._title, self._facts(), self.table)

    @property
    def _several_tables(self) -> bool:
        return len(self.sizes) > 1

    @cached_property
    def _losses(self) -> NDArray[np.float64]:
        """Losses (J, m) of the models on J folds, or on J tables; smaller is better."""
        scores = self.means if self._several_tables else self.scores
        return self.metric.sign * scores.to_numpy()

    def _facts(self) -> dict[str, str]:
        better = "larger" if self.metric.greater_is_better else "smaller"
        fewest, most = min(self.sizes.values()), max(self.sizes.values())
        facts, random = {"Models": str(len(self.models))}, f"{self.cv}-fold cross-validation"
        if self._several_tables:
            facts["Tables"] = str(len(self.sizes))
        facts |= {
            "Rows": str(fewest) if fewest == most else f"{fewest} to {most}",
            "Folds": f"{self.cv}" + (f" × {self.repeats} repeats" if self.repeats > 1 else ""),
            **({} if self.folds.by == random else {"Held out by": self.folds.by}),
            "Metric": self.metric.words,
            "Better": better,
        }
        if self.critical_difference is not None:
            facts["Critical difference"] = f"{self.critical_difference:.3g}"
        return facts

    def _sections(self) -> dict[str, pd.DataFrame]:
        sections = {"Models, the best first": self.table.rename_axis(None)}
        order = {name: place for place, name in enumerate(self.table.index)}
        kept = [(model, than) for model, than in self.pairs.index if order[model] < order[than]]
        kept.sort(key=lambda pair: (order[pair[0]], order[pair[1]]))
        pairs = self.pairs.loc[kept]
        pairs.index = pd.Index([f"{model} - {than}" for model, than in kept])
        if not self._several_tables:  # folds are not independent, as Wilcoxon's test takes them
            pairs = pairs.drop(columns=["p_value_wilcoxon", "p_adjusted_wilcoxon"])
        sections["Differences: the first minus the second"] = pairs
        if self._several_tables:
            sections["Mean scores by table"] = self.means
        return sections

    def _notes(self) -> tuple[str, ...]:
        tests = len(self.models) * (len(self.models) - 1) // 2
        for_tests = f" for {tests} tests" if tests > 1 else ""
        said = (
            "p-values are two-sided, p_adjusted after Holm's correction"
            f"{for_tests}; intervals hold one difference each at 95 %."
        )
        if self._several_tables:
            return (
                "Ranks, errors and tests are over the tables' means (Demšar 2006); mean ranks that "
                "differ by more than the critical difference do so at 5 % (Nemenyi). Wilcoxon's "
                f"signed-rank {said}",
            )
        return (
            "Standard errors, intervals and t-tests are corrected for training sets that overlap "
            f"(Nadeau and Bengio 2003). {said[0].upper()}{said[1:]}",
            *((EQUAL,) if self.pairs["statistic_t"].isna().any() else ()),
        )


Tables = pd.DataFrame | Mapping[str, pd.DataFrame] | Mapping[str, tuple[str, pd.DataFrame]]


@public
def compare(
    formula: str | None,
    data: Tables,
    models: Mapping[str, Any],
    *,
    cv: Folds = 10,
    repeats: int = 1,
    metric: str | Callable[[NDArray, NDArray], float] = "auto",
    groups: str | ArrayLike | None = None,
    order: str | ArrayLike | None = None,
    strata: str | ArrayLike | None = None,
    seed: Seed = None,
    n_jobs: int | None = None,
    progress: bool = False,
) -> Comparison:
    """Compare models by cross-validation, all on the same folds.

    Parameters
    ----------
    formula : str or None
        The model, such as ``"y ~ ."``; see `odt`.  If the classes are numbers, write
        ``"C(y) ~ ."``.  None if every table comes with its own formula.
    data : DataFrame or mapping
        One table, or several by name: for each a data frame, or a pair (formula, data frame).
        Rows whose response is missing are left out.  A model must predict all others, also those
        with missing values of predictors.  Where the training rows of a fold lack a level of a
        factor, fits of this package take its test rows to have none of the known levels, without a
        warning.
    {models}

        There are two or more.
    {cv}
    repeats : int, default 1
        How often the table is divided into new folds.
    {metric, groups}
        If `cv` is a number, folds hold out whole groups.
    {order}
        If `cv` is a number, the rows are divided into ``cv + 1`` blocks of successive times, and
        each but the first tests models that are fitted to all rows before it.
    {strata}
        If `cv` is a number, folds keep the shares of the strata; those in time do not.
    {seed}
    n_jobs : int, optional
        Threads, one fold each; by default all cores, or as many as ``OMP_NUM_THREADS`` says.
        Models have their own threads beside these.
    {progress}

    Returns
    -------
    Comparison
        Scores, mean scores with standard errors, and tests for each pair of models.

    Raises
    ------
    InputError
        If an argument is invalid, or a model fails; the message says which and what to do.

    Notes
    -----
    A model with arguments `groups`, `order` or `strata` that are not set yet, such as `odrf.odrf`,
    gets those of the training rows.  Columns that they name are no predictors unless a formula
    names them.

    References
    ----------
    J. Demšar (2006). Statistical comparisons of classifiers over multiple data sets. Journal of
    Machine Learning Research 7.

    C. Nadeau and Y. Bengio (2003). Inference for the generalization error. Machine Learning 52.

    Examples
    --------
    >>> import odrf
    >>> from functools import partial
    >>> models = {"oblique": odrf.odt, "axis": partial(odrf.odt, projection="axis")}
    >>> comparison = odrf.compare("diagnosis ~ .", odrf.load_data("breast_cancer"), models, seed=1)
    >>> comparison.scores.shape
    (10, 2)
    >>> comparison.table.index[0]
    'oblique'
    >>> comparison.pairs.loc[("oblique", "axis"), ["difference", "conf_low", "conf_high"]].round(2)
    difference   -0.04
    conf_low     -0.06
    conf_high    -0.02
    Name: (oblique, axis), dtype: float64
    """
    env = environment(2)
    named_models = read_models(models)
    formulas = [model.formula for model in named_models.values() if model.formula is not None]
    structure = arguments_given(groups=groups, order=order, strata=strata)
    beside = BesideFormula(structure, cv if isinstance(cv, str) else None, formulas)
    tasks = []
    for name, (table_formula, table) in named_tables(formula, data).items():
        tasks.append(read_task(name, table_formula, table, env, beside, with_times=True))
    check_same_kind(tasks)
    kind = tasks[0].response.kind
    score = metric_for(metric, kind, max(task.n_classes for task in tasks))
    check_predicted(named_models, score)
    check_formulas(named_models, tasks, env)
    repeats, seed = checked_whole("repeats", repeats, 1, MOST), checked_seed(seed)
    divisions = [_division(cv, task) for task in tasks]
    folds = {
        (task.name, *number): rows
        for place, (task, division) in enumerate(zip(tasks, divisions, strict=True))
        for number, rows in _folds(task, place, division, repeats, seed)
    }
    scoring, cells = Scoring(named_models, score, env), list(folds.values())
    lines = each_in_turn(scoring.scores, cells, n_jobs, "fold", progress)
    index = pd.MultiIndex.from_tuples(list(folds), names=["table", "repeat", "fold"])
    scores = pd.DataFrame(lines, index=index, columns=pd.Index(list(named_models), name="model"))
    sizes = {task.name: len(task.y) for task in tasks}
    k = max(fold for _, _, fold in folds)
    used = FoldsUsed(
        k,
        _spelled({"cv": k if is_whole(cv) else cv, **structure}),
        divisions[0].words(k, tasks[0].rows),
        sum(rows.test.sum() for rows in cells) / sum(rows.train.sum() for rows in cells),
    )
    return Comparison(scores, score, formula, sizes, used, seed)


def _spelled(arguments: Mapping[str, Any]) -> str:
    """Return arguments as the call shows them: numbers and names of columns, but no values."""
    return ", ".join(
        f"{name}={value!r}" if isinstance(value, int | str) else f"{name}=…"
        for name, value in arguments.items()
    )


def _division(cv: Folds, task: Task) -> Division:
    """Return how the rows of a table are divided; an error names the table."""
    try:
        return read_division(cv, task.rows, task.data.index, task.used, task.table)
    except InputError as error:
        if task.name == UNNAMED:
            raise
        raise InputError(f"table {task.name!r}: {error}") from error


def _folds(
    task: Task, place: int, division: Division, repeats: int, seed: int
) -> Iterator[tuple[tuple[int, int], RowSplit]]:
    """Yield the rows of each fold by repeat and fold, which count from 1.

    Each division has a seed, and each fold a seed for its models.
    """
    before: list[FoldRows] = []
    for repeat in range(repeats):
        sequence = np.random.SeedSequence(seed, spawn_key=(place, repeat))
        state = sequence.generate_state((division.k or 0) + 1)
        folds = division.folds(task.rows, int(state[-1]))
        if not division.is_random(task.rows) and repeat > 0 and _are_same(before, folds):
            raise InputError(
                f"repeats={repeats}: every repeat has the same folds; use repeats=1, or a number "
                "of random folds as cv="
            )
        before, seeds = folds, sequence.generate_state(len(folds))
        for k, (rows, of_models) in enumerate(zip(folds, seeds.tolist(), strict=True), 1):
            where = f"table {task.name!r}, repeat {repeat + 1}, fold {k}"
            yield (repeat + 1, k), RowSplit(task, *rows, of_models, where)


def _are_same(some: list[FoldRows], others: list[FoldRows]) -> bool:
    return len(some) == len(others) and all(
        (one.test == other.test).all() for one, other in zip(some, others, strict=True)
    )
