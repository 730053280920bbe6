"""odrf: oblique decision trees and forests for statisticians."""

from odrf.comparing import compare
from odrf.datasets import load_data
from odrf.errors import InputError
from odrf.models import odrf, odt
from odrf.tuning import tune

__all__ = ["InputError", "compare", "load_data", "odrf", "odt", "tune"]
__version__ = "0.1.0"
