"""From a result to a fitted estimator."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from odrf.errors import InputError
from odrf.fits.fit import Fit
from odrf.options import words
from odrf.options.boosting import BoostingOptions
from odrf.options.guided import GuidedOptions
from odrf.options.options import Options
from odrf.options.stack import StackOptions
from odrf.projections.axis import Axis
from odrf.projections.base import Family
from odrf.results.base import AnyResults
from odrf.results.boosted import ODBTResults
from odrf.results.forest import ODRFResults
from odrf.results.guided import GRAFResults
from odrf.results.stack import AutoResults
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults
from odrf.results.tree import LineTreeResults, ODTResults
from odrf.sklearn.estimator import ASIDE, FunctionEstimator
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

CLASSES: dict[type, tuple[type[FunctionEstimator], ...]] = {
    ODTResults: (ODTClassifier, ODTRegressor),
    LineTreeResults: (ODTRegressor,),
    ODRFResults: (ODRFClassifier, ODRFRegressor),
    GRAFResults: (GRAFClassifier, GRAFRegressor),
    ODBTResults: (ODBTClassifier, ODBTRegressor),
    AutoResults: (AutoClassifier, AutoRegressor),
    SurvivalTreeResults: (ODTSurvival,),
    SurvivalForestResults: (ODRFSurvival,),
    SurvivalBoostedResults: (ODBTSurvival,),
}
"""The estimators of each class of results: for classes first, for numbers last."""


def estimator_of(results: AnyResults) -> FunctionEstimator:
    """Return a fitted estimator with these results; see `to_sklearn`.

    Raises
    ------
    InputError
        The fit has offsets that are no column of its data.
    """
    classes = results.design.response.classes
    kind = CLASSES[type(results)][0 if classes is not None else -1]
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


def _options(results: AnyResults) -> dict[str, Any]:
    """Return the options of a fit by name: as they were given, or as they were resolved."""
    fit, design = results.fit, results.design
    structure = None if fit.rows is None else fit.rows.structure
    data = {
        "missing": design.missing,
        "unseen": design.unseen,
        "class_weights": _class_weights(results),
        **({} if structure is None else structure.columns),
    }
    options: Options | BoostingOptions | StackOptions | GuidedOptions
    if isinstance(fit, Fit):
        options = replace(fit.request, n_trees=fit.forest.n_trees)
    elif isinstance(results, ODBTResults | SurvivalBoostedResults):
        options = _of_boosting(results)
    elif isinstance(results, AutoResults):
        budget = results.control.budget
        options = StackOptions(results.control.n_trees, "default" if budget is None else budget)
    else:
        assert isinstance(results, GRAFResults)
        control = results.control
        options = GuidedOptions(
            n_trees=control.n_trees,
            subspace=control.subspace,
            trials=control.trials,
            min_split=control.min_split,
            origin=control.origin,
            batched=control.batched,
            device=control.device,
        )
    return {**vars(options), **data, "n_jobs": None}


def _of_boosting(results: ODBTResults | SurvivalBoostedResults) -> BoostingOptions:
    """Return the options that give these boosted trees again."""
    control, offset = results.fit.control, results.fit.offset
    if offset.given and offset.column is None:
        raise InputError(
            "the offsets of this fit are numbers without a column, which predict() of an "
            "estimator could not have for new rows: fit with offset= the name of a column"
        )
    # without validation rows a patience would have no effect, which is an error
    patience: words.Number = "auto" if control.validation is None else control.patience
    options = BoostingOptions(
        loss=control.loss,
        n_trees=control.n_trees,
        learning_rate=control.learning_rate,
        subset_size=control.subset_size,
        max_depth=control.max_depth,
        max_leaves=control.max_leaves,
        min_leaf=control.min_leaf,
        min_hessian=control.min_hessian,
        leaf_values=control.leaf_values,
        l2=control.l2,
        n_thresholds=control.n_thresholds,
        split_search=control.split_search,
        sample_fraction=control.sample_fraction,
        predictor_fraction=control.tree_predictors / control.run_predictors,
        n_runs=control.n_runs,
        run_predictors=control.run_predictors / len(results.design.predictors),
        validation=control.validation,
        patience=patience,
        offset=offset.column,
    )
    shares = [share for share in control.mixture.shares if share.number > 0]
    if len(shares) > 1:
        mixed: dict[str | Family, float] = dict(shares)
        return replace(
            options, projection=mixed, n_projections=sum(share.number for share in shares)
        )
    ((family, number),) = shares
    if isinstance(family, Axis):
        return replace(options, projection=family, n_singles=number)
    return replace(options, projection=family, n_projections=number)


def _class_weights(results: AnyResults) -> dict[Any, float] | None:
    factors, classes = results.fit.training.class_weights, results.design.response.classes
    if factors is None or classes is None:
        return None
    return dict(zip(classes.tolist(), factors.tolist(), strict=True))
