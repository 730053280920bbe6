"""What is foreseen of a fit: bytes by part, seconds, sizes of trees."""

from __future__ import annotations

from typing import NamedTuple

from odrf.design import TrainingData
from odrf.fits.files.costs import bytes_in_memory
from odrf.fits.fit import AnyFit
from odrf.fits.saving import saved_bytes

__all__ = ["Bytes", "Forecast", "of_training_rows"]

# The rows that are compressed to see how well they can be.
COMPRESSED_ROWS = 20_000


class Bytes(NamedTuple):
    """The bytes of one part of a fit.

    Attributes
    ----------
    growing : float
        While it is at its largest, during growth.
    fitted : float
        In the fit.
    saved : float
        In its file.
    """

    growing: float
    fitted: float = 0.0
    saved: float = 0.0


class Forecast(NamedTuple):
    """What is foreseen of a fit.

    Attributes
    ----------
    parts : dict of str to Bytes
        By what they are of.
    seconds : float
    predicting : float
        Bytes that the first prediction adds to the fit.
    out_of_bag : float
        Bytes that out-of-bag predictions take; 0 if there are none.
    n_trees : int
    leaves : float
        Of a tree, on average.
    pilots : str
        The trees that were grown for it, in words.
    notes : tuple of str
    trees_of_round : int
        Trees for each one that the option `n_trees` asks for: those of a round of boosting.
    """

    parts: dict[str, Bytes]
    seconds: float
    predicting: float
    out_of_bag: float
    n_trees: int
    leaves: float
    pilots: str
    notes: tuple[str, ...] = ()
    trees_of_round: int = 1


def of_training_rows(fit: AnyFit, data: TrainingData, some: TrainingData) -> Bytes:
    """Return the bytes of training rows; a `fit` of `some` of them says how they compress."""
    memory = bytes_in_memory(data)
    if not some.has_rows:
        return Bytes(memory, memory)
    saved = saved_bytes(fit, True) - saved_bytes(fit, False)
    return Bytes(memory, memory, saved * len(data.y) / len(some.y))
