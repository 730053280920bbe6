"""The functions that fit a model: `odt`, `odrf`, `odbt` and `graf`."""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.api import boosting as boosting
    from odrf.api import calling as calling
    from odrf.api import chunks as chunks
    from odrf.api import forests as forests
    from odrf.api import guided as guided
    from odrf.api import load as load
    from odrf.api import stack as stack
    from odrf.api import survival as survival
    from odrf.api import trees as trees
    from odrf.api import warming as warming

__getattr__ = modules_of(__name__)
