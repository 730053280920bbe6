"""Estimators of scikit-learn, over `odrf.odt`, `odrf.odrf`, `odrf.graf`, `odrf.odbt`, `odrf.auto`.

Those for survival times take these as scikit-survival does.  All need scikit-learn, which
``pip install "odrf[sklearn]"`` installs.
"""

from odrf.sklearn.conversion import estimator_of
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
from odrf.sklearn.inputs import StepFunction
from odrf.sklearn.survival import ODBTSurvival, ODRFSurvival, ODTSurvival

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "GRAFClassifier",
    "GRAFRegressor",
    "ODBTClassifier",
    "ODBTRegressor",
    "ODBTSurvival",
    "ODRFClassifier",
    "ODRFRegressor",
    "ODRFSurvival",
    "ODTClassifier",
    "ODTRegressor",
    "ODTSurvival",
    "StepFunction",
    "estimator_of",
]
