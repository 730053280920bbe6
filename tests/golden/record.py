"""Writes down what each of the golden models says, bit by bit, and compares two such tables.

Run it before and after a change that is to change no fit::

    python tests/golden/record.py before.json
    python tests/golden/record.py after.json --against before.json

The hashes are those of one machine: another compiler may round in another way.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

sys.path.insert(0, str(Path(__file__).parents[1]))

from golden.models import (
    MODELS,
    SEED,
    numbers,
    ordered_classes,
    series,
    three_classes,
    two_classes,
)
from odrf import (
    approximation_curve,
    bias_variance,
    compare,
    graf,
    learning_curve,
    odrf,
    odt,
    simulate,
    tune,
)

ARRAYS = (
    "root", "left", "threshold", "start", "index", "coef", "value", "count", "weight", "impurity",
    "gain", "order",
)  # fmt: skip


def digest(values: Any) -> str:
    """Return a hash of numbers, text or tables of them, without the names of rows and columns."""
    return hashlib.sha256(b"".join(_bytes(values))).hexdigest()[:16]


def _bytes(values: Any) -> Iterator[bytes]:
    if isinstance(values, pd.DataFrame):
        for j in range(values.shape[1]):
            yield from _bytes(values.iloc[:, j])
    elif isinstance(values, pd.Series | pd.Index):
        yield from _bytes(values.to_numpy())
    elif isinstance(values, dict):
        for value in values.values():
            yield from _bytes(value)
    elif isinstance(values, list | tuple):
        for value in values:
            yield from _bytes(value)
    elif isinstance(values, np.ndarray) and values.dtype.kind in "iufb":
        yield np.ascontiguousarray(values).tobytes()
    elif isinstance(values, np.ndarray):
        for value in values.ravel():
            yield repr(value.item() if isinstance(value, np.generic) else value).encode()
    elif isinstance(values, float | int | np.generic):
        yield np.float64(values).tobytes()
    else:
        yield str(values).encode()


def of_fit(fit: Any) -> dict[str, str]:
    """Return a hash of each thing that a fit says: predictions, nodes, errors, tables, words."""
    said: dict[str, Callable[[], Any]] = {
        "predict": lambda: fit.predict(training="in-bag"),
        "fitted values": lambda: fit.fittedvalues,
        "nodes": lambda: [getattr(fit.forest, name) for name in ARRAYS],
        "leaf": lambda: fit.predict(type="leaf"),
        "importance": fit.importance,
        "consistency": lambda: fit.consistency().evidence,
    }
    if fit.classes is not None:
        said["prob"] = lambda: fit.predict(type="prob", training="in-bag")
    for name in (
        "training_error", "oob_error", "oob_prediction", "r_squared", "confusion_matrix",
        "mean_rank_error", "error_path", "loss_path", "kinds", "changes", "rules", "splits",
        "staged_predict", "growth",
    ):  # fmt: skip
        if hasattr(type(fit), name):
            said[name] = partial(_got, fit, name)
    if type(fit).__name__ == "ODRFResults":
        said["permutation"] = lambda: fit.importance("permutation")
        if fit.kind == "regression":
            said["prediction interval"] = lambda: fit.predict(interval="prediction", level=0.5)
            said["quantiles"] = lambda: fit.predict(type="quantile")
    if type(fit).__name__ in ("ODRFResults", "ODTResults"):
        said["growth path"] = lambda: fit.growth_path().table
        said["pruning path"] = lambda: fit.pruning_path().table
    if type(fit).__name__ == "GRAFResults":
        said["sensitivity"] = lambda: fit.sensitivity().table
        said["planes"] = lambda: fit.planes(1)
        said["codes"] = lambda: fit.codes(1)
    said["summary"] = lambda: fit.summary().as_text()
    said["card"] = lambda: repr(fit)
    return {name: _answer(of) for name, of in said.items()}


def _got(fit: Any, name: str) -> Any:
    value = getattr(fit, name)
    return value() if callable(value) else value


def _answer(of: Callable[[], Any]) -> str:
    """Return the hash of what a function returns; where it refuses, whatever it says, that."""
    try:
        return digest(of())
    except ValueError:
        return "refused"


def _selected(method: str) -> Any:
    forest = odrf("mpg ~ . - w", numbers(), n_trees=6, seed=SEED)
    options = {"rounds": 3} if method == "boruta" else {}
    return forest.select_variables(method, **options).table


STUDIES: dict[str, Callable[[], Any]] = {
    "projection importance": lambda: odrf(
        "diagnosis ~ .", two_classes(), projection="sparse", n_trees=6, seed=SEED
    ).projection_importance(resamples=2).table,
    "pixel importance": lambda: odt(
        "y ~ .", series(), projection="patch", seed=SEED
    ).pixel_importance((1, 100)).table,
    "backward elimination": lambda: _selected("backward"),
    "shadows": lambda: _selected("boruta"),
    "strength by trees": lambda: odrf(
        "diagnosis ~ .", two_classes(), n_trees=6, seed=SEED
    ).strength_correlation().table,
    "strength by subsets": lambda: odrf(
        "mpg ~ . - w", numbers(), n_trees=6, seed=SEED
    ).strength_correlation([1, 3]).table,
    "priors": lambda: odrf(
        "diagnosis ~ .", two_classes()[::2], n_trees=6, seed=SEED
    ).estimate_priors(two_classes()[1::2]),
    "confidence interval": lambda: odrf(
        "mpg ~ . - w", numbers(), n_trees=400, blend=False, min_leaf=20, seed=SEED,
        resample="subsample",
    ).predict(interval="confidence"),
    "row predictor": lambda: [
        odrf("mpg ~ . - w", numbers(), n_trees=6, seed=SEED).row_predictor()(row)
        for row in numbers().head(5).drop(columns="mpg").to_dict("records")
    ],
    "compare": lambda: compare(
        "mpg ~ . - w", numbers(), {"tree": odt, "forest": _small}, cv=3, seed=SEED
    ).scores,
    "tune": lambda: tune(
        "mpg ~ . - w", numbers(), {"min_leaf": [1, 9]}, n_trees=6, seed=SEED
    ).table,
    "learning curve": lambda: learning_curve(
        "mpg ~ . - w", numbers(), {"tree": odt}, seed=SEED
    ).table,
    "bias and variance": lambda: bias_variance(
        simulate.friedman1(), odt, 60, repeats=3, test_rows=50, seed=SEED
    ).table,
    "bias and variance of classes": lambda: bias_variance(
        ("level ~ .", ordered_classes()), odt, 60, repeats=3, seed=SEED
    ).table,
    "approximation": lambda: approximation_curve(
        graf("diagnosis ~ .", two_classes()[::2], n_trees=6, seed=SEED), two_classes()[1::2],
        {"tree": odt}, fractions=[0.3, 1], repeats=2, seed=SEED,
    ).table,
    "problems": lambda: [
        getattr(simulate, name)().sample(20, seed=SEED).select_dtypes("number")
        for name in sorted(simulate.__all__) if name.islower() and name not in ("digits",)
        and callable(getattr(simulate, name))
    ],
    "missing dropped": lambda: three_classes().isna().sum(),
}  # fmt: skip


def _small(formula: str, data: pd.DataFrame, seed: int) -> Any:
    return odrf(formula, data, n_trees=5, seed=seed)


def recorded() -> dict[str, dict[str, str]]:
    """Return the golden table: for each model and study the hashes of what it says."""
    table = {}
    for name, make in MODELS.items():
        print(name, file=sys.stderr)
        table[name] = of_fit(make())
    for name, study in STUDIES.items():
        print(name, file=sys.stderr)
        table[name] = {"table": digest(study())}
    return table


def differences(now: dict[str, Any], before: dict[str, Any]) -> list[str]:
    """Name each thing that is said otherwise than before."""
    return [
        f"{model}: {thing}"
        for model in {**before, **now}
        for thing in {**before.get(model, {}), **now.get(model, {})}
        if before.get(model, {}).get(thing) != now.get(model, {}).get(thing)
    ]


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("out", type=Path, help="where to write the table (json)")
    parser.add_argument("--against", type=Path, help="a table to compare with")
    options = parser.parse_args()
    table = recorded()
    options.out.write_text(json.dumps(table, indent=1), encoding="utf-8")
    if options.against is None:
        return 0
    found = differences(table, json.loads(options.against.read_text(encoding="utf-8")))
    print("\n".join(found) or f"all of {len(table)} rows are the same")
    return bool(found)


if __name__ == "__main__":
    sys.exit(main())
