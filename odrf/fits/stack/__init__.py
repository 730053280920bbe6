"""A stack of models: smoothers, weights, the fit, and how it is grown."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.fits.stack import distribution as distribution
    from odrf.fits.stack import fit as fit
    from odrf.fits.stack import growing as growing
    from odrf.fits.stack import smoothers as smoothers
    from odrf.fits.stack import weights as weights

__getattr__ = modules_of(__name__)
