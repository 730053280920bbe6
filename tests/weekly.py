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
    "tests/engine/directions/test_factors.py": {
        "test_the_best_of_all_partitions_is_nearly_reached": r"-(3|5)\]",
    },
    "tests/engine/guided/test_device.py": {
        "test_the_kernel_for_cuda_gives_the_same_sums_and_trees": NONE,
    },
    "tests/engine/test_compiling.py": {
        "test_damaged_files_are_written_anew": "flipped-10-nbi",
        "test_everything_runs_and_predicts_the_same": NONE,
    },
    "tests/estimators/test_checks.py": {
        "test_every_check_but_that_of_repeated_rows_passes_with_stacks": NONE,
    },
    "tests/estimators/test_estimators.py": {
        "test_workers_share_the_cores": NONE,
    },
    "tests/evaluation/test_models.py": {
        "test_any_value_works_or_is_refused": (
            "^(compare|tune|bias_variance|load|friedman1|circle)-"
        ),
    },
    "tests/evaluation/test_tuning.py": {
        "test_stacks_of_models_have_rows_out_of_bag": NONE,
    },
    "tests/exports/test_sql.py": {
        "test_every_row_is_predicted_as_by_predict": "duckdb|^numbers|^classes",
    },
    "tests/fits/files/test_saving.py": {
        "test_a_name_that_is_changed_is_refused_or_said": "Variable",
    },
    "tests/fits/stack/test_growing.py": {
        "test_it_is_better_than_the_forest_where_few_predictors_matter": NONE,
    },
    "tests/fits/test_data_warnings.py": {
        "test_it_takes_less_than_two_hundredths_of_the_time_of_a_fit": NONE,
    },
    "tests/fits/test_explain.py": {
        "test_rows_are_routed_as_in_growth_and_one_by_one": "y-axis|k-least_squares",
    },
    "tests/fits/test_growing.py": {
        "test_a_seed_gives_the_same_forest_for_any_number_of_threads": "True-given1|False",
    },
    "tests/fits/test_missing.py": {
        "test_every_row_is_predicted": "abfg-odrf-y|abfg-odt-k|^-graf-k",
    },
    "tests/fits/test_partitions.py": {
        "test_a_lost_scheduler_is_told": NONE,
        "test_a_lost_worker_costs_only_time": NONE,
        "test_errors_of_tasks_are_those_of_rows_in_chunks": NONE,
        "test_partitions_and_memory_change_no_bit": NONE,
    },
    "tests/fits/test_predicting.py": {
        "test_numbers_and_classes_beside_one_far_value": (
            "^forest-|^boosted trees-False|^tree-False-1000000"
        ),
    },
    "tests/fits/test_pruning.py": {
        "test_a_forest_of_one_tree_on_all_rows_is_sized_as_a_tree": "^y .*size0|^c .*size1",
    },
    "tests/plots/test_legible.py": {
        "test_texts_can_be_read_on_a_dark_background": r"results_of-3\]",
        "test_texts_neither_overlap_nor_leave_the_figure": r"-3\]",
    },
    "tests/reports/survival/test_bands.py": {
        "test_more_threads_change_nothing": NONE,
    },
    "tests/reports/test_paths.py": {
        "test_on_noise_a_pruned_forest_is_not_better_than_chance": "1se",
    },
    "tests/results/survival/test_base.py": {
        "test_permutation_importance_is_that_of_the_twin": NONE,
    },
    "tests/results/survival/test_forest.py": {
        "test_copies_of_predictors_of_several_causes_and_late_rows": NONE,
        "test_predictors_that_tell_something_beat_permuted_copies": NONE,
    },
    "tests/results/test_forest.py": {
        "test_noise_is_within_its_standard_errors": NONE,
    },
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
    "tests/results/test_absent.py": {
        "test_any_value_works_or_is_refused": (
            "odt of classes|odrf of times-(?!bands)|^(?!.*(odt|odrf|odbt|graf) of)"
        ),
    },
    "tests/simulate/test_survival.py": {
        "test_censoring_tells_nothing_of_the_event": "proportional|competing",
    },
    "tests/statistics/survival/test_pseudo_values.py": {
        "test_estimates_do_not_depend_on_censoring": NONE,
    },
    "tests/statistics/test_importance.py": {
        "test_rows_that_evaluate_have_chosen_nothing": "^(?!by both|by rate)",
    },
    "tests/statistics/test_importance_tests.py": {
        "test_p_values_are_uniform": NONE,
    },
    "tests/test_docs.py": {
        "test_python_block_of_the_tour_runs": NONE,
    },
    "tests/test_kinds_of_columns.py": {
        "test_methods_that_read_a_column_read_any_kind": (
            "^(normal|small integers|nullable truth|half|dates of a zone|arrow numbers|truths)"
        ),
    },
    "tests/test_laws.py": {
        "test_to_the_bit": r"-(tree|forest|boosted)\]|Int64-guided|chunks-guided",
        "test_within_rounding": r"\b(y|three)\b",
    },
    "tests/test_laws_of_methods.py": {
        "test_methods_say_the_same_to_the_bit": "forest-y|pruned tree-two",
    },
    "tests/test_magnitudes.py": {
        "test_equal_weights_of_any_size_make_a_good_tree": r"^(1e-300|1e\+200|1000000.0)-",
        "test_small_weights_are_penalised_as_weights_of_mean_one": "^-(1000|1)-",
        "test_the_unit_of_weights_does_not_change_a_tree": (
            r"-(axis|sparse|least_squares)\]|entropy-(lda|logistic)"
        ),
    },
    "tests/test_no_warnings.py": {
        "test_methods_of_results": "^(odrf|odbt|graf|odt)-plain|^odrf-six rows-y",
        "test_methods_of_results_with_many_classes": "guided|tree of numbers",
    },
    "tests/test_one_thread.py": {
        "test_the_number_of_threads_changes_no_bit": "intervals|comparisons",
    },
    "tests/test_ordinal.py": {
        "test_a_blend_has_one_criterion": NONE,
        "test_of_two_ordered_classes_all_is_as_of_unordered": NONE,
        "test_the_median_errs_by_the_fewest_ranks": NONE,
    },
    "tests/test_progress.py": {
        "test_a_bar_reaches_its_end": "^(?!a blend|tune)",
    },
    "tests/test_random_cases.py": {
        "test_a_range_of_seeds_is_tried_in_processes_and_late_ones_are_ended": NONE,
    },
    "tests/test_rows_of_weight_zero.py": {
        "test_all_questions_are_answered": NONE,
        "test_no_bit_changes": (
            r"^(tree, surrogates|forest of (ranks|times)|boosted classes|guided|honest forest)\]"
        ),
    },
    "tests/test_scarce_rows.py": {
        "test_a_few_rows": "^(tree|forest|boosted|guided)-(y|ranks)|^(blend|runs|held out)-y",
        "test_a_few_rows_of_weight": "^(tree|forest|boosted|guided)-(y|ranks)",
        "test_a_forest_without_rows_out_of_bag": "all rows|halves-y",
        "test_models_that_make_no_error": "^(tree|forest|boosted|guided)-(y|ranks)",
        "test_new_data_without_rows": "^(tree|forest|boosted|guided)-(y|ranks)",
    },
    "tests/test_vignettes.py": {
        "test_vignette_runs_from_top_to_bottom": "getting-started|classes",
    },
    "tests/test_waiting.py": {
        "test_an_interrupt_stops_long_work_and_leaves_nothing_half_done": NONE,
    },
    "tests/text/test_summary.py": {
        "test_cards_are_a_dozen_lines": r"-3\]|results_of",
        "test_summaries_are_at_most_100_characters_wide": r"-3\]",
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
