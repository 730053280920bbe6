"""Fits: growing, pruning, combining, updating, saving, and what they predict as arrays.

A fit holds its design, its options and its trees (`odrf.fits.fit`).  The options of a call are
resolved for the data, and trees grown by them (`odrf.fits.growing`); forests of several kinds of
trees are blends (`odrf.fits.blending`).  Options can make the fit pruned (`odrf.fits.pruning`):
errors of its subtrees on validation rows, the α that the rule chooses, and the same trees with some
splits switched off.  Rows in chunks take other passes (`odrf.fits.chunks`), on the workers of a
cluster, too (`odrf.fits.partitions`). `odrf.fits.files` describes the format of files, and how to
read one without the package.
"""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.fits import blending as blending
    from odrf.fits import calibration as calibration
    from odrf.fits import chunks as chunks
    from odrf.fits import curves as curves
    from odrf.fits import data_warnings as data_warnings
    from odrf.fits import effects as effects
    from odrf.fits import estimands as estimands
    from odrf.fits import explain as explain
    from odrf.fits import files as files
    from odrf.fits import fit as fit
    from odrf.fits import growing as growing
    from odrf.fits import held_out as held_out
    from odrf.fits import importance_tests as importance_tests
    from odrf.fits import intervals as intervals
    from odrf.fits import missing as missing
    from odrf.fits import partitions as partitions
    from odrf.fits import predicting as predicting
    from odrf.fits import proximity as proximity
    from odrf.fits import pruning as pruning
    from odrf.fits import refit as refit
    from odrf.fits import representers as representers
    from odrf.fits import responses as responses
    from odrf.fits import scores as scores
    from odrf.fits import shapley as shapley
    from odrf.fits import stack as stack
    from odrf.fits import stacking as stacking
    from odrf.fits import survival as survival
    from odrf.fits import updating as updating

__getattr__ = modules_of(__name__)
