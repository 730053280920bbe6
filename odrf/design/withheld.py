"""What stands for the training rows of a fit that has none: left out, or read in chunks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from odrf.design.survival.survival_times import SurvivalTimes
from odrf.design.training_data import TrainingData
from odrf.errors import AbsentError, refused_again

__all__ = ["LEFT_OUT", "STREAMED", "WithheldData"]

_OF_ROWS = ("X", "y", "weights", "index", "complete", "kept")
LEFT_OUT = (
    "the fit was saved without them, by save(data=False), or made without them, by without_data(): "
    "use one that has them, or fit again"
)
"""Why rows that were left out are not there."""
NEEDS_ROWS = "this needs the training rows, and {}"
STREAMED = (
    "a fit on rows in chunks keeps none of them: fit a data frame of some of the rows, or all "
    "chunks again; new rows need predict(newdata)"
)
"""Why rows that came in chunks are not there."""


@dataclass(frozen=True, eq=False, init=False, repr=False)
class WithheldData(TrainingData):
    """Training rows that are not there; whoever needs them is told so, and why.

    Parameters
    ----------
    rows, dropped : int
        How many there were, and how many others had been left out for missing values.
    missing_columns, empty_cells, class_weights, weight_unit
        As in `TrainingData`.
    reason : str
        Why they are not there, and what to do: `LEFT_OUT` or `STREAMED`.
    """

    def __init__(
        self,
        rows: int,
        dropped: int,
        missing_columns: dict[str, int],
        empty_cells: dict[str, int],
        class_weights: NDArray[np.float64] | None,
        weight_unit: float,
        reason: str = LEFT_OUT,
    ) -> None:
        self.__dict__.update(
            rows=rows,
            dropped=dropped,
            missing_columns=missing_columns,
            empty_cells=empty_cells,
            class_weights=class_weights,
            weight_unit=weight_unit,
            reason=reason,
        )

    @classmethod
    def instead_of(cls, data: TrainingData) -> WithheldData:
        """Return what says of training rows how many they were, and no more."""
        if isinstance(data, WithheldData):
            return data
        return cls(
            data.n_rows,
            data.n_dropped,
            data.missing_columns,
            data.empty_cells,
            data.class_weights,
            data.weight_unit,
        )

    @property
    def has_rows(self) -> bool:
        """False."""
        return False

    @property
    def n_rows(self) -> int:
        """Number of training rows n."""
        return int(self.__dict__["rows"])

    @property
    def n_dropped(self) -> int:
        """Number of rows left out because of missing values."""
        return int(self.__dict__["dropped"])

    def require_times(self) -> SurvivalTimes:
        """Raise an error that says why the times are not there.

        Raises
        ------
        InputError
            Always.
        """
        raise self._lacks_rows()

    def __repr__(self) -> str:
        """Return what is known, without the rows: debuggers show the parts of a result so."""
        return f"{type(self).__name__}(rows={self.n_rows}, dropped={self.n_dropped})"

    def __getstate__(self) -> dict[str, Any]:
        return dict(self.__dict__)

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)

    def _lacks_rows(self) -> AbsentError:
        return AbsentError(NEEDS_ROWS.format(self.__dict__.get("reason", LEFT_OUT)))

    if not TYPE_CHECKING:

        def __getattr__(self, name: str) -> Any:
            if name in _OF_ROWS:
                raise self._lacks_rows()
            refused_again(self, name)
            raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
