"""From a result to a fitted estimator."""

from __future__ import annotations

from typing import Any

import numpy as np

from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.projections.axis import Axis
from odrf.projections.mixture import Mixture
from odrf.results.base import AnyResults
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.stack import AutoResults
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.results.tree import ODTResults
from odrf.sklearn.constructors import ASIDE
from odrf.sklearn.estimator import FunctionEstimator
from odrf.sklearn.estimators import (
    AutoClassifier,
    AutoRegressor,
    GRAFClassifier,
    GRAFRegressor,
    ODBTClassifier,
    ODBTRegressor,
    ODRFClassifier,
    ODRFRegressor,
    ODTClassifier,
    ODTRegressor,
)
from odrf.sklearn.survival import ODBTSurvival, ODRFSurvival, ODTSurvival

CLASSES: dict[type, tuple[type[FunctionEstimator], type[FunctionEstimator]]] = {
    ODTResults: (ODTClassifier, ODTRegressor),
    ODRFResults: (ODRFClassifier, ODRFRegressor),
    GRAFResults: (GRAFClassifier, GRAFRegressor),
    ODBTResults: (ODBTClassifier, ODBTRegressor),
    AutoResults: (AutoClassifier, AutoRegressor),
}
OF_SURVIVAL: dict[type, type[FunctionEstimator]] = {
    SurvivalTreeResults: ODTSurvival,
    SurvivalForestResults: ODRFSurvival,
    SurvivalBoostedResults: ODBTSurvival,
}


def estimator_of(results: AnyResults) -> FunctionEstimator:
    """Return a fitted estimator with these results; see `to_sklearn`.

    Raises
    ------
    InputError
        The fit has offsets that are no column of its data.
    """
    kind, classes = _class_of(results), results.design.response.classes
    known = kind().get_params()
    options = {name: each for name, each in _options(results).items() if name in known}
    estimator = kind(**options, random_state=results.seed)
    columns = list(results.design.schema.columns)
    aside = [options[name] for name in ASIDE if options.get(name) is not None]
    columns += [name for name in dict.fromkeys(aside) if name not in columns]
    estimator.results_ = results
    estimator.n_features_in_ = len(columns)
    estimator.feature_names_in_ = np.array(columns, dtype=object)
    if classes is not None:
        estimator.classes_ = np.unique(classes.to_numpy())
    return estimator


def _class_of(results: AnyResults) -> type[FunctionEstimator]:
    if type(results) in OF_SURVIVAL:
        return OF_SURVIVAL[type(results)]
    of_classes, of_numbers = CLASSES[type(results)]
    return of_numbers if results.design.response.classes is None else of_classes


def _options(results: AnyResults) -> dict[str, Any]:
    """Return the options of a fit by name: as they were given, or as they were resolved."""
    fit, design = results.fit, results.design
    data = {
        "missing": design.missing,
        "unseen": design.unseen,
        "class_weights": _class_weights(results),
        **_structure_columns(results),
    }
    if isinstance(fit, Fit):
        return {**vars(fit.request), **data, "n_trees": fit.forest.n_trees, "n_jobs": None}
    control: Any = fit.control
    own = {name: getattr(control, name) for name in dir(control) if not name.startswith("_")}
    if isinstance(results, ODBTResults | SurvivalBoostedResults):
        own |= _of_mixture(control.mixture)
        own |= {
            "run_predictors": control.run_predictors / len(design.predictors),
            "predictor_fraction": control.tree_predictors / control.run_predictors,
            "offset": _offset_column(results),
        }
        if control.validation is None:  # patience would have no effect, which is an error
            own["patience"] = "auto"
    if isinstance(results, AutoResults):
        own["budget"] = "default" if control.budget is None else control.budget
    return {**own, **data, "n_jobs": None}


def _structure_columns(results: AnyResults) -> dict[str, str]:
    structure = results.fit.data.structure
    return {} if structure is None else structure.columns


def _class_weights(results: AnyResults) -> dict[Any, float] | None:
    factors, classes = results.fit.data.class_weights, results.design.response.classes
    if factors is None or classes is None:
        return None
    return dict(zip(classes.tolist(), factors.tolist(), strict=True))


def _of_mixture(mixture: Mixture) -> dict[str, Any]:
    """Return the options that give this mixture again."""
    numbers = {family: number for family, number in mixture.shares if number > 0}
    if len(numbers) > 1:
        return {
            "projection": numbers,
            "n_projections": sum(numbers.values()),
            "n_singles": "auto",
        }
    ((family, number),) = numbers.items()
    return {
        "projection": family,
        "n_singles" if isinstance(family, Axis) else "n_projections": number,
    }


def _offset_column(results: ODBTResults | SurvivalBoostedResults) -> str | None:
    offset = results.fit.offset
    if offset.given and offset.column is None:
        raise InputError(
            "the offsets of this fit are numbers without a column, which predict() of an "
            "estimator could not have for new rows: fit with offset= the name of a column"
        )
    return offset.column
