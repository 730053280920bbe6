"""Every public function and method, with its arguments, as users can call it."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
from collections.abc import Callable, Iterator
from typing import Any

import odrf
from odrf import simulate

__all__ = ["CLASSES", "PREDICTS", "callables"]

# The packages whose classes users meet, as results of what they call.
SEEN = ("odrf.results", "odrf.reports", "odrf.evaluation", "odrf.simulate")
# Classes in these packages that no function hands to users.
INSIDE = {
    "BestModel", "Estimator", "Experiment", "Function", "EvaluatedRows", "Known", "LogNormalLaw",
    "Metric", "PowerLaw", "ResultsType", "RowSplit", "SampleSource", "SampledBlocks",
    "Scoring", "Simulated", "Split", "Task", "View", "WeibullLaw",
}  # fmt: skip


def _classes() -> Iterator[type]:
    for package in SEEN:
        folder = importlib.import_module(package)
        for found in pkgutil.walk_packages(folder.__path__, f"{package}."):
            module = importlib.import_module(found.name)
            for name, value in vars(module).items():
                here = inspect.isclass(value) and value.__module__ == found.name
                if here and not name.startswith("_") and name not in INSIDE:
                    yield value


CLASSES = sorted(_classes(), key=lambda found: found.__name__)


# The methods `predict` of what functions return, not of base classes.
PREDICTS = [
    f"{name}.predict"
    for name in (
        *("ODTResults", "ODRFResults", "GRAFResults", "ODBTResults", "AutoResults"),
        *("StreamedResults", "SurvivalTreeResults", "SurvivalForestResults"),
        *("SurvivalBoostedResults", "EstimandResults", "CalibratedFit"),
    )
]


def callables() -> dict[str, Callable[..., Any]]:
    """Return the public functions, and the public methods by ``Class.method``."""
    found = {
        name: getattr(module, name)
        for module in (odrf, simulate)
        for name in module.__all__
        if inspect.isfunction(getattr(module, name))
    }
    for one in CLASSES:
        for name, method in inspect.getmembers(one, inspect.isfunction):
            if not name.startswith("_"):
                found[f"{one.__name__}.{name}"] = method
    return found
