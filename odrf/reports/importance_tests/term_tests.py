"""Tests of the importance of variables, as a table."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from odrf.checks import checked_choice, checked_part, is_list
from odrf.design.new_rows import touched, variables
from odrf.errors import InputError, nearest
from odrf.fits.fit import AnyFit
from odrf.fits.importance_tests import DRAWS, loss_rises
from odrf.public.progress import progress_bar
from odrf.statistics.effects import NUMBERS
from odrf.statistics.importance_tests import (
    ADJUSTMENTS,
    ROW_TESTS,
    WILCOXON,
    adjusted,
    judged_differences,
)

__all__ = ["importance_tests", "sets_of_variables"]


def importance_tests(
    fit: AnyFit,
    type: str,
    test: str,
    adjust: str | None,
    groups: Mapping[str, Sequence[str]] | None,
    level: float,
    progress: bool = False,
) -> pd.DataFrame:
    """Return a test of each variable, or of each set of variables, the largest estimate first.

    Parameters are those of `odrf.results.measured.Measured.importance`.

    Raises
    ------
    InputError
        An argument is invalid; there are too few rows.
    """
    checked_choice("test", test, ROW_TESTS)
    checked_choice("adjust", adjust, (*ADJUSTMENTS, None))
    checked_part("level", level)
    sets = sets_of_variables(fit, groups)
    with progress_bar(total=len(sets), unit="term", progress=progress) as bar:
        n_draws = 1 if test == WILCOXON else DRAWS
        found = loss_rises(fit, list(sets.values()), type, n_draws, bar.update)
    structure = fit.data.structure
    known = None if structure is None else structure.groups
    units = found.rows if known is None else known[found.rows]
    if len(np.unique(units)) < 2:
        raise InputError("tests of importance need two rows or groups that are held out")
    weights = fit.data.weights[found.rows]
    lines = [
        judged_differences(rise, weights, units, test, level, found.inflation)
        for rise in found.rises
    ]
    table = pd.DataFrame(lines, columns=NUMBERS)
    table.insert(0, "term", list(sets))
    p = table["p_value"].to_numpy()
    table["p_adjusted"] = p if adjust is None else adjusted(p, adjust)
    return table.sort_values("estimate", ascending=False, kind="stable", ignore_index=True)


def sets_of_variables(
    fit: AnyFit, groups: Mapping[str, Sequence[str]] | None
) -> dict[str, list[str]]:
    """Return what is tested, by name: the sets in `groups`, and each variable in none of them.

    Raises
    ------
    InputError
        A variable is unknown or in two sets; a set has the name of a variable in none; `groups` is
        no mapping of names to lists.
    """
    names = variables(fit.design)
    sets: dict[str, list[str]] = {}
    for name, members in ({} if groups is None else _mapping(groups)).items():
        for member in members:
            _require_free(member, names, sets)
        sets[str(name)] = list(members)
    taken = {member for members in sets.values() for member in members}
    single = {name: [name] for name in names if name not in taken and touched(fit.design, name)}
    for name in sets:
        if name in single:
            raise InputError(
                f"groups=: the set {name!r} has the name of a variable in none of the sets: give "
                "it another name"
            )
    return sets | single


def _mapping(groups: Any) -> Mapping[str, Sequence[str]]:
    lists = isinstance(groups, Mapping) and all(
        is_list(members) and len(members) for members in groups.values()
    )
    if not lists:
        raise InputError(
            f"groups={groups!r}: use a mapping of names to lists of columns, such as "
            '{"size": ["height", "weight"]}'
        )
    return dict(groups)


def _require_free(member: Any, names: Sequence[str], sets: Mapping[str, Sequence[str]]) -> None:
    if member not in names:
        raise InputError(
            f"groups=: no predictor is computed from {member!r}: use columns of the data that the "
            f"formula names{nearest(str(member), names)}"
        )
    if any(member in members for members in sets.values()):
        raise InputError(f"groups=: {member!r} is in two sets: leave it in one of them")
