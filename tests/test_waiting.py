"""Whoever waits sees what remains: public functions and methods take progress=, or are short.

`benchmarks/durations.py` times them, on 20,000 rows, 20 columns and 100 trees.
"""

from __future__ import annotations

import importlib
import inspect
import pkgutil

import odrf
from odrf.fits.prediction.row_predictor import RowPredictor
from odrf.text.card import Carded
from odrf.text.contents import Contents

# Why methods and functions of these names have no bar.  A method of a result has its entry by its
# name alone, if it is the same for all results; else with its class.
SHORT = {
    "they show what has been computed": [
        "as_html", "as_latex", "as_text", "best_size", "conf_int", "extrapolate", "overlap",
        "plot_image", "row", "selected", "summary_frame",
        *(
            f"{report}.{shows}"
            for report in (
                "ApproximationCurve", "BiasVariance", "Comparison", "ConsistencyReport",
                "Elimination", "ForestPath", "GrowthPath", "LearningCurve", "ProjectionImportance",
                "PruningPath", "Sensitivity", "ShadowSelection", "StrengthCorrelation", "Tuning",
            )
            for shows in ("plot", "summary")
        ),
        "DataSummary.summary", "PixelImportance.summary",
    ],
    "they take trees of those that there are": [
        "combine", "forest", "tree", "ForestPath.best", "PruningPath.best",
    ],
    "one pass over the trees or over the training rows": [
        "approximate", "codes", "consistency", "data_summary", "order", "pixel_importance",
        "planes", "rules", "sensitivity", "to_dot", "to_sklearn", "to_sql",
    ],
    "their time goes by in predictions, which predict(progress=) shows": [
        "estimate_priors", "staged_predict",
    ],
    "seconds for large forests; how much is to be written is not known before it is written": [
        "row_predictor", "to_c", "to_onnx", "to_python", "load",
    ],
    "they read files": ["from_images", "load_data"],
}  # fmt: skip


def classes():
    for module in pkgutil.walk_packages(odrf.__path__, "odrf."):
        if module.name.split(".")[1] in ("results", "reports", "evaluation", "exports", "text"):
            importlib.import_module(module.name)
    waiting, found = [Carded, Contents], {RowPredictor}
    while waiting:
        for below in waiting.pop().__subclasses__():
            if below.__module__.startswith("odrf."):
                found.add(below)
                waiting.append(below)
    return sorted(found, key=lambda kind: kind.__name__)


def lacks_progress(made):
    return inspect.isfunction(made) and "progress" not in inspect.signature(made).parameters


def without_progress():
    """The names of functions and methods without progress=; classes before the dot."""
    for name in odrf.__all__:
        function = getattr(odrf, name)
        if (
            inspect.isfunction(function)
            and "progress" not in inspect.signature(function).parameters
        ):
            yield name
    for kind in classes():
        for name in dir(kind):
            method = inspect.getattr_static(kind, name)
            if name[0] != "_" and lacks_progress(method):
                yield f"{kind.__name__}.{name}"


def test_whoever_waits_sees_what_remains():
    short = {name for names in SHORT.values() for name in names}
    found = set(without_progress())
    unexplained = {
        name for name in found if name not in short and name.partition(".")[2] not in short
    }
    assert not unexplained, "take progress=, or say why they are short"


def test_the_list_names_nothing_else():
    found = set(without_progress())
    known = found | {name.partition(".")[2] for name in found}
    assert not {name for names in SHORT.values() for name in names} - known
