"""Which test files run in one process, and which of them first.

A third of the time of the tests is compilation, once for every combination of families and
argument types.  Files of a group need the same kernels, which two processes would else compile
side by side, or look at the same results.  The first group begins with what all trees need, the
second needs none of that; pages come when most is compiled.
"""

from __future__ import annotations

__all__ = ["APART", "TOGETHER", "group_of", "unit_of"]

TOGETHER = [
    [
        "tests/api/test_boosting.py",
        "tests/api/test_trees.py",
        "tests/engine/directions/test_class_shares.py",
        "tests/engine/directions/test_holes.py",
        "tests/engine/directions/test_rotated_columns.py",
        "tests/engine/directions/test_subsets.py",
        "tests/engine/splits/test_searching.py",
        "tests/engine/growth",
        "tests/projections/test_mixture.py",
        "tests/design/test_scaling.py",
    ],
    [
        "tests/engine/directions",
        "tests/engine/guided",
        "tests/engine/rows",
        "tests/engine/splits",
        "tests/design",
        "tests/evaluation/test_power_law.py",
        "tests/statistics/test_guidance.py",
    ],
    [
        "tests/projections/test_custom.py",
        "tests/reports/test_consistency.py",
        "tests/benchmarks/test_consistency.py",
        "tests/projections/test_rc.py",
    ],
    [
        "tests/projections/test_ridge.py",
        "tests/projections/test_sphere.py",
        "tests/benchmarks/test_guided.py",
    ],
    [
        "tests/projections/test_patch.py",
        "tests/datasets/test_images.py",
        "tests/benchmarks/test_images.py",
        "tests/reports/test_pixel_importance.py",
    ],
    [
        "tests/engine/surrogates",
        "tests/fits/test_surrogate_trees.py",
        "tests/reports/test_surrogates.py",
    ],
    ["tests/projections/test_projection_pursuit.py"],
    ["tests/projections/test_pda.py"],
    ["tests/projections/test_cca.py"],
    ["tests/results/test_shap.py", "tests/results/test_shap_wide.py"],
    ["tests/plots/test_legible.py", "tests/text/test_shown.py", "tests/test_no_warnings.py"],
    ["tests/test_vignettes.py"],
]


# Files that take long, whose kernels others have compiled: each of their tests is a unit.
APART = ["tests/test_random_cases.py"]


def group_of(path: str) -> int:
    """Return the number of a file's group, the number of groups for files of none."""
    for number, paths in enumerate(TOGETHER):
        if any(path == start or path.startswith(f"{start}/") for start in paths):
            return number
    return len(TOGETHER)


def unit_of(test: str) -> str:
    """Return the name of what one process runs as a whole: a file, its group, or one test of it."""
    path = test.split("::")[0]
    if path in APART:
        return test
    group = group_of(path)
    return path if group == len(TOGETHER) else f"group {group}"
