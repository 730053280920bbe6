"""Estimators of scikit-learn, over the functions `odrf.odt`, `odrf.odrf`, `odrf.graf`, `odrf.odbt`.

They need scikit-learn, which ``pip install "odrf[sklearn]"`` installs.
"""

from odrf.sklearn.classifiers import GRAFClassifier, ODBTClassifier, ODRFClassifier, ODTClassifier
from odrf.sklearn.conversion import estimator_of
from odrf.sklearn.regressors import GRAFRegressor, ODBTRegressor, ODRFRegressor, ODTRegressor

__all__ = [
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
