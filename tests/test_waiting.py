"""Whoever waits sees what remains: public functions and methods take progress=, or are short.

`benchmarks/reliability/durations.py` times them, on 20,000 rows, 20 columns and 100 trees.
"""

from __future__ import annotations

import inspect
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import odrf
from odrf.exports.mean_prediction import PredictionResults
from odrf.fits.predicting import RowPredictor
from odrf.text.summary import Report, Summary
from signatures import callables

# Why methods and functions of these names have no bar.  A method of a result has its entry by its
# name alone, if it is the same for all results; else with its class.
SHORT = {
    "they show what has been computed": [
        "as_html", "as_latex", "as_text", "best_size", "conf_int", "extrapolate", "overlap",
        "facts", "plot_image", "row", "selected", "summary_frame", "to_shap",
        *(
            f"{report}.{shows}"
            for report in (
                "ApproximationCurve",
                "BiasVariance",
                "CalibratedFit",
                "Calibration",
                "Comparison",
                "Discrimination",
                "ConsistencyReport",
                "EffectCurve",
                "EffectSurface",
                "Effects",
                "Elimination",
                "ForestPath",
                "GrowthPath",
                "KnockoffSelection",
                "LearningCurve",
                "PredictiveCheck",
                "ProjectionImportance",
                "PruningPath",
                "RowMap",
                "Sensitivity",
                "ShadowSelection",
                "ShapleyValues",
                "StrengthCorrelation",
                "SurvivalCalibration", "SurvivalCurves", "SurvivalROC",
                "SurvivalBands",
                "Surrogate",
                "Tuning",
                "ApproximationCurve", "BiasVariance", "Comparison", "ConsistencyReport",
                "Elimination", "ErrorTable", "NestedPath", "ForestPath", "GrowthPath",
                "LearningCurve", "ProjectionImportance",
                "PruningPath", "Sensitivity", "ShadowSelection", "ShapleyValues",
                "ShapleyInteractions", "StrengthCorrelation", "Tuning",
            )
            for shows in ("plot", "summary")
        ),
        "DataSummary.summary",
        "EffectCurve.slopes",
        "Explanation.summary", "Report.summary", "TableReport.summary", "TheoremReport.summary",
        "PlainCurves.summary", "EffectReport.summary",
        "Foresight.summary",
        "HypothesisTests.summary",
        "DataSummary.summary", "EffectCurve.plot", "EffectCurve.slopes", "EffectCurve.summary",
        "EffectSurface.plot", "EffectSurface.summary", "Effects.plot", "Effects.summary",
        "HypothesisTests.summary", "Interactions.plot", "Interactions.summary",
        "PixelImportance.summary",
        "Proximity.nearest",
        "Proximity.summary",
        "Proximity.to_frame",
        "PairedComparison.summary",
        "HypothesisTests.summary", "IndividualCurves.plot", "IndividualCurves.summary",
        "Interactions.plot", "Interactions.summary", "PixelImportance.summary",
    ],
    "they take trees of those that there are": [
        "combine", "forest", "part", "tree", "without_data", "ForestPath.best", "NestedPath.best",
        "PruningPath.best",
    ],
    "a second or less for 20,000 rows": ["calibration", "discrimination", "roc"],
    "one prediction of the rows by each of two fits": ["compare_fits"],
    "a few thousand predictions": ["explain"],
    "one pass over the trees or over the training rows": [
        "impute", "map", "outliers", "prototypes",
        "proximity", "BesideFormula.left_out", "TimesToScore.frame", "TimesToScore.keeping",
        "approximate", "codes", "data_summary", "order", "pixel_importance",
        "estimand", "planes", "rules", "sensitivity", "to_dot", "to_sklearn", "to_sql",
    ],
    "one pass over the leaves": ["CurveConsistency.summary", "SurvivalTreeResults.plot"],
    "it puts columns together": ["Surv"],
    "their time goes by in predictions, which predict(progress=) shows": [
        "estimate_priors", "staged_predict",
    ],
    "the averages of the trees are there": ["Effects.hypotheses"],
    "it measures leaves when its summary asks; four seconds for a guided forest": ["consistency"],
    "seconds for large forests; how much is to be written is not known before it is written": [
        "row_predictor", "to_c", "to_onnx", "to_python",
    ],
    "they read files": ["from_images", "load", "load_data"],
    "they draw as many rows as they are told": [
        "Problem.plot", "SurvivalProblem.cumulative_incidence", "SurvivalProblem.restricted_mean",
        "SurvivalProblem.survival", "sample", "truth",
        *(name for name in odrf.simulate.__all__ if name.islower()),
    ],
}  # fmt: skip


def made_public():
    """Public functions and methods by name, also of classes that no listed package has."""
    waiting, found = [Report, PredictionResults, RowPredictor, Summary], dict(callables())
    while waiting:
        kind = waiting.pop()
        waiting += [one for one in kind.__subclasses__() if one.__module__.startswith("odrf.")]
        for name, method in inspect.getmembers(kind, inspect.isfunction):
            if name[0] != "_":
                found[f"{kind.__name__}.{name}"] = method
    return found


def without_progress():
    return {
        name
        for name, made in made_public().items()
        if "progress" not in inspect.signature(made).parameters
        and not getattr(made, "__isabstractmethod__", False)
    }


def test_whoever_waits_sees_what_remains():
    short = {name for names in SHORT.values() for name in names}
    found = without_progress()
    unexplained = {
        name for name in found if name not in short and name.partition(".")[2] not in short
    }
    assert not unexplained, "take progress=, or say why they are short"


def test_the_list_names_nothing_else():
    found = without_progress()
    known = found | {name.partition(".")[2] for name in found}
    listed = {name for names in SHORT.values() for name in names}
    assert listed - known == set()


# ------------------------------------------------------------------------------------------------
# Ctrl-C stops long work within a second, and leaves nothing half done.
# ------------------------------------------------------------------------------------------------


TESTS = Path(__file__).parent
AFTER = 0.15
# Beside another worker of the tests, a thread may wait for a core.
WITHIN = 2.5 if "PYTEST_XDIST_WORKER" in os.environ else 1.0


@pytest.mark.skipif(sys.platform == "win32", reason="signals of POSIX")
def test_an_interrupt_stops_long_work_and_leaves_nothing_half_done():
    command = [sys.executable, str(TESTS / "interrupted.py")]
    search = os.pathsep.join([str(TESTS.parent), os.environ.get("PYTHONPATH", "")])
    env = {**os.environ, "PYTHONPATH": search.rstrip(os.pathsep), "ODRF_QUIET": "1"}
    seconds, wrong = {}, []
    with subprocess.Popen(command, env=env, stdout=subprocess.PIPE, text=True) as process:
        for line in process.stdout:
            word, _, name = line.strip().partition(" ")
            if word == "begin":
                time.sleep(AFTER)
                process.send_signal(signal.SIGINT)
                sent = time.perf_counter()
            elif word == "stopped":
                seconds[name] = time.perf_counter() - sent
            elif word != "fine":
                wrong.append(line)
    print({name: round(stop, 3) for name, stop in seconds.items()})
    assert process.returncode == 0 and not wrong
    assert len(seconds) >= 12
    assert max(seconds.values()) < WITHIN
