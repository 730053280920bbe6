"""Which tests run once a week only (``.ci/weekly``): what takes long, and most of large grids.

The marker ``weekly`` at a test or a case says the same.
"""

from __future__ import annotations

import re

__all__ = ["FOLDERS", "SOME", "is_weekly"]

FOLDERS = ["tests/benchmarks", "tests/faults"]
NONE = "^$"
# Of the cases of these tests, those run every time whose name has this pattern.
SOME = {
    "tests/api/test_hostile_options.py": {
        "test_any_value_works_or_is_refused": "odrf-|graf-|blend-",
        "test_any_value_works_or_is_refused_for_times": "odt-",
    },
    "tests/api/test_stack.py": {
        "test_where_most_predictors_tell_nothing_a_forest_on_few_is_among_the_models": NONE,
        "test_with_much_time_other_runs_are_tried": NONE,
    },
    "tests/results/survival/test_base.py": {
        "test_permutation_importance_is_that_of_the_twin": NONE,
    },
    "tests/results/survival/test_forest.py": {
        "test_copies_of_predictors_of_several_causes_and_late_rows": NONE,
        "test_predictors_that_tell_something_beat_permuted_copies": NONE,
    },
    "tests/results/test_forest.py": {"test_noise_is_within_its_standard_errors": NONE},
    "tests/results/test_scores.py": {
        "test_every_kind_of_fit_finds_what_matters": (
            "conditional-odrf-y|conditional-odt-k|loco-odbt-y|loco-graf-k"
        ),
        "test_rises_are_those_of_all_rows_of_all_draws": "odrf|l-odt",
    },
    "tests/results/test_stack.py": {
        "test_a_stack_of_many_rows_is_grown_again": NONE,
        "test_interactions_are_compared_with_stacks_of_permuted_responses": NONE,
    },
    # the methods of two kinds of fits, and the reports
    "tests/results/test_unsupported.py": {
        "test_any_value_works_or_is_refused": (
            "odt of classes|odrf of times-(?!bands)|^(?!.*(odt|odrf|odbt|graf) of)"
        ),
    },
    "tests/test_vignettes.py": {
        "test_vignette_runs_from_top_to_bottom": "getting-started|classes",
    },
}


def is_weekly(test: str) -> bool:
    """Return whether a test runs once a week only."""
    path, _, rest = test.partition("::")
    name, _, case = rest.partition("[")
    if any(path.startswith(f"{folder}/") for folder in FOLDERS):
        return True
    pattern = SOME.get(path, {}).get(name)
    return pattern is not None and not re.search(pattern, case or " ")
