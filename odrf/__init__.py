"""odrf: oblique decision trees and forests for statisticians."""

import sys
from typing import TYPE_CHECKING, Any

from odrf.loading import Package, loaded_later  # first, so that Ctrl-C ends the command quietly

# isort: split
from odrf.api.forests import odrf
from odrf.api.trees import odt
from odrf.design.functions import Surv
from odrf.errors import InputError
from odrf.projections import Patch
from odrf.public.chunks import Chunks
from odrf.results.base import CONVERTERS
from odrf.version import __version__ as __version__

if TYPE_CHECKING:
    from odrf import simulate
    from odrf.api.boosting import odbt
    from odrf.api.guided import graf
    from odrf.api.load import load
    from odrf.api.stack import auto
    from odrf.datasets import from_images, load_data
    from odrf.evaluation.approximation import approximation_curve
    from odrf.evaluation.bias_variance import bias_variance
    from odrf.evaluation.compare import compare
    from odrf.evaluation.foresight import foresee
    from odrf.evaluation.learning_curve import learning_curve
    from odrf.evaluation.paired import compare_fits
    from odrf.evaluation.tuning import tune

__all__ = [
    "Chunks",
    "InputError",
    "Patch",
    "Surv",
    "approximation_curve",
    "auto",
    "bias_variance",
    "compare",
    "compare_fits",
    "foresee",
    "from_images",
    "graf",
    "learning_curve",
    "load",
    "load_data",
    "odbt",
    "odrf",
    "odt",
    "simulate",
    "tune",
]

# Loaded at first use: what these modules import would make the start of every program slower.
LATER = {
    "load": "odrf.api.load",
    "odbt": "odrf.api.boosting",
    "graf": "odrf.api.guided",
    "auto": "odrf.api.stack",
    "approximation_curve": "odrf.evaluation.approximation",
    "bias_variance": "odrf.evaluation.bias_variance",
    "compare": "odrf.evaluation.compare",
    "compare_fits": "odrf.evaluation.paired",
    "foresee": "odrf.evaluation.foresight",
    "learning_curve": "odrf.evaluation.learning_curve",
    "datasets": "odrf.datasets",
    "from_images": "odrf.datasets",
    "load_data": "odrf.datasets",
    "simulate": "odrf.simulate",
    "tune": "odrf.evaluation.tuning",
}


def _estimator_of(results: Any) -> Any:
    from odrf.sklearn import estimator_of  # noqa: PLC0415 - it needs scikit-learn

    return estimator_of(results)


CONVERTERS["sklearn"] = _estimator_of
__getattr__ = loaded_later(__name__, LATER)
sys.modules[__name__].__class__ = Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
