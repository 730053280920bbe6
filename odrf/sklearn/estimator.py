"""What all estimators share: they call a function of the package, and predict by its result."""

from __future__ import annotations

import copyreg
import inspect
import re
import textwrap
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any, ClassVar, TypeVar

import joblib
import numpy as np
import pandas as pd
from numpy.typing import NDArray
from scipy.sparse import csr_matrix
from sklearn.base import BaseEstimator
from sklearn.utils.metaestimators import available_if
from sklearn.utils.validation import check_is_fitted

from odrf.api.calling import grown_by
from odrf.api.load import load
from odrf.checks import AUTO, MOST, checked_choice, checked_whole, is_word
from odrf.design.formula import quoted
from odrf.design.structure import STRUCTURE_ARGUMENTS
from odrf.design.weights import row_labels
from odrf.engine.trees.forest import Forest
from odrf.errors import AbsentError, InputError, UnknownArgumentError, refused_again
from odrf.options.options import trees_by_default
from odrf.public import documented
from odrf.public.arguments import BACKENDS, suggestion
from odrf.public.elsewhere import entry_of
from odrf.sklearn.inputs import (
    TrainingTable,
    feature_names,
    named_as_here,
    pair_of,
    predictors_of,
    response_name,
    threads_for,
    weights_of,
    with_columns,
    with_threads,
)

# The constructor of an estimator, and its documentation, from those of the function it calls.

# Options that name a column of X, which is no predictor.
ASIDE = ("offset", *STRUCTURE_ARGUMENTS)
# Arguments of the functions that are not options of an estimator: what is fitted comes with fit().
OF_FIT = ("formula", "data", "weights", "kind")
ELSEWHERE = {
    **dict.fromkeys(("formula", "data"), ": fit(X, y) takes the rows, and all columns of X"),
    "weights": ": fit() takes them, as sample_weight=",
    "kind": ": there is a class for numbers, for classes, and for survival times",
}
OWN_WORDS = {
    "offset": """
        offset : str, optional
            The column of X with a known part of each row's score, on the scale of
            ``results_.predict(type="link")``; see `odrf.odbt`.  It is no predictor.
        """,
    "groups": """
        groups : str, optional
            The column of X with the group of each row, such as its subject; see the function.  It
            is no predictor, and a column of X for `predict`, too.
        """,
    "order": """
        order : str, optional
            The column of X with the time of each row; see the function.  It is no predictor.
        """,
    "strata": """
        strata : str, optional
            The column of X with the stratum of each row; see the function.  It is no predictor.
        """,
    "random_state": """
        random_state : int, RandomState, Generator or None, default None
            Makes the fit reproducible, for any number of threads.  It is the argument `seed` of the
            function; ``results_.seed`` is the seed that was used.
        """,
    "n_jobs": """
        n_jobs : int, optional
            Threads of fits and predictions.  By default all cores, or as many as
            ``OMP_NUM_THREADS`` says; by -1 all cores.  In a worker of joblib, such as those of
            ``GridSearchCV(n_jobs=2)``, both are the worker's share of the cores.
        """,
    "warm_start": """
        warm_start : bool, default False
            With True, a further `fit` to the same rows keeps the trees of the fit before, and
            grows only as many as `n_trees` is larger.  The result is that of ``results_.grow()``.
            Other rows, or other options than `n_trees`, `n_jobs`, `backend` and `progress`, raise
            an error.
        """,
}
ATTRIBUTES = """
Attributes
----------
results_ : object
    The full result, as the function returns it: with ``summary()``, ``plot()``, ``importance()``.
{own}n_features_in_ : int
    Number of columns of X, called p below.
feature_names_in_ : (p,) array of str
    Their names, if X was a data frame whose columns are named by text.
feature_importances_ : (p,) array of float
    {importances}
"""
OF_CLASSES = """classes_ : (K,) array
    The classes, sorted, as in the columns of `predict_proba`.
"""
OF_TIMES = """unique_times_ : (R,) array of float
    The different times of events, ascending, at which predicted curves step.
"""


def _defaults_of(
    function: Callable[..., Any], left_out: tuple[str, ...], extra: Mapping[str, Any]
) -> dict[str, Any]:
    """Return the parameters of an estimator and their defaults.

    They are those of `function`, such as `odrf.odt`, without those `left_out`, and the `extra`
    ones.
    """
    options = {
        "random_state" if name == "seed" else name: parameter.default
        for name, parameter in inspect.signature(function).parameters.items()
        if name not in (*OF_FIT, *left_out)
    }
    return {**options, **extra}


def _constructor_with(name: str, defaults: Mapping[str, Any]) -> Callable[..., None]:
    """Return the ``__init__`` of the estimator called `name`: it stores its arguments untouched."""

    def __init__(self: Any, **options: Any) -> None:  # noqa: N807
        for option in options:
            if option not in defaults:
                said = ELSEWHERE.get(option) or suggestion(option, defaults)
                said = said or f"; it has {', '.join(defaults)}"
                raise UnknownArgumentError(f"{name}() has no argument {option!r}{said}")
        for option, default in defaults.items():
            setattr(self, option, options.get(option, default))

    kinds = inspect.Parameter
    place = kinds("self", kinds.POSITIONAL_OR_KEYWORD)
    by_name = [kinds(option, kinds.KEYWORD_ONLY, default=each) for option, each in defaults.items()]
    __init__.__qualname__ = f"{name}.__init__"  # for errors, such as of arguments by position
    __init__.__signature__ = inspect.Signature([place, *by_name])  # type: ignore[attr-defined]
    return __init__


def _documented(
    own: str,
    function: Callable[..., Any],
    defaults: Mapping[str, Any],
    attributes: str,
    importances: str,
) -> str:
    """Return the docstring of an estimator: its `own`, with parameters and attributes inserted.

    `attributes` describes those of its kind; `importances` is what its feature importances are.
    """
    summary, examples = inspect.cleandoc(own).split("\nExamples\n--------\n")
    words = "\n".join(_descriptions(function, defaults))
    every = ATTRIBUTES.format(own=attributes, importances=importances)
    return f"{summary}\nParameters\n----------\n{words}\n{every}\nExamples\n--------\n{examples}"


def _descriptions(function: Callable[..., Any], defaults: Mapping[str, Any]) -> list[str]:
    """Return the descriptions of the parameters, with heads that name only those there are."""
    text = re.sub(r" \[\d+\]_", "", inspect.getdoc(function) or "")  # references stay there
    section = text.split("Parameters\n----------\n")[1].split("\nReturns\n-------\n")[0].rstrip()
    parts = []
    for entry in re.split(r"\n(?=\S)", section):
        head, _, body = entry.partition("\n")
        names, colon, kind = head.partition(" : ")
        kept = [name for name in names.split(", ") if name in defaults and name not in OWN_WORDS]
        if kept:
            parts.append(f"{', '.join(kept)}{colon}{kind}\n{body}")
    own = [textwrap.dedent(words).strip() for name, words in OWN_WORDS.items() if name in defaults]
    return [*parts, *own]


# Results within the files of skops, which hold no code.


class SavedResults:
    """Results on their way into a file of skops, or out of it.

    It is made of results, or of the bytes of a file that their method ``save`` wrote.
    """

    def __init__(self, kept: Any) -> None:
        self.kept = kept

    def __reduce__(self) -> tuple[type[SavedResults], tuple[bytes]]:
        with TemporaryDirectory() as folder:
            path = Path(folder, "fit")
            self.kept.save(path)
            return SavedResults, (path.read_bytes(),)

    def results(self) -> Any:
        """Return the results, which are read if they are bytes."""
        if not isinstance(self.kept, bytes):
            return self.kept
        with TemporaryDirectory() as folder:
            path = Path(folder, "fit")
            path.write_bytes(self.kept)
            return load(path)


def _of_results(name: str, results: Any) -> str:
    """Return where results have what an estimator lacks, for the end of a message; or ``""``."""
    kind = type(results)
    if hasattr(kind, name):
        return f": use results_.{name}"
    entry = entry_of(name, of_fit=True)
    if entry is None:
        return ""
    said = entry.answer([each for each in entry.here if hasattr(kind, each)])
    return re.sub(r"did you mean '|\b(fit|tree|forest|boosted)\.", _in_results, said)


def _in_results(match: re.Match[str]) -> str:
    return "results_." if match[1] else f"{match[0]}results_."


# What all estimators share.

Same = TypeVar("Same", bound="FunctionEstimator")

# Choices of `missing` with which rows with missing cells are fitted and predicted.
KEEPING = ("split", "surrogate", "median")


class FunctionEstimator(BaseEstimator):  # type: ignore[misc]
    """Base class of all estimators.

    A class with ``function=`` gets its constructor and the words on its parameters from there.
    """

    _kind: ClassVar[str]
    _own_attributes: ClassVar[str] = ""
    _function: ClassVar[Callable[..., Any]]
    _left_out: ClassVar[tuple[str, ...]] = ()
    _extra: ClassVar[dict[str, Any]] = {}
    # groups that only a splitter of folds asks for are not asked of fit()
    __metadata_request__fit: ClassVar[dict[str, Any]] = {"groups": False}

    def __init_subclass__(
        cls, *, function: Callable[..., Any] | None = None, **kwargs: Any
    ) -> None:
        if function is not None:
            defaults = _defaults_of(function, cls._left_out, cls._extra)
            cls._function = staticmethod(function)
            cls.__init__ = _constructor_with(cls.__name__, defaults)  # type: ignore[method-assign]
            importances = (inspect.getdoc(cls.feature_importances_) or "").partition("\n")[0]
            cls.__doc__ = _documented(
                cls.__doc__ or "", function, defaults, cls._own_attributes, importances
            )
        super().__init_subclass__(**kwargs)

    # Fit
    @documented
    def fit(self: Same, X: Any, y: Any, sample_weight: Any = None, *, groups: Any = None) -> Same:
        """Fit to the rows of X and y.

        Parameters
        ----------
        {X, y, sample_weight}
        {groups_of_rows}

        Returns
        -------
        self

        Raises
        ------
        InputError
            If an option or a column is invalid.  The message names it and says what to use.
        """
        return self._fitted(self._training_table(X, y, sample_weight, groups))

    def _fitted(self: Same, rows: TrainingTable) -> Same:
        """Return the estimator, fitted to these rows."""
        with named_as_here():
            self.results_ = self._grown(rows)
        return self

    @named_as_here()
    def _training_table(
        self, X: Any, y: Any, sample_weight: Any, groups: Any = None, fitting: bool = True
    ) -> TrainingTable:
        """Return predictors and response, the latter in a formula, weights and groups."""
        frame = predictors_of(self, X, fitting=fitting)
        table, response = self._with_response(frame, y, fitting)
        weights = weights_of(sample_weight, frame, some_positive=fitting)
        groups = self._groups_of(groups, frame)
        if weights is not None and (weights == 0).any() and (weights != 0).any():
            groups = None if groups is None else groups[weights != 0]
            table, weights = table[weights != 0], weights[weights != 0]
        if fitting and self._kind == "classification" and table.iloc[:, -1].nunique() < 2:
            counted = "rows" if sample_weight is None else "rows of positive weight"
            raise InputError(
                f"y has one class in all {counted}: a classifier needs two classes or more"
            )
        return TrainingTable(table, response, weights, groups)

    def _groups_of(self, groups: Any, frame: pd.DataFrame) -> NDArray[Any] | None:
        """Return the group of each row (n,), of `fit`; raise `InputError` if an option has one."""
        if groups is None:
            return None
        if self.groups is not None:
            raise InputError(
                f"groups={self.groups!r} is set as an option, and fit() has groups, too: leave one "
                "of them out"
            )
        return row_labels("groups", np.asarray(groups), frame).to_numpy()

    def _with_response(
        self, frame: pd.DataFrame, y: Any, fitting: bool
    ) -> tuple[pd.DataFrame, str]:
        """Return the frame with y as its last column, and the left side of the formula."""
        response = self._response(y, len(frame), fitting)
        name = response_name(y, frame.columns) if fitting else self.results_.design.response.name
        values = response.array if isinstance(response, pd.Series) else response
        return with_columns(frame, {name: values}), quoted(name)

    def _response(self, y: Any, n: int, fitting: bool) -> Any:
        raise NotImplementedError

    def _options(self) -> dict[str, Any]:
        """Return the options of the function, as they are set."""
        known = inspect.signature(self._function).parameters
        options = {name: value for name, value in self.get_params().items() if name in known}
        for name in ASIDE:
            if options.get(name) is not None and not isinstance(options[name], str):
                raise InputError(
                    f"{name}= must be the name of a column of X, which predict() needs as well"
                )
        return {**options, **self._fixed(), "n_jobs": threads_for(self.n_jobs)}

    def _fixed(self) -> dict[str, Any]:
        """Return the arguments of the function that the class decides."""
        return {"kind": self._kind}

    def _seed(self) -> Any:
        """Return `random_state` as a seed: a number drawn from it, if it is a RandomState."""
        state = self.random_state
        return state.randint(2**31) if isinstance(state, np.random.RandomState) else state

    def _grown(self, rows: TrainingTable) -> Any:
        options = {**self._options(), **rows.options}
        return self._function(f"{rows.response} ~ .", rows.table, **options, seed=self._seed())

    def _asked(self, X: Any, **how: Any) -> pd.Series | pd.DataFrame:
        """Return what the result predicts of the rows of X."""
        results, frame = self._predicting(X)
        with named_as_here():
            predicted = results.predict(frame, **how)
        self._require_predicted(predicted)
        return predicted

    def _predicting(self, X: Any) -> tuple[Any, pd.DataFrame]:
        """Return the results, with the threads of now, and the rows of X."""
        check_is_fitted(self)
        frame = predictors_of(self, X, fitting=False)
        return with_threads(self.results_, threads_for(self.n_jobs)), frame

    def _require_predicted(self, predicted: Any) -> None:
        """Raise `InputError` if rows of missing values have no prediction."""
        if self.missing == "drop" and bool(np.asarray(pd.isna(predicted)).any()):
            raise InputError(
                'X has rows with missing values, which missing="drop" does not predict: use '
                'missing="split", or leave these rows out'
            )

    if not TYPE_CHECKING:  # no name that mypy does not know

        def __getattr__(self, name: str) -> Any:
            refused_again(self, name)
            results = vars(self).get("results_")
            said = "" if results is None or name.startswith("_") else _of_results(name, results)
            if said:
                raise AbsentError(f"{type(self).__name__} has no {name!r}{said}")
            message = f"{type(self).__name__!r} object has no attribute {name!r}"
            raise AttributeError(message, name=name, obj=self)

    # Pickles keep results as they are.  A file of skops keeps them as `save` writes them.

    def __reduce_ex__(self, protocol: Any) -> tuple[Any, ...]:
        return copyreg.__newobj__, (type(self),), super().__getstate__()  # type: ignore[attr-defined]

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "results_" in state:
            state["results_"] = SavedResults(state["results_"])
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        kept = state.get("results_")
        if isinstance(kept, SavedResults):
            state = {**state, "results_": kept.results()}
        super().__setstate__(state)

    # Importance
    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column of X, as shares of their sum."""
        raise NotImplementedError

    def _keeps_empty_cells(self) -> bool:
        return self.missing in KEEPING

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.input_tags.allow_nan = self._keeps_empty_cells()
        return tags

    def _more_tags(self) -> dict[str, Any]:  # scikit-learn 1.5
        return {"allow_nan": self._keeps_empty_cells()}


# The nodes that rows pass on their way to the leaves, as scikit-learn shows them.


def passed_nodes(forest: Forest, leaves: NDArray[np.int64]) -> csr_matrix:
    """Return which of the m nodes of all trees each row passes, (n, m) with ones.

    Parameters
    ----------
    forest : Forest
    leaves : (n, B) int64
        The number of each row's leaf within each tree.
    """
    n, above = len(leaves), forest.parents()
    nodes = (leaves + forest.root[:-1]).ravel()
    rows = np.repeat(np.arange(n), forest.n_trees)
    passed = [(rows, nodes)]
    while len(nodes):
        nodes = above[nodes]
        rows, nodes = rows[nodes >= 0], nodes[nodes >= 0]
        passed.append((rows, nodes))
    at = tuple(np.concatenate(part) for part in zip(*passed, strict=True))
    ones = np.ones(len(at[0]), dtype=np.int64)
    return csr_matrix((ones, at), shape=(n, forest.n_nodes))


# What estimators have whose results are trees of one kind: leaves, paths, and their impurity.


class TreeEstimator(FunctionEstimator):
    """Base class of estimators with trees of one kind."""

    # The trees
    def apply(self, X: Any) -> NDArray[np.int64]:
        """Return the leaf that each row reaches.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        (n,) or (n, B) int64
            The number of the leaf within its tree: for one tree, or for each of B trees.
        """
        return self._asked(X, type="leaf").to_numpy(dtype=np.int64)

    def decision_path(self, X: Any) -> csr_matrix | tuple[csr_matrix, NDArray[np.int64]]:
        """Return the nodes that each row passes.

        Parameters
        ----------
        X : data frame or array-like of shape (n, p)

        Returns
        -------
        csr_matrix of shape (n, m)
            1 for the nodes on the row's way, from the root to its leaf.  Of several trees a pair:
            this matrix for the nodes of all trees one after the other, and an array (B + 1,) that
            says where the nodes of each tree begin.
        """
        leaves = self.apply(X)
        forest = self.results_.forest
        path = passed_nodes(forest, leaves.reshape(len(leaves), -1))
        return path if leaves.ndim == 1 else (path, forest.root)

    # Importance
    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Impurity decrease of each column of X, as shares of their sum.

        The rows that chose the splits also evaluate them, so that columns with many values seem
        more important than they are.  ``results_.importance()`` has importances by other rows.
        """
        check_is_fitted(self)
        shares = self.results_.importance("impurity")["share"]
        return shares.reindex(feature_names(self), fill_value=0.0).to_numpy(dtype=np.float64)


# Estimators that go on from an earlier fit: by more trees, or by more rows.

Continued = TypeVar("Continued", bound="Updating")

# Options that may change between fits with warm_start=True.
FREE = ("n_trees", "n_jobs", "backend", "progress")


class Growing(TreeEstimator):
    """Base class of estimators whose fit can have more trees: with ``warm_start=True``."""

    _extra: ClassVar[dict[str, Any]] = {"warm_start": False}
    _last_fit: Any

    def _grown(self, rows: TrainingTable) -> Any:
        if not self.warm_start:
            self._last_fit = None
            return super()._grown(rows)
        options = {key: value for key, value in self._options().items() if key not in FREE}
        options["random_state"] = self.random_state
        same = joblib.hash(tuple(rows))
        last = getattr(self, "_last_fit", None)
        if last is None or not hasattr(self, "results_"):
            grown = super()._grown(rows)
        elif last[:2] == (options, same):
            grown = self._with_more(last[2])
        else:
            raise InputError(
                "warm_start=True adds trees to those of the fit before, which was to other rows "
                "or with other options: set warm_start=False for a new fit"
            )
        # only now: after an error, or Ctrl-C, the fit before is still the last one
        self._last_fit = (options, same, self._trees_asked())
        return grown

    def _trees_asked(self) -> Any:
        """Return `n_trees`, or how many trees a forest has by default."""
        if self.n_trees is None and hasattr(self, "inference"):
            return trees_by_default(self.inference)
        return self.n_trees

    def _with_more(self, before: int) -> Any:
        """Return the results with as many trees as `n_trees` has more than `before`."""
        n_trees = checked_whole("n_trees", self._trees_asked(), 1, MOST)
        more = n_trees - before
        if more < 0:
            raise InputError(
                f"n_trees={n_trees}: with warm_start=True it cannot be below the {before} "
                "trees of the fit before; set warm_start=False for a new fit"
            )
        if not more:
            return self.results_
        backend = checked_choice("backend", getattr(self, "backend", AUTO), BACKENDS)
        n_jobs = threads_for(self.n_jobs)
        with grown_by(backend, n_jobs):
            return self.results_.grow(more, n_jobs=n_jobs, progress=self.progress)


def _can_be_updated(estimator: Any) -> bool:
    """Return whether the trees of an estimator take more rows, which trees of lines do not."""
    return getattr(estimator, "leaves", "constant") == "constant"


class Updating(TreeEstimator):
    """Base class of estimators whose fit can have more rows: by ``partial_fit``."""

    # Fit
    @available_if(_can_be_updated)
    @documented
    def partial_fit(self: Continued, X: Any, y: Any, sample_weight: Any = None) -> Continued:
        """Add rows to the fit, from which its trees continue to grow; the first call is `fit`.

        All rows are kept, so that the result is that of ``results_.update()``: the trees take new
        rows into account nearly as if they had been there from the start.  Options are those of the
        first call; of what is set later, only `n_jobs` and `progress` count.

        Parameters
        ----------
        {X, y, sample_weight}

        Returns
        -------
        self

        Raises
        ------
        InputError
            If a column or a weight is invalid.  The message names it and says what to use.
        """
        if not hasattr(self, "results_"):
            return self.fit(X, y, sample_weight)
        self._last_fit: Any = None  # with warm_start=True the next fit() begins anew
        rows = self._training_table(X, y, sample_weight, fitting=False)
        each = np.ones(len(rows.table)) if rows.weights is None else rows.weights
        with named_as_here():
            self.results_ = self.results_.update(
                rows.table, weights=each, n_jobs=threads_for(self.n_jobs), progress=self.progress
            )
        return self


# Boosted estimators, which stop early by validation rows and predict after each round.

Boosting = TypeVar("Boosting", bound="BoostedEstimator")


class BoostedEstimator(Growing):
    """Base class of estimators with boosted trees."""

    # Fit
    @documented
    def fit(
        self: Boosting,
        X: Any,
        y: Any,
        sample_weight: Any = None,
        *,
        eval_set: Any = None,
        groups: Any = None,
    ) -> Boosting:
        """Fit to the rows of X and y.

        Parameters
        ----------
        {X, y, sample_weight}
        eval_set : pair of arrays, optional
            The pair (X, y) of further rows, or a list with one such pair: validation rows, on which
            boosting stops early.  The rounds up to the smallest loss on them are kept; the option
            `patience` says how many rounds to wait for a smaller one.  Without such rows the option
            `validation` can hold out a share of X.
        {groups_of_rows}

        Returns
        -------
        self

        Raises
        ------
        InputError
            If an option or a column is invalid.  The message names it and says what to use.
        """
        rows = self._training_table(X, y, sample_weight, groups)
        return self._fitted(rows if eval_set is None else self._with_validation(rows, eval_set))

    def _with_validation(self, rows: TrainingTable, eval_set: Any) -> TrainingTable:
        """Return the training rows, and below them those of `eval_set`, which are held out."""
        X, y = pair_of(eval_set)
        if self.validation is None or not is_word(self.validation, AUTO):
            raise InputError(
                f"validation={self.validation!r} is set as an option, and fit() has eval_set, the "
                "validation rows: leave one of them out"
            )
        if rows.groups is not None:
            raise InputError(
                "groups of fit() are not those of the rows of eval_set: name a column of X by the "
                "option groups="
            )
        frame = predictors_of(self, X, fitting=False)
        names = rows.table.columns[frame.shape[1] :]
        further = with_columns(
            frame, dict(zip(names, self._columns_of(y, len(frame)), strict=True))
        )
        return rows.with_validation(further)

    def _columns_of(self, y: Any, n: int) -> list[Any]:
        """Return the columns of the responses (n,) of validation rows."""
        return [np.asarray(self._response(y, n, fitting=False))]

    def _staged(self, X: Any) -> Iterator[NDArray[np.float64]]:
        """Yield the means (n, 1), or probabilities (n, K), of the rows of X after each round."""
        results, frame = self._predicting(X)
        rows = results._rows(frame, None, "response")
        for value in results._means_by_round(rows, frame, None):
            self._require_predicted(value)
            yield value


# What estimators have whose results are a stack of several models.


class StackedEstimator(FunctionEstimator):
    """Base class of estimators with several models: no leaves, and nothing to go on from."""

    # Importance
    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column of X by validation rows, as shares of their sum.

        It is the weighted mean of what the models say, except smoothers, as in
        ``results_.importance()``; there an importance can be below 0, here it is then 0.  It is
        computed when it is first asked for.
        """
        check_is_fitted(self)
        shares = self.results_.importance()["share"].clip(lower=0.0)
        return shares.reindex(feature_names(self), fill_value=0.0).to_numpy(dtype=np.float64)
