"""What results lack: by what their kind has not, or by what one fit has not."""

from __future__ import annotations

import inspect
from abc import ABCMeta
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any, Generic, NoReturn, TypeVar, overload

from odrf.errors import AbsentError, InputError, refused_again
from odrf.public.arguments import suggestion

Value = TypeVar("Value")

# What a kind of fits must have for its results to list the names.
LISTED: dict[str, tuple[str, ...]] = {
    "nodes": ("nodes", "rules", "to_dot", "to_sql"),
    "several trees": ("error_path", "kinds", "strength_correlation", "tree"),
    "splits": ("pixel_importance", "projection_importance", "splits"),
    "subtrees": ("growth_path", "prune", "pruning_path"),
    "surrogate splits": ("surrogates",),
    "one forest": ("forest",),
    "out-of-bag rows": ("oob_error", "oob_prediction", "oob_prob", "select_variables"),
    "a distribution": ("get_prediction", "predictive_check"),
    "neighbours": ("impute", "map", "outliers", "prototypes", "proximity"),
    "means of trees": ("row_predictor", "to_c", "to_onnx", "to_python"),
    "one sum of trees": ("shap", "shap_interactions"),
    "trees to imitate": ("surrogate",),
    "a theorem": ("consistency",),
    "trees to add": ("combine", "grow"),
    "rows to add": ("changes", "update"),
    "rows to leave out": ("without_data",),
    "rounds": ("staged_predict",),
    "an estimator": ("to_sklearn",),
    "one number": (
        *("ale", "comparisons", "explain", "fittedvalues", "ice", "interactions", "partial"),
        *("predictions", "r_squared", "resid", "slopes", "training_error"),
    ),
    "classes": (
        *("calibrate", "classes", "confusion_matrix", "discrimination", "estimate_priors"),
        "mean_rank_error",
    ),
    "curves": ("bands", "estimand", "oob_scores"),
}
NEED = {name: need for need, names in LISTED.items() for name in names}
GONE = {
    "drift_path": "compare predict(newdata) with the responses before each update(newdata)",
    **dict.fromkeys(
        ("compact", "compaction"),
        "use without_data() for a smaller fit, and save(data=False) for a smaller file",
    ),
}
"""What no fit has any more, with what to use instead."""


def why_absent(kind: type, name: str) -> str | None:
    """Return why a kind of results lacks `name`; None if nothing is known of the name.

    Its classes say it in `_lacks`, of the name itself, or of what the name needs.
    """
    for each in kind.__mro__:
        lacks: Mapping[str, str] = vars(each).get("_lacks", {})
        reason = lacks.get(name) or lacks.get(NEED.get(name, ""))
        if reason:
            return reason.format(name=name)
    return GONE.get(name)


class Absent:
    """In place of what a kind of results lacks: reading it raises `AbsentError`."""

    def __init__(self, name: str) -> None:
        self.name = name

    def __get__(self, result: object, kind: type) -> NoReturn:
        reason = why_absent(kind, self.name)
        raise AbsentError(f"{kind.__name__} has no {self.name!r}: {reason}")


def unknown_name(result: object, name: str) -> NoReturn:
    """Raise `AbsentError` for a name that no result has: the ``__getattr__`` of results.

    It says what the name of another package is here, or which name is spelled most alike.
    """
    kind = type(result)
    refused_again(result, name)
    if name.startswith("_"):
        raise AttributeError(f"{kind.__name__!r} object has no attribute {name!r}")
    listed = _listed(kind, name)
    if isinstance(listed, Absent):
        listed.__get__(result, kind)
    names = [each for each in there(result) if not each.startswith("_")]
    raise AbsentError(f"{kind.__name__} has no {name!r}{suggestion(name, names, of_fit=True)}")


class ResultsType(ABCMeta):
    """The type of classes of results: what they lack is not in `dir` and `help`."""

    def __dir__(cls) -> Iterable[str]:
        names = super().__dir__()
        return [name for name in names if not isinstance(_listed(cls, name), Absent)]


def put_absent(kind: type) -> None:
    """Put `Absent` for each name that a class does not list, or lacks by its own words."""
    own: Mapping[str, str] = vars(kind).get("_lacks", {})
    for name in (*NEED, *GONE):
        lacking = name in own or NEED.get(name) in own or _listed(kind, name) is None
        if lacking and name not in vars(kind):
            setattr(kind, name, Absent(name))


def _listed(kind: type, name: str) -> Any:
    return inspect.getattr_static(kind, name, None)


# What one fit has, and another of the same kind has not.


class Known(property, Generic[Value]):
    """A property that a fit has if it has what this needs; with `kept`, it is read once.

    Each of the `needs` is called with the result, and raises `InputError` if its fit lacks that.
    """

    def __init__(
        self, read: Callable[[Any], Value], needs: tuple[Callable[[Any], object], ...], kept: bool
    ) -> None:
        super().__init__(read)
        self.read, self.needs, self.kept, self.name = read, needs, kept, read.__name__

    def is_there(self, result: Any) -> bool:
        """Return whether the fit has it."""
        try:
            self._require(result)
        except AbsentError:
            return False
        return True

    def _require(self, result: Any) -> None:
        with _refused():
            for need in self.needs:
                need(result)

    if TYPE_CHECKING:

        @overload  # type: ignore[no-overload-impl]
        def __get__(self, result: None, kind: type | None = None) -> Known[Value]: ...
        @overload
        def __get__(self, result: Any, kind: type | None = None) -> Value: ...

    else:

        def __get__(self, result, kind=None):
            if result is None:
                return self
            known = vars(result)
            if self.kept and self.name in known:
                return known[self.name]
            self._require(result)
            with _refused():
                value = self.read(result)
            if self.kept:
                known[self.name] = value
            return value


def known(
    *needs: Callable[[Any], object], kept: bool = False
) -> Callable[[Callable[[Any], Value]], Known[Value]]:
    """Return the decorator of a property that a fit has if no one of the `needs` raises."""
    return lambda read: Known(read, needs, kept)


@contextmanager
def _refused() -> Iterator[None]:
    """Make an `AbsentError` of an `InputError`, for `hasattr` and `inspect.getmembers`."""
    try:
        yield
    except AbsentError:
        raise
    except InputError as error:
        raise AbsentError(*error.args).with_traceback(error.__traceback__) from None


def there(result: object) -> list[str]:
    """Return the names of what a result has: its `dir`."""
    kind = type(result)
    return [
        name
        for name in object.__dir__(result)
        if not isinstance(member := _listed(kind, name), Absent)
        and (not isinstance(member, Known) or member.is_there(result))
    ]


# What properties need of the fit of a result; each raises `InputError` if the fit lacks it.


def rows(result: Any) -> None:
    """Need the training rows."""
    result.fit.data  # noqa: B018 - without rows it raises


def numbers(result: Any) -> None:
    """Need a response of numbers."""
    if result.kind == "classification":
        raise InputError("r_squared needs a regression; for classes see confusion_matrix")


def classes(result: Any) -> None:
    """Need a response of classes."""
    if result.classes is None:
        raise InputError("confusion_matrix needs classes; for a regression see r_squared")


def ordered_classes(result: Any) -> None:
    """Need a response of ordered classes."""
    response = result.design.response
    if not response.ordered:
        raise InputError(
            f"mean_rank_error needs ordered classes, and those of {response.name!r} are not: make "
            "it an ordered categorical, with pandas.CategoricalDtype(…, ordered=True)"
        )


def scores(result: Any) -> None:
    """Need the predictions of training rows of which scores are computed."""
    result._require_scored()


def out_of_bag_rows(result: Any) -> None:
    """Need rows out of bag."""
    result._require_out_of_bag()
