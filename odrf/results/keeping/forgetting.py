"""Results that can forget their training rows."""

from __future__ import annotations

from typing import Any, TypeVar

from odrf.fits.without_data import without_rows
from odrf.public import public

__all__ = ["ForgettingResults"]

Own = TypeVar("Own", bound="ForgettingResults")


@public
class ForgettingResults:
    """Base class of results that can be kept without the training rows."""

    fit: Any

    def without_data(self: Own) -> Own:
        """Return a result that does not keep the training rows.

        As after ``save(data=False)``, it predicts new rows and shows its trees.  What is computed
        from training rows raises `InputError`: predictions of them, errors, importances but those
        of impurity, intervals, summaries, pruning by folds or rows out of bag, `update`, and more
        trees.

        Returns
        -------
        result
            Of the same class.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> tree = odrf.odt("progression ~ .", data, seed=1).without_data()
        >>> tree.predict(data.head(3)).round(0).tolist() == tree.predict(data).round(0).tolist()[:3]
        True
        """
        return type(self)(without_rows(self.fit))  # type: ignore[call-arg]
