"""Names of other packages: arguments and parts of fits, and what to write here in their place.

It is the one table of such names: errors answer with it, and the page "From R to odrf" shows it.
It is loaded when a name is not known.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import NamedTuple


class Elsewhere(NamedTuple):
    """A name of other packages.

    `packages`: whose it is.  `here`: the names here with the same meaning, the best one first, each
    with what differs in its value, or ``""``.  `write`: what to write where none of these is known,
    with code in backticks.
    """

    packages: str
    here: Mapping[str, str] = {}
    write: str = ""

    def answer(self, choices: Collection[str]) -> str:
        """Return the end of a message: the first name `here` among the `choices`, else `write`.

        Examples
        --------
        >>> NAMES["minsplit"].answer(["min_split", "min_leaf"])
        "; did you mean 'min_split'?"
        >>> NAMES["cptable"].answer(["importance", "pruning_path"])
        ': use fit.pruning_path().table'
        """
        for name, note in self.here.items():
            if name in choices:
                return f"; did you mean {name!r}?" + (f" {note}" if note else "").replace("`", "")
        if self.write:
            return f": {self.write}".replace("`", "")
        return f": it is {' or '.join(self.here)} of other functions or fits"

    def shown(self) -> str:
        """Return the entry as the page shows it, in Markdown."""
        names = [
            f"`{name}`" + (f" ({note.rstrip('.')})" if note else "")
            for name, note in self.here.items()
        ]
        return "; ".join([*names, *filter(None, [self.write])])


def entry_of(name: str, of_fit: bool = False) -> Elsewhere | None:
    """Return the entry of a name, whatever its capitals, with dots or underscores; else None.

    Of a part `of_fit`, such as ``fit.err.rate``, Python asks for what is before the dot.

    Examples
    --------
    >>> entry_of("num.trees").here
    {'n_trees': ''}
    >>> entry_of("err", of_fit=True).write
    'use `forest.error_path`'
    """
    folded = _folded(name)
    if of_fit:
        return _PARTS.get(folded) or _NAMES.get(folded)
    return _NAMES.get(folded)


def _folded(name: str) -> str:
    return name.replace(".", "_").casefold()


TREES, RF, RANGER, PARTY = "rpart", "randomForest", "ranger", "party"
GRF, AORSF, SURVIVAL, SKLEARN = "grf", "aorsf", "survival", "scikit-learn"
BOOSTERS = "XGBoost, LightGBM"

# What several entries say.
_ROWS = "give these rows of the data, as in `data[rows]`"
_PATH = "use `fit.pruning_path().table`"
_PROXIMITY = "use `fit.proximity()`"
_NO_TEST = "no tests stop the growth here; `penalty=` asks for a smallest gain"
_PRUNED = "of a fit use `tree.pruning_path(cv=10)`"
_KEPT = "leave it out: a fit keeps what it needs, and `fit.without_data()` is without the rows"
_NO_TEST_ROWS = "predict them: `fit.predict(new)`"
_COSTS = (
    "predictors have no costs here: leave dear ones out, as in `y ~ . - a`, and compare the fits"
)
_LOSSES = (
    "use `class_weights=`, or choose the class with the least mean loss: "
    '`(fit.predict(new, type="prob") @ loss).idxmin(axis=1)`'
)
_SPLIT_ROWS = "It counts the rows of a leaf; rpart splits nodes of three times as many."
_STOPPED = "It counts the rows of a leaf; in R nodes of so many rows are not split."
_GROUPED = "columns of text and categories are factors: no option is needed"
_PARTS_OF_CONTROL = (
    "its parts are arguments here: `min_leaf=`, `max_depth=`, `alpha=`, `max_leaves=`"
)


def _same(names: str, entry: Elsewhere) -> dict[str, Elsewhere]:
    return dict.fromkeys(names.split(), entry)


ARGUMENTS: dict[str, Elsewhere] = {
    # Rows and columns
    **_same("sample_weight", Elsewhere(SKLEARN, {"weights": ""})),
    **_same("case.weights", Elsewhere(RANGER, {"weights": ""})),
    **_same("sample.weights", Elsewhere(GRF, {"weights": ""})),
    "subset": Elsewhere(f"{TREES}, {RF}, {PARTY}, {SURVIVAL}", write=_ROWS),
    "na.action": Elsewhere(
        f"{TREES}, {RF}, {RANGER}, {AORSF}",
        {"missing": ""},
        'new rows are treated as `missing=` of the fit said: `"drop"` is na.omit, `"raise"` is '
        'na.fail, `"surrogate"` is na.rpart, `"median"` is na.roughfix',
    ),
    **_same(
        "usesurrogate maxsurrogate surrogatestyle",
        Elsewhere(f"{TREES}, {PARTY}", {"missing": 'Write `missing="surrogate"`.'}),
    ),
    **_same("clusters", Elsewhere(GRF, {"groups": ""})),
    **_same("cluster", Elsewhere(SURVIVAL, {"groups": ""})),
    **_same("respect.unordered.factors", Elsewhere(RANGER, write=_GROUPED)),
    **_same("group_factors", Elsewhere(AORSF, write=_GROUPED)),
    **_same("categorical_features", Elsewhere(SKLEARN, write=_GROUPED)),
    "base_margin": Elsewhere(BOOSTERS, {"offset": ""}),
    **_same("xtest ytest", Elsewhere(RF, write=_NO_TEST_ROWS)),
    # Trees
    "minsplit": Elsewhere(f"{TREES}, {PARTY}", {"min_split": "", "min_leaf": _SPLIT_ROWS}),
    "min_samples_split": Elsewhere(SKLEARN, {"min_split": "", "min_leaf": _SPLIT_ROWS}),
    **_same("split_min_obs", Elsewhere(AORSF, {"min_split": "", "min_leaf": _SPLIT_ROWS})),
    "minbucket": Elsewhere(f"{TREES}, {PARTY}", {"min_leaf": ""}),
    **_same("min.bucket", Elsewhere(RANGER, {"min_leaf": ""})),
    **_same("min_samples_leaf", Elsewhere(SKLEARN, {"min_leaf": ""})),
    **_same("leaf_min_obs", Elsewhere(AORSF, {"min_leaf": ""})),
    **_same("min_child_samples", Elsewhere(BOOSTERS, {"min_leaf": ""})),
    "nodesize": Elsewhere(RF, {"min_leaf": _STOPPED, "min_split": ""}),
    "min.node.size": Elsewhere(f"{RANGER}, {GRF}", {"min_leaf": _STOPPED, "min_split": ""}),
    "maxdepth": Elsewhere(f"{TREES}, {PARTY}, ODRF", {"max_depth": ""}),
    "max.depth": Elsewhere(RANGER, {"max_depth": ""}),
    "maxnodes": Elsewhere(RF, {"max_leaves": ""}),
    "max_leaf_nodes": Elsewhere(SKLEARN, {"max_leaves": ""}),
    "num_leaves": Elsewhere(BOOSTERS, {"max_leaves": ""}),
    "min_child_weight": Elsewhere(BOOSTERS, {"min_hessian": ""}),
    "min_impurity_decrease": Elsewhere(SKLEARN, {"penalty": 'It is "aic" or "bic".'}),
    "cp": Elsewhere(TREES, {"alpha": "It is cp times the error of the root."}),
    "ccp_alpha": Elsewhere(SKLEARN, {"alpha": ""}),
    **_same("mincriterion", Elsewhere(PARTY, write=_NO_TEST)),
    **_same("teststat testtype nresample", Elsewhere(PARTY, write=_NO_TEST)),
    "xval": Elsewhere(TREES, {"cv": ""}, _PRUNED),
    "parms": Elsewhere(
        TREES,
        write="use `criterion=` for its split; for prior and loss `class_weights=`, or "
        "`fit.predict(new, priors=…)`",
    ),
    "prior": Elsewhere(
        TREES,
        {
            "priors": "",
            "class_weights": "They are factors: a prior, divided by the share of the class.",
        },
    ),
    "classwt": Elsewhere(
        RF, {"class_weights": "They are factors: a prior, divided by the share of the class."}
    ),
    **_same("class.weights", Elsewhere(RANGER, {"class_weights": ""})),
    **_same("class_weight", Elsewhere(SKLEARN, {"class_weights": ""})),
    "loss": Elsewhere(TREES, write=_LOSSES),
    "cost": Elsewhere(TREES, write=_COSTS),
    "control": Elsewhere(f"{TREES}, {PARTY}, {AORSF}", write=_PARTS_OF_CONTROL),
    "split": Elsewhere(f"{TREES}, ODRF", {"criterion": ""}),
    "splitrule": Elsewhere(RANGER, {"criterion": 'Its "extratrees" is `projection="extra"`.'}),
    "split_rule": Elsewhere(AORSF, {"criterion": ""}),
    "splitter": Elsewhere(SKLEARN, {"projection": 'Its "random" is `projection="extra"`.'}),
    "num.random.splits": Elsewhere(RANGER, {"n_thresholds": ""}),
    "n_split": Elsewhere(AORSF, {"n_thresholds": ""}),
    # Forests
    "ntree": Elsewhere(f"{RF}, {PARTY}", {"n_trees": ""}),
    "num.trees": Elsewhere(f"{RANGER}, {GRF}", {"n_trees": ""}),
    "n_tree": Elsewhere(AORSF, {"n_trees": ""}),
    "n_estimators": Elsewhere(SKLEARN, {"n_trees": ""}),
    "max_iter": Elsewhere(SKLEARN, {"n_trees": ""}),
    **_same("nrounds num_boost_round", Elsewhere(BOOSTERS, {"n_trees": ""})),
    "mtry": Elsewhere(
        f"{RF}, {RANGER}, {PARTY}, {GRF}, {AORSF}",
        {
            "n_singles": "Of oblique splits, as those of aorsf, it is `subset_size=`.",
            "subspace": "",
        },
    ),
    "max_features": Elsewhere(SKLEARN, {"n_singles": "", "subspace": "", "predictor_fraction": ""}),
    "colsample_bytree": Elsewhere(BOOSTERS, {"predictor_fraction": ""}),
    "replace": Elsewhere(
        f"{RF}, {RANGER}, {PARTY}",
        {"resample": 'TRUE is `resample="bootstrap"`, FALSE `resample="subsample"`.'},
    ),
    "sample_with_replacement": Elsewhere(
        AORSF, {"resample": 'TRUE is `resample="bootstrap"`, FALSE `resample="subsample"`.'}
    ),
    "bootstrap": Elsewhere(SKLEARN, {"resample": 'False is `resample="none"`.'}),
    "sampsize": Elsewhere(RF, {"sample_fraction": "It is a share of the rows."}),
    "fraction": Elsewhere(PARTY, {"sample_fraction": ""}),
    "max_samples": Elsewhere(SKLEARN, {"sample_fraction": ""}),
    **_same("bagging_fraction", Elsewhere(BOOSTERS, {"sample_fraction": ""})),
    "honesty": Elsewhere(GRF, {"honest": ""}),
    "ci.group.size": Elsewhere(GRF, {"inference": "Write `inference=True`."}),
    "cutoff": Elsewhere(
        RF,
        write='divide the probabilities by it: `(fit.predict(new, type="prob") / '
        "cutoff).idxmax(axis=1)`",
    ),
    **_same("proximity oob.prox", Elsewhere(RF, write=_PROXIMITY)),
    **_same("localImp", Elsewhere(RF, write="use `forest.shap(new)`")),
    **_same("local.importance", Elsewhere(RANGER, write="use `forest.shap(new)`")),
    "nPerm": Elsewhere(RF, write='use `forest.importance(type="permutation")`'),
    "importance": Elsewhere(
        f"{RF}, {RANGER}, {AORSF}", write="leave it out: every fit has `fit.importance()`"
    ),
    **_same("keep.forest keep.inbag", Elsewhere(RF, write=_KEPT)),
    **_same("write.forest save.memory", Elsewhere(RANGER, write=_KEPT)),
    "attach_data": Elsewhere(AORSF, write=_KEPT),
    "probability": Elsewhere(
        RANGER, write='leave it out: every fit of classes has `fit.predict(new, type="prob")`'
    ),
    "quantreg": Elsewhere(
        RANGER, write='leave it out, and use `forest.predict(new, type="quantile")`'
    ),
    "tune.parameters": Elsewhere(GRF, write='use `tune("y ~ .", data, {"min_leaf": […]})`'),
    "oob_score": Elsewhere(SKLEARN, write="leave it out: a forest has `forest.oob_error`"),
    "warm_start": Elsewhere(SKLEARN, write="use `forest.grow(k)`"),
    "dependent.variable.name": Elsewhere(RANGER, write="write it into the formula, as in `y ~ .`"),
    # Boosting
    **_same("shrinkage eta", Elsewhere(BOOSTERS, {"learning_rate": ""})),
    "subsample": Elsewhere(SKLEARN, {"sample_fraction": ""}),
    "l2_regularization": Elsewhere(SKLEARN, {"l2": ""}),
    "reg_lambda": Elsewhere(BOOSTERS, {"l2": ""}),
    "validation_fraction": Elsewhere(SKLEARN, {"validation": ""}),
    "early_stopping": Elsewhere(SKLEARN, {"validation": "It is a share of the rows, as 0.2."}),
    "n_iter_no_change": Elsewhere(SKLEARN, {"patience": ""}),
    "early_stopping_rounds": Elsewhere(BOOSTERS, {"patience": ""}),
    # Computing
    "random_state": Elsewhere(SKLEARN, {"seed": ""}),
    "tree_seeds": Elsewhere(AORSF, {"seed": "", "random_state": ""}),
    "num.threads": Elsewhere(f"{RANGER}, {GRF}", {"n_jobs": ""}),
    "n_thread": Elsewhere(AORSF, {"n_jobs": ""}),
    **_same("n_threads nthread", Elsewhere(BOOSTERS, {"n_jobs": ""})),
    "verbose": Elsewhere(f"{RANGER}, {SKLEARN}", {"progress": ""}),
    "verbose_progress": Elsewhere(AORSF, {"progress": ""}),
    "do.trace": Elsewhere(RF, {"progress": ""}),
    # The package ODRF of R
    "ntrees": Elsewhere("ODRF", {"n_trees": ""}),
    "MinLeaf": Elsewhere("ODRF", {"min_leaf": ""}),
    "numNode": Elsewhere("ODRF", {"max_leaves": "It counts leaves."}),
    "NodeRotateFun": Elsewhere("ODRF", {"projection": ""}),
    "TreeRandRotate": Elsewhere("ODRF", {"projection": 'Write `projection="rotation"`.'}),
    "lambda": Elsewhere("ODRF", {"penalty": ""}),
    "ratOOB": Elsewhere("ODRF", {"sample_fraction": "It is 1 - ratOOB."}),
    "replacement": Elsewhere("ODRF", {"resample": ""}),
    **_same("Xcat catLabel", Elsewhere("ODRF", write=_GROUPED)),
    "time_limit": Elsewhere("AutoGluon", {"budget": ""}),
    # Predictions
    "estimate.variance": Elsewhere(GRF, write='use `forest.predict(new, interval="confidence")`'),
    "new_data": Elsewhere(AORSF, {"newdata": ""}),
    "pred_type": Elsewhere(AORSF, {"type": ""}),
    "pred_horizon": Elsewhere(AORSF, {"times": ""}),
    "conf.level": Elsewhere("R", {"level": ""}),
    "confidence_level": Elsewhere("SciPy", {"level": ""}),
}
PARTS: dict[str, Elsewhere] = {
    "cptable": Elsewhere(TREES, write=_PATH),
    "where": Elsewhere(f"{TREES}, {PARTY}", write='use `tree.predict(type="leaf")`'),
    "frame": Elsewhere(TREES, {"nodes": ""}),
    "variable.importance": Elsewhere(f"{TREES}, {RANGER}", write="use `fit.importance()`"),
    "err.rate": Elsewhere(RF, {"error_path": ""}, "use `forest.error_path`"),
    "mse": Elsewhere(RF, {"error_path": ""}, "use `forest.error_path`"),
    "rsq": Elsewhere(RF, {"r_squared": ""}),
    "r.squared": Elsewhere(RANGER, {"r_squared": ""}),
    "predicted": Elsewhere(RF, {"oob_prediction": "", "fittedvalues": ""}),
    "votes": Elsewhere(RF, {"oob_prob": ""}),
    "confusion": Elsewhere(RF, {"confusion_matrix": ""}),
    "confusion.matrix": Elsewhere(RANGER, {"confusion_matrix": ""}),
    "prediction.error": Elsewhere(RANGER, {"oob_error": ""}),
    "unique.death.times": Elsewhere(RANGER, {"event_times": ""}),
    "chf": Elsewhere(RANGER, write='use `fit.predict(new, type="hazard")`'),
    "survival": Elsewhere(RANGER, write='use `fit.predict(new, type="survival")`'),
    "linear.predictors": Elsewhere(SURVIVAL, write='use `fit.predict(new, type="link")`'),
    "concordance": Elsewhere(SURVIVAL, {"score": ""}),
    "residuals": Elsewhere("R", {"resid": ""}),
    "fitted": Elsewhere("R", {"fittedvalues": ""}),
    "feature_importances_": Elsewhere(SKLEARN, {"importance": "It is a method."}),
    "oob_score_": Elsewhere(SKLEARN, {"oob_error": ""}),
    "oob_prediction_": Elsewhere(SKLEARN, {"oob_prediction": ""}),
    "oob_decision_function_": Elsewhere(SKLEARN, {"oob_prob": ""}),
    "estimators_": Elsewhere(SKLEARN, {"tree": "It is a method: `forest.tree(0)`."}),
    "tree_": Elsewhere(SKLEARN, {"nodes": "", "forest": ""}),
    "train_score_": Elsewhere(SKLEARN, {"loss_path": ""}),
    "n_iter_": Elsewhere(SKLEARN, {"n_rounds": ""}),
    "cost_complexity_pruning_path": Elsewhere(SKLEARN, {"pruning_path": ""}),
    "predict_proba": Elsewhere(SKLEARN, write='use `fit.predict(new, type="prob")`'),
    "staged_predict_proba": Elsewhere(SKLEARN, write="use `fit.to_sklearn()`, which has it"),
    "decision_function": Elsewhere(SKLEARN, write='use `boosted.predict(new, type="link")`'),
    "apply": Elsewhere(SKLEARN, write='use `fit.predict(new, type="leaf")`'),
    "decision_path": Elsewhere(SKLEARN, write="use `fit.to_sklearn()`, which has it"),
    "get_n_leaves": Elsewhere(SKLEARN, {"n_leaves": "It is no method."}),
    "partialPlot": Elsewhere(RF, write='use `fit.partial("x").plot()`'),
    "rfImpute": Elsewhere(RF, write="use `fit.impute()`"),
    "varImpPlot": Elsewhere(RF, write='use `fit.plot("importance")`'),
    "getTree": Elsewhere(RF, {"tree": "Trees are counted from 0."}),
    **_same("printcp plotcp", Elsewhere(TREES, {"pruning_path": ""})),
}

NAMES = {**ARGUMENTS, **PARTS}
_NAMES = {_folded(name): entry for name, entry in NAMES.items()}
_PARTS = {
    **{_folded(name.partition(".")[0]): entry for name, entry in PARTS.items()},
    **{_folded(name): entry for name, entry in PARTS.items()},
}


def as_markdown() -> str:
    """Return the table of all names, as the page "From R to odrf" shows it."""
    rows = sorted(NAMES.items(), key=lambda item: item[0].casefold())
    lines = [f"| `{name}` | {entry.packages} | {entry.shown()} |" for name, entry in rows]
    return "\n".join(["| name | of | here |", "|---|---|---|", *lines])
