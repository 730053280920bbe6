"""What arguments are called in other packages, for those who know them from there."""

from __future__ import annotations

from collections.abc import Collection

from odrf.errors import nearest

__all__ = ["suggestion"]

# rpart, randomForest, ranger and grf of R; scikit-learn, XGBoost and LightGBM.
ELSEWHERE: dict[str, tuple[str, ...]] = {
    "random_state": ("seed",),
    "seed": ("random_state",),
    "sample_weight": ("weights",),
    "case_weights": ("weights",),
    "n_estimators": ("n_trees",),
    "nrounds": ("n_trees",),
    "num_boost_round": ("n_trees",),
    "max_iter": ("n_trees",),
    "max_features": ("n_singles", "subspace", "predictor_fraction"),
    "mtry": ("n_singles", "subspace"),
    "colsample_bytree": ("predictor_fraction",),
    "min_samples_leaf": ("min_leaf",),
    "min_child_samples": ("min_leaf",),
    "min_node_size": ("min_leaf", "min_split"),
    "nodesize": ("min_leaf", "min_split"),
    "minbucket": ("min_leaf",),
    "minsplit": ("min_split", "min_leaf"),
    "min_samples_split": ("min_split", "min_leaf"),
    "min_child_weight": ("min_hessian",),
    "max_leaf_nodes": ("max_leaves",),
    "num_leaves": ("max_leaves",),
    "cp": ("alpha",),
    "ccp_alpha": ("alpha",),
    "bootstrap": ("resample",),
    "replace": ("resample",),
    "max_samples": ("sample_fraction",),
    "subsample": ("sample_fraction",),
    "bagging_fraction": ("sample_fraction",),
    "shrinkage": ("learning_rate",),
    "eta": ("learning_rate",),
    "reg_lambda": ("l2",),
    "splitrule": ("criterion",),
    "early_stopping_rounds": ("patience",),
    "validation_fraction": ("validation",),
    "base_margin": ("offset",),
    "n_threads": ("n_jobs",),
    "num_threads": ("n_jobs",),
    "nthread": ("n_jobs",),
    "na_action": ("missing",),
    "verbose": ("progress",),
    "time_limit": ("budget",),
    "kind": ("type",),
    "newdata": ("data",),
    "conf_level": ("level",),
    "confidence_level": ("level",),
}
# Of these the value is another one, too: 1 less the level.
COMPLEMENTS: dict[str, str] = {"alpha": "level"}
# What some functions or their results have, or had, and others have not.
OF_SOME: dict[str, str] = {
    **dict.fromkeys(
        ("interval", "level"),
        "intervals of numbers are those of odrf.odrf and odrf.auto; those of curves are bands()",
    ),
    "subset": "give these rows of the data, as in data[rows]",
    "keep": "update() keeps all rows: fit again to those that you want to keep, as in data[-n:]",
    "compact": "use without_data() of the fit, which leaves out the training rows",
    **dict.fromkeys(("se", "se_fit"), "standard errors are those of odrf.odrf: get_prediction()"),
}


def suggestion(name: str, choices: Collection[str]) -> str:
    """Return which of the `choices` an unknown `name` may mean, for the end of a message.

    It is what `name` means elsewhere, else the choice that is spelled most alike; ``""`` if there
    is none.  Where the value differs, too, it says how.

    Examples
    --------
    >>> suggestion("random_state", ["data", "seed"])
    "; did you mean 'seed'?"
    >>> suggestion("alpha", ["interval", "level"])
    ': use level=, which is 1 - alpha'
    >>> suggestion("interval", ["data", "type"])
    ': intervals of numbers are those of odrf.odrf and odrf.auto; those of curves are bands()'
    """
    complement = COMPLEMENTS.get(name)
    if complement in choices:
        return f": use {complement}=, which is 1 - {name}"
    name = name.replace(".", "_")
    found = ELSEWHERE.get(name, ())
    here = next((each for each in found if each in choices), None)
    if here is not None:
        return f"; did you mean {here!r}?"
    return f": {OF_SOME[name]}" if name in OF_SOME else nearest(name, choices)
