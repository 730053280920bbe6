"""What results of rows in chunks share: they predict rows in chunks, and keep no training rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from os import PathLike
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from odrf.errors import InputError
from odrf.fits.chunks import chunks_predicted, predictions_to_parquet
from odrf.public.chunks import ChunkSource, chunks_to_predict
from odrf.results.fitted import FittedResults

__all__ = ["ChunkPredicting"]


class ChunkPredicting(FittedResults):
    """Base class of results of rows in chunks."""

    def predict_chunks(
        self, source: ChunkSource, type: str = "response", *, progress: bool = False
    ) -> Iterator[pd.Series | pd.DataFrame]:
        """Predict rows in chunks, one chunk after the other.

        Parameters
        ----------
        source : path, Chunks, iterable of data frames, or function
            The rows, as `odrf.Chunks` takes them; also an iterator of data frames, such as
            ``pd.read_csv(path, chunksize=100_000)``.
        type : str, default "response"
            As in `predict`.
        progress : bool, default False
            Show a progress bar of the chunks.

        Returns
        -------
        iterator of Series or DataFrame
            The prediction of each chunk, as of `predict`, which is computed, and errors are raised,
            when it is asked for.  Rows of data frames of pandas keep their labels; others are
            numbered from 0 on.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`.

        Examples
        --------
        >>> import odrf
        >>> data = odrf.load_data("diabetes")
        >>> forest = odrf.odrf("progression ~ .", [data], n_trees=5, seed=1)
        >>> [len(values) for values in forest.predict_chunks([data[:100], data[100:]])]
        [100, 342]
        """
        found = chunks_predicted(self.fit, chunks_to_predict(source), type, progress=progress)
        return (predicted for _, predicted in found)

    def predict_to_parquet(
        self,
        source: ChunkSource,
        path: str | PathLike[str],
        type: str = "response",
        *,
        keep: Sequence[str] = (),
        progress: bool = False,
    ) -> int:
        """Predict rows in chunks, and write the predictions to a file of Parquet.

        Parameters
        ----------
        source : path, Chunks, iterable of data frames, or function
            The rows, as by `predict_chunks`.
        path : str or path
            The file, which is written as a whole: if this fails, what was there is unchanged.
        type : str, default "response"
            As in `predict`.
        keep : sequence of str, default ()
            Columns of the source that are written, too, such as an identifier.
        progress : bool, default False
            Show a progress bar of the chunks.

        Returns
        -------
        int
            The number of rows.

        Raises
        ------
        InputError
            As by `predict` and `odrf.Chunks`; if pyarrow is not installed, or the file cannot be
            written; if `keep` has a column twice, or one that is called like a prediction.
        """
        return predictions_to_parquet(
            self.fit, chunks_to_predict(source), path, type, keep, progress
        )

    def to_sklearn(self) -> Any:
        """Say that estimators of scikit-learn are fitted on arrays in memory.

        Raises
        ------
        InputError
            Always.
        """
        raise InputError(
            "estimators of scikit-learn have training rows in memory, and a fit on rows in chunks "
            "has none: use predict()"
        )

    def _noise_residuals(self) -> NDArray[np.float64]:
        return np.empty(0)
