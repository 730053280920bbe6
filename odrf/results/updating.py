"""A fit whose trees go on growing on further rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray
from tqdm import tqdm

from odrf.control import NO_LIMIT, Control
from odrf.design import TrainingData
from odrf.design.adding import with_more_rows
from odrf.engine.branching import whole
from odrf.engine.forest import Forest, joined
from odrf.engine.proposals import Blocks
from odrf.engine.updating import Updated, update_trees
from odrf.errors import InputError
from odrf.pruning.rates import LEAF_RATES
from odrf.results.fit import Fit
from odrf.results.rescaling import at_rows, settled_at

__all__ = ["updated_fit"]

# Values that differ by less, as a part, are equal but for rounding.
ROUNDING = 1e-9


def updated_fit(
    fit: Fit,
    newdata: pd.DataFrame,
    weights: str | ArrayLike | None,
    n_jobs: int,
    progress: bool,
) -> Fit:
    """Return the fit with its trees grown on by the rows of `newdata`, with threads `n_jobs`.

    Raises
    ------
    InputError
        Naming what is wrong with the rows, or with a rule in n; or if trees have been cut.
    """
    _require_whole(fit)
    data = with_more_rows(fit.design, fit.data, newdata, weights)
    before, n = len(fit.data.y), len(data.y)
    control = at_rows(fit.control, fit.request, before, n)
    kinds = {name: at_rows(own, fit.request, before, n) for name, own in fit.kinds.items()}
    updated = _updated(fit, data, control, kinds, n_jobs, progress)
    return replace(
        fit,
        call=f"{fit.call}.update({_spelled(weights)})",
        data=data,
        control=control,
        kinds=kinds,
        forest=joined((one.tree for one in updated), len(updated)),
        request=settled_at(fit.request, control),
        changes=_changes(fit.forest, updated),
    )


def _require_whole(fit: Fit) -> None:
    """Raise if pruning has cut a tree, whose leaves would then grow again at once."""
    of_found_size = fit.request.options["max_leaves"] in LEAF_RATES
    if not of_found_size and (fit.forest.order[fit.forest.left < 0] > 0).any():
        raise InputError(
            "update() cannot go on with trees that pruning has cut: update what they were cut "
            "from, and prune what comes of it"
        )


def _spelled(weights: str | ArrayLike | None) -> str:
    if weights is None:
        return "newdata"
    return f"newdata, weights={weights!r}" if isinstance(weights, str) else "newdata, weights=…"


def _updated(
    fit: Fit,
    data: TrainingData,
    control: Control,
    kinds: dict[str, Control],
    n_jobs: int,
    progress: bool,
) -> list[Updated]:
    """Update the trees of each kind; return all in the order of the forest's."""
    pairs = [(fit.control, control)]
    of_tree: NDArray[np.int64] = np.zeros(fit.forest.n_trees, dtype=np.int64)
    if fit.blend is not None:
        pairs = [(fit.kinds[name], kinds[name]) for name in kinds]
        of_tree = fit.blend.of_tree
    found: dict[int, Updated] = {}
    with tqdm(total=len(of_tree), unit="tree", disable=not progress) as bar:
        for g, (old, own) in enumerate(pairs):
            numbers = np.flatnonzero(of_tree == g).tolist()
            updated = update_trees(
                [fit.forest.tree(b) for b in numbers],
                data.X,
                data.y,
                data.weights,
                Blocks(fit.design.first, fit.design.types),
                own.sampling(),
                own.settings(),
                own.mixture,
                fit.streams[numbers],
                NO_LIMIT if old.max_leaves is None else old.max_leaves,
                n_jobs,
                bar.update,
            )
            found |= dict(zip(numbers, updated, strict=True))
    return [found[b] for b in range(len(of_tree))]


def _changes(forest: Forest, updated: Sequence[Updated]) -> pd.DataFrame:
    """Return what has changed, a row for each tree."""
    rows = [_change(whole(forest.tree(b)), one) for b, one in enumerate(updated)]
    return pd.DataFrame(rows, index=pd.RangeIndex(len(rows), name="tree"))


def _change(before: Forest, updated: Updated) -> dict[str, int]:
    after = updated.tree
    leaves = np.flatnonzero(before.left < 0)
    same = np.isclose(before.value[leaves], after.value[leaves], rtol=ROUNDING, atol=0.0)
    return {
        "drawn": updated.drawn,
        "leaves_before": len(leaves),
        "leaves": int((after.left < 0).sum()),
        "changed": int((~same).any(axis=1).sum()),
        "revisited": updated.revisited,
        "split": int((after.left[leaves] >= 0).sum()),
        "depth_before": updated.depth_before,
        "depth": updated.depth,
    }
