"""Reports of fits to survival times."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.reports.survival import bands as bands
    from odrf.reports.survival import checks as checks
    from odrf.reports.survival import consistency as consistency
    from odrf.reports.survival import curves as curves
    from odrf.reports.survival import summaries as summaries

__getattr__ = modules_of(__name__)
