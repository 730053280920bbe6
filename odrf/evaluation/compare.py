"""Comparison of models by cross-validation, all on the same folds."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import permutations
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


def differences(first: NDArray[np.float64], second: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return ``first - second`` (J,), rounded to 12 digits of the largest value.

    Losses that differ only by rounding, as from another order of summation, become ties.
    """
    scale = float(max(np.abs(first).max(), np.abs(second).max()))
    if scale == 0:
        return np.zeros(len(first))
    return scale * np.round((first - second) / scale, DIGITS)


def signed_rank(difference: NDArray[np.float64]) -> float:
    """Return the p-value of Wilcoxon's signed-rank test that differences (J,) tend below 0.

    It is 1 if all differences are 0.
    """
    if not difference.any():
        return 1.0
    return float(wilcoxon(difference, alternative="less").pvalue)


def corrected_std_error(values: NDArray[np.float64], ratio: float) -> NDArray[np.float64]:
    """Return the standard errors of means over J folds of scores (J, …) (Nadeau and Bengio 2003).

    The training sets of the folds overlap, so the scores of the folds are not independent and the
    plain standard error, √(variance / J), is far too small.  This one is
    √((1/J + n_test/n_train)·variance); `ratio` is n_test / n_train.
    """
    return np.sqrt((1.0 / len(values) + ratio) * np.var(values, axis=0, ddof=1))


def corrected_t(difference: NDArray[np.float64], ratio: float) -> tuple[float, float]:
    """Return the corrected resampled t, and the p-value that the mean `difference` (J,) is below 0.

    t = mean / √((1/J + ratio)·variance), on J - 1 degrees of freedom; `ratio` is n_test / n_train
    (Nadeau and Bengio 2003; for repeated cross-validation Bouckaert and Frank 2004).  t and p are 0
    and 1 if all differences are 0, and NaN if they are equal otherwise: their variance is unknown.
    """
    if not difference.any():
        return 0.0, 1.0
    if not np.ptp(difference) > 0:
        return np.nan, np.nan
    t = float(difference.mean() / corrected_std_error(difference, ratio))
    return t, float(student.cdf(t, len(difference) - 1))


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
        """Tests, for each ordered pair of models, that `model` is better than `than`.

        ``difference`` is the mean difference of their scores.

        Wilcoxon's one-sided signed-rank test, over the folds, or over the means of several tables
        (Demšar 2006): ``p_value_wilcoxon``, and ``p_adjusted_wilcoxon`` after Bonferroni's
        correction for all pairs.

        With one table also the one-sided corrected resampled t-test (Nadeau and Bengio 2003):
        ``statistic_t``, with the sign of the difference, ``p_value_t`` and ``p_adjusted_t``.  It
        allows for training sets that overlap; it is NaN where the scores differ by the same in all
        folds.  Wilcoxon's test takes the folds for independent,
        so its p-values are too small.
        """
        from statsmodels.stats.multitest import multipletests  # noqa: PLC0415 - slow to load

        losses = dict(zip(self.models, self._losses.T, strict=True))
        ordered = list(permutations(self.models, 2))
        between = [differences(losses[model], losses[than]) for model, than in ordered]
        table = pd.DataFrame(
            {
                # adding 0.0 turns -0.0 into 0.0
                "difference": [self.metric.sign * pair.mean() + 0.0 for pair in between],
                "p_value_wilcoxon": [signed_rank(pair) for pair in between],
            },
            index=pd.MultiIndex.from_tuples(ordered, names=["model", "than"]),
        )
        p = table["p_value_wilcoxon"]
        table["p_adjusted_wilcoxon"] = multipletests(p, method="bonferroni")[1]
        if not self._several_tables:
            t, p = np.array([corrected_t(pair, self.folds.ratio) for pair in between]).T
            table["statistic_t"] = self.metric.sign * t + 0.0
            table["p_value_t"] = p
            table["p_adjusted_t"] = multipletests(p, method="bonferroni")[1]
        return table

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
        pairs.index = pd.Index([f"{model} / {than}" for model, than in kept])
        sections["Pairs: the first better than the second"] = pairs
        if self._several_tables:
            sections["Mean scores by table"] = self.means
        return sections

    def _notes(self) -> tuple[str, ...]:
        tests = len(self.models) * (len(self.models) - 1)
        adjusted = f"Adjusted p-values: Bonferroni's correction for {tests} one-sided tests."
        if self._several_tables:
            return (
                "Ranks and tests are over the tables' means (Demšar 2006); mean ranks that differ "
                f"by more than the critical difference do so at 5 % (Nemenyi). {adjusted}",
            )
        return (
            "std_error and the t-test are corrected for training sets that overlap (Nadeau and "
            "Bengio 2003); Wilcoxon's test is not, so its p-values are too small. "
            f"{adjusted}",
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
