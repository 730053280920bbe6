"""odrf: oblique decision trees and forests for statisticians."""

import sys
from typing import TYPE_CHECKING

from odrf.api.automatic import auto
from odrf.api.boosting import odbt
from odrf.api.guided_forests import graf
from odrf.api.loading_fits import load
from odrf.api.oblique_forests import odrf
from odrf.api.trees import odt
from odrf.datasets import from_images, load_data
from odrf.design.functions import Surv
from odrf.errors import InputError
from odrf.loading import Package, loaded_later
from odrf.projections import Patch
from odrf.public.chunks import Chunks
from odrf.version import __version__ as __version__

if TYPE_CHECKING:
    from odrf import simulate
    from odrf.evaluation.approximating import approximation_curve
    from odrf.evaluation.comparing import compare
    from odrf.evaluation.decomposing import bias_variance
    from odrf.evaluation.foresight import foresee
    from odrf.evaluation.learning import learning_curve
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

# Loaded at first use: the statistical tests that these modules import would make the start of every
# program a quarter slower.
LATER = {
    "approximation_curve": "odrf.evaluation.approximating",
    "bias_variance": "odrf.evaluation.decomposing",
    "compare": "odrf.evaluation.comparing",
    "foresee": "odrf.evaluation.foresight",
    "learning_curve": "odrf.evaluation.learning",
    "simulate": "odrf.simulate",
    "tune": "odrf.evaluation.tuning",
}


__getattr__ = loaded_later(__name__, LATER)
sys.modules[__name__].__class__ = Package


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
