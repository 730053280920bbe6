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
        "tests/engine/directions/test_factors.py",
        "tests/api/test_trees.py",
        "tests/engine/directions/test_missing.py",
        "tests/engine/directions/test_subsets.py",
        "tests/engine/splits/test_splitter.py",
        "tests/engine/growth",
        "tests/projections/test_mixture.py",
        "tests/design/test_scaling.py",
    ],
    [
        "tests/engine/directions",
        "tests/engine/guided",
        "tests/engine/splits",
        "tests/evaluation/test_learning_curve.py",
        "tests/statistics/test_sensitivity.py",
        "tests/design",
    ],
    [
        "tests/projections/test_custom.py",
        "tests/reports/test_consistency.py",
        "tests/benchmarks/test_theory.py",
        "tests/projections/test_sparse.py",
    ],
    ["tests/projections/test_regression.py", "tests/benchmarks/test_guided.py"],
    [
        "tests/projections/test_patch.py",
        "tests/test_datasets.py",
        "tests/benchmarks/test_columns.py",
        "tests/reports/test_importance.py",
    ],
    ["tests/fits/test_explain.py", "tests/reports/test_tree.py"],
    ["tests/projections/test_discriminant.py"],
    ["tests/results/test_shapley.py"],
    ["tests/plots/test_legible.py", "tests/text/test_summary.py", "tests/test_no_warnings.py"],
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
