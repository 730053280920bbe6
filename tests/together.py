"""Which test files run in one process, and which of them first.

A third of the time of the tests is compilation, once for every combination of families and
argument types.  Files of a group need the same kernels, which two processes would else compile
side by side, or look at the same results.  The first group begins with what all trees need.  The
second begins with what needs none of that, and finds it when it is compiled; pages come last.
"""

from __future__ import annotations

__all__ = ["APART", "TOGETHER", "group_of", "place_of", "unit_of"]

TOGETHER = [
    [
        "tests/api/test_boosting.py",
        "tests/engine/directions/test_class_shares.py",
        "tests/api/test_trees.py",
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
        "tests/evaluation/test_power_law.py",
        "tests/statistics/test_guidance.py",
        "tests/design",
        "tests/engine/splits/test_absent_levels.py",
    ],
    [
        "tests/projections/test_custom.py",
        "tests/reports/test_consistency.py",
        "tests/benchmarks/theory/test_consistency.py",
        "tests/projections/test_rc.py",
    ],
    [
        "tests/projections/test_ridge.py",
        "tests/projections/test_sphere.py",
        "tests/benchmarks/guided/test_guided.py",
    ],
    [
        "tests/projections/test_patch.py",
        "tests/datasets/test_images.py",
        "tests/benchmarks/columns/test_images.py",
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


def place_of(path: str) -> tuple[int, int]:
    """Return the number of a file's group and its place in it; files of none come last.

    What names the file itself counts more than what names its folder.
    """
    found = [
        (len(start), group, place)
        for group, paths in enumerate(TOGETHER)
        for place, start in enumerate(paths)
        if path == start or path.startswith(f"{start}/")
    ]
    return max(found, default=(0, len(TOGETHER), 0))[1:]


def group_of(path: str) -> int:
    """Return the number of a file's group, the number of groups for files of none."""
    return place_of(path)[0]


def unit_of(test: str) -> str:
    """Return the name of what one process runs as a whole: a file, its group, or one test of it."""
    path = test.split("::")[0]
    if path in APART:
        return test
    group = group_of(path)
    return path if group == len(TOGETHER) else f"group {group}"
