"""Estimators of scikit-learn, over `odrf.odt`, `odrf.odrf`, `odrf.graf`, `odrf.odbt`, `odrf.auto`.

Those for times to an event take these as scikit-survival does.  All need scikit-learn, which
``pip install "odrf[sklearn]"`` installs.
"""

from odrf.sklearn.classifiers import (
    AutoClassifier,
    GRAFClassifier,
    ODBTClassifier,
    ODRFClassifier,
    ODTClassifier,
)
from odrf.sklearn.conversion import estimator_of
from odrf.sklearn.regressors import (
    AutoRegressor,
    GRAFRegressor,
    ODBTRegressor,
    ODRFRegressor,
    ODTRegressor,
)
from odrf.sklearn.step_function import StepFunction
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
