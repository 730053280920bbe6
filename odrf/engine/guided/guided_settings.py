"""The options of guided growth, as numbers for the kernels."""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["GuidedSettings"]


class GuidedSettings(NamedTuple):
    """The options of guided growth, as numbers for the kernels.

    Attributes
    ----------
    n_classes : int
        K; 1 for a numeric response.
    subspace : int
        M, the number of predictors that a tree uses.
    trials : int
        Candidate planes at each step.
    min_split : int
        Regions of fewer rows are not divided.
    from_region : bool
        Whether the weights of a plane are drawn from ranges measured from the mean of the region;
        otherwise from the mean of all rows.
    batched : bool
        Whether the planes of a step are evaluated together, by one matrix product.
    """

    n_classes: int
    subspace: int
    trials: int
    min_split: int
    from_region: bool
    batched: bool
