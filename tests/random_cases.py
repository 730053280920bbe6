"""A random harness: tables × formulas × options × every method of every result.

Each seed is a case.  Its outcome must be a valid fit, all of whose methods answer or say why not,
or an `InputError`.  Anything else is unexplained, and printed with its seed:

    python tests/random_cases.py --moderate 5000 --extreme 2000 --seed 0
    python tests/random_cases.py --extreme 1 --seed 17 --show
"""

from __future__ import annotations

import argparse
import faulthandler
import inspect
import signal
import sys
import tempfile
import time
import traceback
import warnings
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np
import pandas as pd

import odrf
from odrf.design.formulas.spelling import quoted
from odrf.errors import InputError
from random_tables import random_columns, random_new_rows, random_response, random_weights

__all__ = ["Case", "random_case", "unexplained"]

Rng = np.random.Generator
# A call that takes longer is too long, unless code was compiled; one that takes LONGEST is ended.
SECONDS, LONGEST = 20, 300
SLOW = f"it takes more than {SECONDS} seconds"
RESPONSE = "what is predicted"

# Some values of each option; those that suit no function or response are refused.
FAMILIES = [
    *("axis", "cca", "logistic", "least_squares", "lda", "pca", "pda", "ppr", "ridge", "extra"),
    *("rc", "rotation", "sparse", "sphere", {"axis": 0.5, "sparse": 0.5}),
]
OF_ALL: dict[str, list[Any]] = {
    "class_weights": ["balanced"], "missing": ["drop"], "kind": ["classification", "regression"],
}  # fmt: skip
OF_SPLITS: dict[str, list[Any]] = {
    "projection": FAMILIES, "subset_size": [1, 2], "n_projections": [1, 4], "n_singles": [1, 2],
    "n_thresholds": [1, 3, "all"], "split_search": ["exact"], "min_leaf": [1, 3, 100],
    "max_depth": [1, 3],
}  # fmt: skip
OF_TREES: dict[str, list[Any]] = {
    "max_leaves": [1, 2, 5], "alpha": [0.0, 0.01, 1.0], "pruning": ["growth"], "honest": [True],
    "criterion": ["gini", "entropy", "ordinal", "squared_error"], "penalty": ["aic", "bic"],
}  # fmt: skip
OPTIONS: dict[str, dict[str, list[Any]]] = {
    "odt": OF_ALL | OF_SPLITS | OF_TREES | {
        "alpha": [0.0, 0.01, "cv", "1se"], "max_leaves": [1, 2, 5, "sqrt"],
    },
    "odrf": OF_ALL | OF_SPLITS | OF_TREES | {
        "n_trees": [1, 2, 12], "resample": ["none", "bootstrap", "subsample"], "blend": [True],
        "sample_fraction": [0.2, 1.0], "alpha": [0.01, "oob"],
    },
    "odbt": OF_ALL | OF_SPLITS | {
        "loss": ["absolute", "huber", "poisson", "squared_error", "logistic", "multinomial"],
        "n_trees": [1, 7], "learning_rate": [0.5, 1.0], "leaf_values": ["refit"], "l2": [0.0, 1e9],
        "sample_fraction": [0.4], "predictor_fraction": [0.5], "n_runs": [2, 3],
        "run_predictors": [0.5], "validation": ["oob", 0.3], "patience": [1],
    },
    "graf": OF_ALL | {
        "n_trees": [1, 6], "subspace": ["all", "half", "log2", 1], "trials": [1, 3],
        "min_split": [2, 5, 50], "origin": ["region"], "batched": [True, False],
    },
}  # fmt: skip
TREES = {"odt": {}, "odrf": {"n_trees": 5}, "odbt": {"n_trees": 4}, "graf": {"n_trees": 3}}


@dataclass(frozen=True)
class Case:
    """What one seed stands for: a call of a function, and rows to predict afterwards."""

    seed: int
    extreme: bool
    function: str
    formula: str
    data: pd.DataFrame = field(repr=False)
    new: pd.DataFrame = field(repr=False)
    options: dict[str, Any]

    def fit(self) -> Any:
        """Call the function."""
        return getattr(odrf, self.function)(self.formula, self.data, **self.options)


def random_case(seed: int, extreme: bool) -> Case:
    """Return the case of a seed, among the moderate or the extreme ones."""
    rng = np.random.default_rng([seed, int(extreme)])
    data = random_columns(rng, extreme)
    new = random_new_rows(rng, data)
    formula = f"{quoted(RESPONSE)} ~ {_right_side(rng, list(data.columns))}"
    weights = random_weights(rng, len(data), extreme)
    data[RESPONSE] = random_response(rng, len(data), extreme)
    if rng.random() < 0.3:
        data.index = pd.Index([f"row {k}" for k in range(len(data))])
    function = str(rng.choice(list(OPTIONS)))
    options = {**TREES[function], **_random_options(rng, OPTIONS[function])}
    if data.isna().to_numpy().any() and rng.random() < 0.8:
        options["missing"] = "drop"
    if "class_weights" in options and data[RESPONSE].dtype == np.float64:
        del options["class_weights"]
    if weights is not None:
        options["weights"] = weights
    return Case(seed, extreme, function, formula, data, new, {**options, "seed": seed, "n_jobs": 1})


def _random_options(rng: Rng, options: dict[str, list[Any]]) -> dict[str, Any]:
    names = [str(name) for name in rng.permutation(list(options))[: rng.integers(6)]]
    return {name: options[name][rng.integers(len(options[name]))] for name in names}


def _right_side(rng: Rng, columns: list[str]) -> str:
    names = [quoted(name) for name in columns]
    one, other = (names[k] for k in rng.integers(len(names), size=2))
    some = names[: 1 + int(rng.integers(len(names)))]
    written = [
        ".", ".", ".", " + ".join(some), f". - {one}", f"{one} + {other}", f"{one}:{other} + {one}",
        f"{one} * {other}", f"({' + '.join(some[:3])})^2", f". + np.log(np.abs({one}) + 1)",
        f". + I({one} ** 2)", f"factor({one}) + {other}", f"bs({one}, df=4) + .",
        f"poly({one}, 2) + {other}", f"center({one}) + standardize({other})",
        f". - {one} - {other}",
    ]  # fmt: skip
    return str(written[rng.integers(len(written))])


@contextmanager
def _limits() -> Iterator[None]:
    """Raise an error where a call takes too long or warns of more than users should know."""

    def stop(*_: object) -> None:
        raise TimeoutError(f"it runs for more than {LONGEST} seconds")

    before = signal.signal(signal.SIGALRM, stop)
    signal.alarm(LONGEST)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.filterwarnings("ignore", category=UserWarning)
            warnings.filterwarnings("ignore", ".* is an old spelling and will go", FutureWarning)
            warnings.filterwarnings("error", "Attempting to set identical", UserWarning)
            yield
    finally:
        signal.alarm(0)
        signal.signal(signal.SIGALRM, before)


def _attempt(question: str, call: Callable[[], Any], found: list[str], show: bool) -> Any:
    """Return the answer, or None after a refusal; what is neither is added to `found`."""
    begin = time.perf_counter()
    try:
        with _limits():
            return call()
    except InputError as refusal:
        if len(str(refusal)) < 20:
            found.append(f"{question}: refused without words: {refusal}")
        elif show:
            print(f"    {question}: {refusal}")
    except Exception as error:
        last = traceback.extract_tb(error.__traceback__)[-1]
        place = f"{Path(last.filename).name}:{last.lineno}"
        found.append(f"{question}: {type(error).__name__} at {place}: {str(error)[:150]}")
        if show:
            traceback.print_exc()
    finally:
        if time.perf_counter() - begin > SECONDS:
            found.append(f"{question}: {SLOW}")
    return None


def unexplained(case: Case, everything: bool = False, show: bool = False) -> list[str] | None:
    """Return what is wrong with the outcome of a case; None if the fit is refused.

    Four methods drawn at random are asked beside those that every case asks, or `everything`.
    """
    found: list[str] = []
    fit = _attempt(case.function, case.fit, found, show)
    if fit is None:
        return found or None
    _check_predictions(case, fit, found, show)
    for question in (repr, lambda one: one._repr_html_(), lambda one: str(one.summary())):
        _attempt("shown", lambda question=question: question(fit), found, show)
    rng = np.random.default_rng([case.seed, 2])
    names = [name for name in dir(type(fit)) if not name.startswith("_") and name != "load"]
    asked = names if everything else rng.choice(names, 4, replace=False)
    with tempfile.TemporaryDirectory() as folder:
        for name in asked:
            given = _given(str(name), case, fit, rng, Path(folder) / "fit")
            answer = _attempt(
                _called(str(name), given),
                lambda name=str(name), given=given: _answer(fit, name, given),
                found,
                show,
            )
            _check_answer(str(name), answer, case, found, show, everything or rng.random() < 0.3)
    plt.close("all")
    return found


def _called(name: str, given: dict[str, Any]) -> str:
    words = [f"{k}={v!r}" if isinstance(v, str | int | float) else k for k, v in given.items()]
    return f"{name}({', '.join(words)})"


def _answer(fit: Any, name: str, given: dict[str, Any]) -> Any:
    answer = getattr(fit, name)
    return answer(**given) if callable(answer) else answer


def _given(name: str, case: Case, fit: Any, rng: Rng, path: Path) -> dict[str, Any]:
    """Return arguments of a method."""
    columns = list(fit.design.schema.columns)
    others: dict[str, list[dict[str, Any]]] = {
        "approximate": [{"fraction": 0.5}, {"fraction": 0.1, "method": "top"}],
        "combine": [{"other": fit}],
        "ale": [{"variables": name} for name in columns],
        "estimate_priors": [{"newdata": case.data}],
        "explain": [{"row": case.data.iloc[[0]]}],
        "grow": [{"k": 1}, {"k": 3}],
        "ice": [{"variable": name} for name in columns],
        "growth_path": [{}, {"newdata": case.data}, {"along": "depth"}],
        "importance": [{}, {"type": "impurity"}, {"type": "held_out"}, {"type": "permutation"}],
        "predict": [
            {"type": "prob"}, {"type": "class"}, {"type": "leaf"}, {"type": "trees"},
            {"type": "cumulative"}, {"training": "in-bag"}, {"training": "out-of-bag"},
            {"interval": "confidence"}, {"interval": "prediction", "level": 0.5},
            {"type": "quantile"}, {"type": "link"},
        ],
        "projection_importance": [{}, {"resamples": 3}],
        "prune": [
            {"alpha": 0.01}, {"rule": "min"}, {"rule": "1se"}, {"rule": "oob"}, {"leaves": 2},
        ],
        "partial": [{"variables": name} for name in columns],
        "pruning_path": [{}, {"pruning": "growth"}, {"newdata": case.data}, {"cv": 3}],
        "row_predictor": [{}, {"type": "prob"}],
        "save": [{"path": path}],
        "select_variables": [{}, {"method": "boruta", "rounds": 3}],
        "to_c": [{}, {"type": "prob"}],
        "to_python": [{}, {"type": "prob"}],
        "to_sql": [{"dialect": "duckdb"}, {"dialect": "sqlite", "type": "leaf"}],
        "tree": [{"i": 0}],
        "update": [
            {"newdata": case.data, "weights": np.ones(len(case.data))},
            {"newdata": case.data, "revise": 1},
        ],
    }  # fmt: skip
    given = others.get(name, [{}])
    return given[rng.integers(len(given))]


def _check_answer(
    name: str, answer: Any, case: Case, found: list[str], show: bool, drawn: bool
) -> None:
    """Look at a report or a fit as a user would."""
    if type(answer).__module__.startswith(("odrf.reports", "odrf.results")):
        for question in (repr, lambda one: one._repr_html_(), lambda one: str(one.summary())):
            _attempt(f"{name} shown", lambda question=question: question(answer), found, show)
        if drawn and hasattr(type(answer), "plot"):
            _attempt(f"{name} drawn", lambda: _drawn(answer), found, show)
    if type(answer).__module__.startswith("odrf.reports"):
        for part in dir(type(answer)):
            if _is_asked_alone(type(answer), part):
                _attempt(f"{name}.{part}", lambda part=part: _part(answer, part), found, show)
    if type(answer).__module__.startswith("odrf.results"):
        _check_predictions(case, answer, found, show)


def _is_asked_alone(kind: type, part: str) -> bool:
    """Return whether a member of a report is public, needs no argument and draws nothing."""
    if part.startswith("_") or part == "plot":
        return False
    member = inspect.getattr_static(kind, part)
    if not inspect.isfunction(member):
        return True
    arguments = list(inspect.signature(member).parameters.values())[1:]
    return all(one.default is not one.empty for one in arguments)


def _part(answer: Any, part: str) -> None:
    value = getattr(answer, part)
    repr(value() if callable(value) else value)


def _drawn(answer: Any) -> None:
    answer.plot()
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")


def _check_predictions(case: Case, fit: Any, found: list[str], show: bool) -> None:
    """Predict, check the values, and compare with those of the fit saved and loaded."""
    rows = _attempt("predict new", lambda: fit.predict(case.new), found, show)
    in_bag = _attempt("predict", lambda: fit.predict(training="in-bag"), found, show)
    for words, values, index in (
        ("new", rows, case.new.index), ("training", in_bag, fit.fit.data.index),
    ):  # fmt: skip
        if values is not None and not (len(values) == len(index) and (values.index == index).all()):
            found.append(f"predictions of {words} rows: another index")
    if in_bag is not None and in_bag.isna().any():
        found.append("predictions of training rows: some are missing")
    if fit.kind == "regression" and in_bag is not None and not np.isfinite(in_bag).all():
        found.append("predictions of training rows: some are not finite")
    if fit.kind == "classification":
        prob = _attempt("prob", lambda: fit.predict(type="prob", training="in-bag"), found, show)
        if prob is not None:
            _check_probabilities(prob, found)
    limit = getattr(fit.control, "max_leaves", None)
    if limit is not None and np.max(fit.n_leaves) > limit:
        found.append(f"{np.max(fit.n_leaves)} leaves, max_leaves={limit}")
    if rows is not None:
        again = _attempt("saved and loaded", lambda: _reloaded(fit).predict(case.new), found, show)
        if again is not None and not again.equals(rows):
            found.append("saved and loaded: other predictions")
        alone = _attempt("predict one", lambda: fit.predict(case.new[:1]), found, show)
        if alone is not None and not alone.astype(object).equals(rows[:1].astype(object)):
            found.append(f"a row alone: {alone.iloc[0]!r}, among others: {rows.iloc[0]!r}")


def _check_probabilities(prob: pd.DataFrame, found: list[str]) -> None:
    values = prob.to_numpy()
    if not ((values >= 0).all() and np.allclose(values.sum(axis=1), 1, atol=1e-6)):
        found.append("probabilities that are negative or do not add up to 1")


def _reloaded(fit: Any) -> Any:
    with tempfile.TemporaryDirectory() as folder:
        fit.save(Path(folder) / "fit")
        return odrf.load(Path(folder) / "fit")


def run(kind: str, seeds: range, everything: bool, show: bool) -> int:
    """Run the cases of these seeds, and print what is unexplained; return how many have any."""
    bad, outcomes = 0, Counter[str]()
    for seed in seeds:
        print(
            f"\r{kind} {seed}", end="", file=sys.stderr, flush=True
        )  # the last one, after a crash
        case = random_case(seed, kind == "extreme")
        if show:
            print(case, case.data.dtypes, case.data.head(), sep="\n")
        found = unexplained(case, everything, show)
        if found and any(SLOW in words for words in found):
            found = unexplained(case, everything, show)  # what was compiled is compiled now
        outcomes["refused" if found is None else "unexplained" if found else "fits"] += 1
        for words in found or ():
            print(f"{kind} {seed} [{case.function}] {words}", flush=True)
        bad += bool(found)
    print(f"{kind} cases {seeds}: {dict(outcomes)}", flush=True)
    return bad


if __name__ == "__main__":
    faulthandler.enable()
    reader = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    reader.add_argument("--moderate", type=int, default=0, help="how many moderate cases")
    reader.add_argument("--extreme", type=int, default=0, help="how many extreme cases")
    reader.add_argument("--seed", type=int, default=0, help="the first seed")
    reader.add_argument("--everything", action="store_true", help="ask every method of each fit")
    reader.add_argument("--show", action="store_true", help="show the tables and all refusals")
    asked = reader.parse_args()
    counts = {"moderate": asked.moderate, "extreme": asked.extreme}
    sys.exit(
        sum(
            run(kind, range(asked.seed, asked.seed + k), asked.everything, asked.show)
            for kind, k in counts.items()
        )
        > 0
    )
