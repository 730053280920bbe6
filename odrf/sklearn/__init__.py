"""Estimators of scikit-learn, over `odrf.odt`, `odrf.odrf`, `odrf.graf`, `odrf.odbt`, `odrf.auto`.

They need scikit-learn, which ``pip install "odrf[sklearn]"`` installs.
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

__all__ = [
    "AutoClassifier",
    "AutoRegressor",
    "GRAFClassifier",
    "GRAFRegressor",
    "ODBTClassifier",
    "ODBTRegressor",
    "ODRFClassifier",
    "ODRFRegressor",
    "ODTClassifier",
    "ODTRegressor",
    "estimator_of",
]
