"""Splits, numbers and tables as text; layouts are imported when they are first shown."""

from typing import TYPE_CHECKING

from odrf.loading import loaded_later

if TYPE_CHECKING:
    from odrf.text.card_layout import card_as_html as card_as_html
    from odrf.text.card_layout import card_as_text as card_as_text
    from odrf.text.card_layout import card_facts as card_facts
    from odrf.text.html_layout import summary_as_html as summary_as_html
    from odrf.text.latex_layout import summary_as_latex as summary_as_latex
    from odrf.text.text_layout import summary_as_text as summary_as_text

__getattr__ = loaded_later(
    __name__,
    {
        "card_as_html": "odrf.text.card_layout",
        "card_as_text": "odrf.text.card_layout",
        "card_facts": "odrf.text.card_layout",
        "summary_as_html": "odrf.text.html_layout",
        "summary_as_latex": "odrf.text.latex_layout",
        "summary_as_text": "odrf.text.text_layout",
    },
)
