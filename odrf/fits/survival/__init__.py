"""Fits to survival times: growth, curves, and what is computed from them."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.fits.survival import blending as blending
    from odrf.fits.survival import boosted as boosted
    from odrf.fits.survival import curves as curves
    from odrf.fits.survival import fit as fit
    from odrf.fits.survival import hazards as hazards
    from odrf.fits.survival import pruning as pruning
    from odrf.fits.survival import validation as validation

__getattr__ = modules_of(__name__)
