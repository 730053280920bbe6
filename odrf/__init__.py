"""odrf: oblique decision trees and forests for statisticians."""

from odrf import simulate
from odrf.comparing import compare
from odrf.datasets import load_data
from odrf.errors import InputError
from odrf.learning import learning_curve
from odrf.models import odrf, odt
from odrf.saving import load
from odrf.tuning import tune
from odrf.version import __version__

__all__ = [
    "InputError",
    "__version__",
    "compare",
    "learning_curve",
    "load",
    "load_data",
    "odrf",
    "odt",
    "simulate",
    "tune",
]
