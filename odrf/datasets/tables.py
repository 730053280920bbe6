"""The bundled data sets."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

from odrf.checks import checked_choice
from odrf.datasets.separated import read_separated
from odrf.public import public

__all__ = ["data_names", "load_data"]


def data_names() -> list[str]:
    """Return the names of the bundled data sets, in alphabetical order.

    Examples
    --------
    >>> from odrf.datasets import data_names
    >>> data_names()
    ['auto_mpg', 'breast_cancer', 'diabetes', 'gbsg2', 'hitters', 'melanoma', 'penguins',
     'publication', 'wine']
    """
    return sorted(path.stem for path in _folder().glob("*.csv"))


@public
def load_data(name: str) -> pd.DataFrame:
    """Return one of the bundled data sets.

    Parameters
    ----------
    name : str
        One of the names below.

        =============  ====  =======  ===================  ========================================
        name           rows  columns  response             remarks
        =============  ====  =======  ===================  ========================================
        auto_mpg        397        8  ``mpg``              numeric; a factor; 5 missing cells
        breast_cancer   569       31  ``diagnosis``        2 classes
        diabetes        442       11  ``progression``      numeric
        gbsg2           686       10  ``time``, ``event``  56% censored; 3 factors
        hitters         322       20  ``salary``           numeric; 3 factors; 59 missing responses
        melanoma        205        7  ``time``, ``event``  2 causes, 65% censored; 2 factors
        penguins        344        8  ``species``          3 classes; 2 factors; 19 missing cells
        publication     244        9  ``time``, ``event``  36% censored; a factor
        wine            178       14  ``cultivar``         3 classes
        =============  ====  =======  ===================  ========================================

        Times and events are for the formula ``"Surv(time, event) ~ ."``.

    Returns
    -------
    pandas.DataFrame
        The table, its rows numbered from 0.  Text columns are categorical, as all of them are
        factors.  Columns, units, sources and licences are described in ``data/README.md``.

    Raises
    ------
    InputError
        If no bundled data set has this name.

    Examples
    --------
    >>> from odrf import load_data
    >>> penguins = load_data("penguins")
    >>> penguins.shape
    (344, 8)
    >>> list(penguins["species"].cat.categories)
    ['Adelie', 'Chinstrap', 'Gentoo']
    """
    names = data_names()
    checked_choice("name", name, names)
    table = read_separated(_folder() / f"{name}.csv")
    text = table.select_dtypes(exclude="number").columns
    return table.astype(dict.fromkeys(text, "category"))


def _folder() -> Path:
    """Return the folder of the tables: in an installed package, or in a source tree beside it."""
    package = Path(__file__).parents[1]
    installed = package / "_data"
    return installed if installed.is_dir() else package.parent / "data"
