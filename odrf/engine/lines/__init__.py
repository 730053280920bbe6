"""Trees whose leaves are lines: hinges as splits, and a line of few predictors in each leaf.

`growth` searches the split of each node among `cuts` and `hinges`, evaluated by the best lines of
both sides, which follow from `moments`; `leaf_lines` is what a tree keeps of its lines.
"""

from typing import TYPE_CHECKING

from odrf.loading import modules_of

if TYPE_CHECKING:
    from odrf.engine.lines import growth as growth
    from odrf.engine.lines import hinges as hinges

__getattr__ = modules_of(__name__)
