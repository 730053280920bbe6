"""Splits, numbers and tables as text; layouts are imported when a summary is first shown."""

from typing import TYPE_CHECKING

from odrf.loading import loaded_later

if TYPE_CHECKING:
    from odrf.text.summary_layout import summary_as_html as summary_as_html
    from odrf.text.summary_layout import summary_as_latex as summary_as_latex
    from odrf.text.summary_layout import summary_as_text as summary_as_text

LAYOUT = "odrf.text.summary_layout"

__getattr__ = loaded_later(
    __name__,
    {"summary_as_html": LAYOUT, "summary_as_latex": LAYOUT, "summary_as_text": LAYOUT},
)
