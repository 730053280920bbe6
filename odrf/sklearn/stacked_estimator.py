"""What estimators have whose results are a stack of several models."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from sklearn.utils.validation import check_is_fitted

from odrf.sklearn.estimator import FunctionEstimator
from odrf.sklearn.inputs import feature_names

__all__ = ["StackedEstimator"]


class StackedEstimator(FunctionEstimator):
    """Base class of estimators with several models: no leaves, and nothing to go on from."""

    @property
    def feature_importances_(self) -> NDArray[np.float64]:
        """Importance of each column of X by held-out rows, as shares of their sum.

        It is the weighted mean of what the models say, except smoothers, as in
        ``results_.importance()``; there an importance can be below 0, here it is then 0.  It is
        computed when it is first asked for.
        """
        check_is_fitted(self)
        shares = self.results_.importance()["share"].clip(lower=0.0)
        return shares.reindex(feature_names(self), fill_value=0.0).to_numpy(dtype=np.float64)
