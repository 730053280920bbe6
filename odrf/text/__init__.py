"""Splits, numbers and tables as text; layouts are imported when they are first shown."""

from typing import TYPE_CHECKING

from odrf.loading import loaded_later

if TYPE_CHECKING:
    from odrf.text.layouts import card_as_html as card_as_html
    from odrf.text.layouts import card_as_text as card_as_text
    from odrf.text.layouts import card_facts as card_facts
    from odrf.text.layouts import summary_as_html as summary_as_html
    from odrf.text.layouts import summary_as_latex as summary_as_latex
    from odrf.text.layouts import summary_as_text as summary_as_text

__getattr__ = loaded_later(
    __name__,
    {
        "card_as_html": "odrf.text.layouts",
        "card_as_text": "odrf.text.layouts",
        "card_facts": "odrf.text.layouts",
        "summary_as_html": "odrf.text.layouts",
        "summary_as_latex": "odrf.text.layouts",
        "summary_as_text": "odrf.text.layouts",
    },
)
