"""What some kinds of fits have and others have not, with the reason."""

from __future__ import annotations

ALONE = "it is of forests, whose trees leave rows out: use odrf()"
ALL_ROWS = "every tree uses all rows, so that none are out of bag"
PLANES = "its planes divide all regions of a tree at once"
STEPS = "each tree corrects the sum of those before it"
ONE_OF_MANY = "it is of one tree: use tree(i)"
GUIDED_TREES = "its regions are made by planes that they share: see planes() and codes()"
BOOSTED_TREES = "its trees predict steps of scores, not the response: see splits"
ONE_TREE = "it is one tree"
AFTER_BOOSTING = "the number of rounds and the depth bound its size: use validation= or max_depth="
AFTER_GUIDED = "regions are divided as long as they are impure: use min_split= for larger leaves"
DIRECTIONS = "it combines all columns of a tree in every plane, so that there are none to compare"
NOT_SUMS = "its predictions are sums and not means of trees: use predict()"
NO_SPREAD = f"{STEPS}, so that trees do not tell how it varies; use odrf()"
ALL_ROWS_USE = f"{ALL_ROWS}; use forests of odrf()"
KNOCKOFFS = 'it compares predictors within a forest of odrf(): use importance("conditional")'
NOT_EXPORTED = f"{STEPS}, and only means of trees are exported: use odt() or odrf()"
NOT_NEAR = f"{STEPS}, so that sharing a leaf does not mean to be near: use odrf()"
SEVERAL = "it has several models"
IN_FOREST = 'it is of one forest: see part("forest").{}'
SMOOTHERS = 'its smoothers have no trees: see part("forest").{}'
OF_A_STACK = (
    f'{SEVERAL}: see part("forest").{{}}, or shap.PermutationExplainer of the package shap for all '
    "of them together"
)
NOT_ALONE = f"{SEVERAL}, whose weights belong to these trees and rows: fit again"
WEIGHED = (
    "it needs models that all draw rows anew, and smoothers and weights use all rows: see "
    'part("forest").get_prediction'
)
NOT_WRITTEN = 'its smoothers sum over the training rows: see part("forest").{}'

UPDATES_CHANGES = "they are those of update(), which it does not have"
UNSAVED = "save it by save(data=False), and load() it again"

ABSENT: dict[str, dict[str, str]] = {
    "without_data": {"GRAFResults": UNSAVED, "AutoResults": UNSAVED},
    "forest": {"AutoResults": f'{SEVERAL}; see part("forest").forest'},
    "predictive_check": {
        "ODTResults": ALONE,
        "ODBTResults": NO_SPREAD,
        "GRAFResults": ALL_ROWS_USE,
    },
    "impute": {
        "ODBTResults": NOT_NEAR,
        "AutoResults": SMOOTHERS.format("impute"),
    },
    "map": {
        "ODBTResults": NOT_NEAR,
        "AutoResults": SMOOTHERS.format("map"),
    },
    "outliers": {
        "ODBTResults": NOT_NEAR,
        "AutoResults": SMOOTHERS.format("outliers"),
    },
    "prototypes": {
        "ODBTResults": NOT_NEAR,
        "AutoResults": SMOOTHERS.format("prototypes"),
    },
    "proximity": {
        "ODBTResults": NOT_NEAR,
        "AutoResults": SMOOTHERS.format("proximity"),
    },
    "surrogate": {"ODTResults": "it is one tree itself: use prune(leaves=) for a smaller one"},
    "changes": {
        "ODBTResults": UPDATES_CHANGES,
        "GRAFResults": UPDATES_CHANGES,
        "AutoResults": UPDATES_CHANGES,
    },
    "combine": {
        "ODTResults": "two trees are no tree: grow a forest with odrf()",
        "ODBTResults": f"{STEPS}: use n_runs= for the mean of several sums",
        "AutoResults": NOT_ALONE,
    },
    "error_path": {
        "ODTResults": ONE_TREE,
        "ODBTResults": "see loss_path",
        "GRAFResults": f"{ALL_ROWS}: see growth",
        "AutoResults": IN_FOREST.format("error_path"),
    },
    "get_prediction": {
        "ODTResults": ALONE,
        "ODBTResults": NO_SPREAD,
        "GRAFResults": ALL_ROWS_USE,
        "AutoResults": WEIGHED,
    },
    "grow": {
        "ODTResults": "its options end its growth: fit again with others, or use odrf()",
        "AutoResults": NOT_ALONE,
    },
    "growth_path": {
        "ODBTResults": "see loss_path and staged_predict()",
        "GRAFResults": "see growth",
        "AutoResults": IN_FOREST.format("growth_path"),
    },
    'importance("out_of_bag")': {
        "ODTResults": ALONE,
        "ODBTResults": f"{STEPS}, so that no tree has an impurity of its own",
        "GRAFResults": ALL_ROWS,
        "AutoResults": IN_FOREST.format("importance"),
    },
    'importance("permutation")': {
        "ODTResults": ALONE,
        "ODBTResults": f"{STEPS}, so that no tree has a loss of its own",
        "GRAFResults": ALL_ROWS,
        "AutoResults": IN_FOREST.format("importance"),
    },
    'importance("knockoff")': {
        "ODTResults": KNOCKOFFS,
        "ODBTResults": KNOCKOFFS,
        "GRAFResults": KNOCKOFFS,
        "AutoResults": IN_FOREST.format("importance"),
    },
    "kinds": {
        "ODTResults": ONE_TREE,
        "ODBTResults": "its trees are of one kind",
        "GRAFResults": "its trees are of one kind",
        "AutoResults": IN_FOREST.format("kinds"),
    },
    "nodes": {
        "ODRFResults": ONE_OF_MANY,
        "ODBTResults": BOOSTED_TREES,
        "GRAFResults": GUIDED_TREES,
        "AutoResults": IN_FOREST.format("tree(i).nodes"),
    },
    "oob_error": {"ODTResults": ALONE, "GRAFResults": ALL_ROWS},
    "oob_prediction": {"ODTResults": ALONE, "GRAFResults": ALL_ROWS},
    "oob_prob": {"ODTResults": ALONE, "GRAFResults": ALL_ROWS},
    "pixel_importance": {
        "GRAFResults": DIRECTIONS,
        "AutoResults": SMOOTHERS.format("pixel_importance"),
    },
    "predict(interval=)": {
        "ODTResults": ALONE,
        "ODBTResults": NO_SPREAD,
        "GRAFResults": ALL_ROWS,
    },
    'predict(type="quantile")': {
        "ODTResults": "the rows of a leaf have chosen it, so that they are too much alike",
        "ODBTResults": 'its leaves hold steps; for medians use loss="absolute"',
        "GRAFResults": "its leaves are pure by default, so that their responses do not vary",
    },
    "projection_importance": {
        "ODBTResults": "gains of different rounds are on different scales: see splits",
        "GRAFResults": DIRECTIONS,
        "AutoResults": SMOOTHERS.format("projection_importance"),
    },
    "prune": {
        "ODBTResults": AFTER_BOOSTING,
        "GRAFResults": AFTER_GUIDED,
        "AutoResults": IN_FOREST.format("prune"),
    },
    "pruning_path": {
        "ODBTResults": AFTER_BOOSTING,
        "GRAFResults": AFTER_GUIDED,
        "AutoResults": IN_FOREST.format("pruning_path"),
    },
    "row_predictor": {
        "ODBTResults": NOT_SUMS,
        "AutoResults": NOT_WRITTEN.format("row_predictor"),
    },
    "rules": {
        "ODRFResults": ONE_OF_MANY,
        "ODBTResults": BOOSTED_TREES,
        "GRAFResults": GUIDED_TREES,
        "AutoResults": IN_FOREST.format("tree(i).rules"),
    },
    "select_variables": {
        "ODTResults": ALONE,
        "ODBTResults": "it needs out-of-bag rows of every tree: use odrf()",
        "GRAFResults": ALL_ROWS,
        "AutoResults": IN_FOREST.format("select_variables"),
    },
    "shap": {"AutoResults": OF_A_STACK.format("shap")},
    "shap_interactions": {"AutoResults": OF_A_STACK.format("shap_interactions")},
    "splits": {
        "GRAFResults": GUIDED_TREES,
        "AutoResults": SMOOTHERS.format("splits"),
    },
    "staged_predict": {
        "ODTResults": "use prune(leaves=) for smaller trees",
        "ODRFResults": 'its trees have no order: see error_path and predict(type="trees")',
        "GRAFResults": 'its trees have no order: see predict(type="trees")',
        "AutoResults": 'it is of boosted trees: see part("boosted runs").staged_predict',
    },
    "strength_correlation": {
        "ODTResults": ONE_TREE,
        "ODBTResults": f"{STEPS}, so that they have no strength of their own",
        "GRAFResults": ALL_ROWS,
        "AutoResults": IN_FOREST.format("strength_correlation"),
    },
    "to_c": {
        "ODBTResults": NOT_EXPORTED,
        "AutoResults": NOT_WRITTEN.format("to_c"),
    },
    "to_dot": {
        "ODRFResults": ONE_OF_MANY,
        "ODBTResults": BOOSTED_TREES,
        "GRAFResults": GUIDED_TREES,
        "AutoResults": IN_FOREST.format("tree(i).to_dot"),
    },
    "to_onnx": {
        "ODBTResults": NOT_EXPORTED,
        "AutoResults": NOT_WRITTEN.format("to_onnx"),
    },
    "to_python": {
        "ODBTResults": NOT_EXPORTED,
        "AutoResults": NOT_WRITTEN.format("to_python"),
    },
    "to_sql": {
        "ODRFResults": ONE_OF_MANY,
        "ODBTResults": NOT_EXPORTED,
        "GRAFResults": "its trees are many: use to_python()",
        "AutoResults": IN_FOREST.format("tree(i).to_sql"),
    },
    "tree": {
        "ODTResults": ONE_TREE,
        "ODBTResults": BOOSTED_TREES,
        "GRAFResults": GUIDED_TREES,
        "AutoResults": IN_FOREST.format("tree"),
    },
    "update": {
        "ODBTResults": f"{STEPS}, so that new rows would change all of them: fit again",
        "GRAFResults": f"{PLANES}, so that new rows would change all of them: fit again",
        "AutoResults": NOT_ALONE,
    },
}
"""For each method or attribute, the classes that lack it, and why."""

BY_ESTIMAND = 'it predicts curves: use estimand("survival", time=...), which has it for one number'
OF_A_FOREST = (
    'it predicts curves: use estimand("survival", time=...) of a forest of odrf(), which has it '
    "for one number"
)
NOT_OF_TIMES = "it is of responses that are numbers or classes: see {}"
FOR_CLASSES = "it is for classes: see score(), calibration() and roc()"
OF_ONE_NUMBER = (
    *("ale", "comparisons", "explain", "fittedvalues", "ice", "impute", "interactions", "map"),
    *("outliers", "partial", "predictions", "prototypes", "proximity", "r_squared", "resid"),
    *("row_predictor", "shap", "shap_interactions", "slopes", "surrogate", "to_c", "to_onnx"),
    *("to_python", "training_error"),
)
"""What forests of one number of curves have."""
OF_CLASSES = dict.fromkeys(
    (
        *("calibrate", "classes", "confusion_matrix", "discrimination", "estimate_priors"),
        "mean_rank_error",
    ),
    FOR_CLASSES,
)
OF_LEAVES_WITH_CURVES = {
    **OF_CLASSES,
    "changes": UPDATES_CHANGES,
    "pixel_importance": NOT_OF_TIMES.format("importance()"),
    "projection_importance": NOT_OF_TIMES.format("importance()"),
}
ABSENT_OF_TIMES: dict[str, dict[str, str]] = {
    "SurvivalForestResults": {
        **dict.fromkeys((*OF_ONE_NUMBER, "oob_error", "oob_prediction", "oob_prob"), BY_ESTIMAND),
        **OF_LEAVES_WITH_CURVES,
        "get_prediction": "it predicts curves: see bands()",
        "growth_path": NOT_OF_TIMES.format("error_path"),
        "predictive_check": "it is of numbers: see calibration()",
        "prune": "use a larger min_leaf= for smaller trees",
        "pruning_path": "use a larger min_leaf= for smaller trees",
        "staged_predict": "its trees have no order: see error_path",
        "strength_correlation": "it is of squared errors of numbers and classes: see score()",
        "surrogates": "they are of one tree: use odt()",
        "to_dot": "it is of one tree: see tree(i).plot()",
        "to_sql": "it predicts curves, which are no column of a table: see tree(i).rules()",
        "update": "fit again for more rows; grow() adds trees",
    },
    "SurvivalTreeResults": {
        **dict.fromkeys(OF_ONE_NUMBER, OF_A_FOREST),
        **OF_LEAVES_WITH_CURVES,
        "bands": "they compare the trees of a forest: use odrf()",
        "estimand": "it is of forests: use odrf()",
        "get_prediction": "it predicts curves: see bands() of a forest of odrf()",
        "predictive_check": "it is of numbers: see calibration()",
        "growth_path": "see pruning_path(), by the deviance or by log-rank statistics",
        "oob_scores": "see score(), of the rows that grew the tree, or score(newdata)",
        "to_dot": "see plot() and rules()",
        "to_sql": "it predicts curves, which are no column of a table: see rules()",
        "tree": ONE_TREE,
        "update": "fit again for more rows",
    },
    "SurvivalBoostedResults": {
        **dict.fromkeys(
            (*OF_ONE_NUMBER, "bands", "estimand"),
            f"{STEPS}: use forests of odrf()",
        ),
        **OF_CLASSES,
        "calibrate": "rows that did not grow its trees calibrate the curves: use n_runs=10 or "
        "validation=0.2",
        **dict.fromkeys(
            ("oob_error", "oob_prediction", "oob_prob"), "see score() and predict(), with n_runs="
        ),
        "error_path": "see loss_path",
        "growth_path": "see loss_path",
        "oob_scores": "see score(), which is of rows out of bag with n_runs=",
        "pixel_importance": NOT_OF_TIMES.format("importance()"),
        "staged_predict": NOT_OF_TIMES.format("loss_path"),
        "select_variables": "it needs out-of-bag rows of every tree: use odrf()",
        "surrogates": "they are of one tree: use odt()",
        "tree": BOOSTED_TREES,
        "update": f"{STEPS}, so that new rows would change all of them: fit again",
    },
}
"""By the results for times to an event what others have, with the way out."""
GONE = {
    "drift_path": "compare predict(newdata) with the responses before each update(newdata)",
    **dict.fromkeys(
        ("compact", "compaction"),
        "use without_data() for a smaller fit, and save(data=False) for a smaller file",
    ),
}
"""What no fit has any more, with what to use instead."""
SAME_FUNCTION = {
    "StreamedResults": "ODRFResults",
    "SurvivalTreeResults": "ODTResults",
    "SurvivalForestResults": "ODRFResults",
    "SurvivalBoostedResults": "ODBTResults",
}
"""By other results of a function those that it has for numbers and classes of rows in memory."""


def why_unsupported(kind: str, name: str) -> str | None:
    """Return why a class of results lacks what others have; None if nothing is known of the name.

    Results for times to an event, or of rows in chunks, lack what those of the same function lack
    for other responses and rows, for the same reason if they have none of their own.
    """
    own = GONE.get(name) or ABSENT_OF_TIMES.get(kind, {}).get(name)
    return own or ABSENT.get(name, {}).get(SAME_FUNCTION.get(kind, kind))
