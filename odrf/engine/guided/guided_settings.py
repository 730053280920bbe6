"""The options of guided growth as the kernels read them."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GuidedSettings"]


class GuidedSettings(NamedTuple):
    """The options of guided growth as the kernels read them.

    Attributes
    ----------
    n_classes : int
        K; 1 for a numeric response.
    subspace : int
        M, predictors that a tree uses.
    trials : int
        Planes to choose from at each step.
    min_split : int
        Fewest rows of a region that may be divided.
    from_region : bool
        Whether the range that a plane's weights are drawn from is measured from the mean of the
        region, not of all rows.
    batched : bool
        Whether the planes of a step are judged together, by one matrix product.
    """

    n_classes: int
    subspace: int
    trials: int
    min_split: int
    from_region: bool
    batched: bool
