"""The tables of the page vignettes/results.md: what each kind of fit has, and why some lack it.

``python tests/tables_of_results.py`` writes them into the page.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable
from pathlib import Path

import odrf
from odrf.results import GRAFResults, ODRFResults, ODTResults
from odrf.results.absent import NEED, why_absent
from odrf.results.boosted import ODBTResults
from odrf.results.stack import AutoResults
from odrf.results.survival.boosted import SurvivalBoostedResults
from odrf.results.survival.forest import SurvivalForestResults
from odrf.results.survival.tree import SurvivalTreeResults

__all__ = [
    "CALLS_ABSENT",
    "CLASSES",
    "FUNCTIONS",
    "OF_TIMES",
    "OPTIONS_ABSENT",
    "PAGE",
    "absent",
    "marked",
    "members",
    "tables",
]

PAGE = Path(__file__).parents[1] / "vignettes" / "results.md"
CLASSES = {
    "odt": ODTResults, "odrf": ODRFResults, "odbt": ODBTResults, "graf": GRAFResults,
    "auto": AutoResults,
}  # fmt: skip
OF_TIMES = {
    "odt": SurvivalTreeResults, "odrf": SurvivalForestResults, "odbt": SurvivalBoostedResults,
}  # fmt: skip
"""What the functions give for a survival time."""
FUNCTIONS = ("odt", "odrf", "odbt", "graf")
"""Those that grow one model; `auto` has few options of its own."""
HAS, LACKS = "yes", "–"
ALONE = "it is of forests, whose trees leave rows out: use odrf()"
ALL_ROWS = "every tree uses all rows, so that none are out of bag"
IN_FOREST = 'it is of one forest: see part("forest").importance'
KNOCKOFFS = 'it compares predictors within a forest of odrf(): use importance("conditional")'
CORRECTS = "each tree corrects the sum of those before it"
CALLS_ABSENT: dict[str, dict[str, str]] = {
    'importance("knockoff")': {
        "odt": KNOCKOFFS, "odbt": KNOCKOFFS, "graf": KNOCKOFFS, "auto": IN_FOREST,
    },
    'importance("out_of_bag")': {
        "odt": ALONE, "odbt": f"{CORRECTS}, so that no tree has an impurity of its own",
        "graf": ALL_ROWS, "auto": IN_FOREST,
    },
    'importance("permutation")': {
        "odt": ALONE, "odbt": f"{CORRECTS}, so that no tree has a loss of its own",
        "graf": ALL_ROWS, "auto": IN_FOREST,
    },
    "predict(interval=)": {
        "odt": ALONE, "graf": ALL_ROWS,
        "odbt": f"{CORRECTS}, so that trees do not tell how it varies; use odrf()",
    },
    'predict(type="quantile")': {
        "odt": "the rows of a leaf have chosen it, so that they are too much alike",
        "odbt": 'its leaves hold steps; for medians use loss="absolute"',
        "graf": "its leaves are pure by default, so that their responses do not vary",
    },
}  # fmt: skip
"""For calls with some arguments, the functions whose results refuse them, and why."""

ONE_TREE = "one tree, of all rows"
SUM = "a sum of trees that are small by `max_depth` and are not pruned"
NO_DRAWS = "trees depend on each other, so that they do not tell how the sum varies"
STEPS = "trees are fitted to steps of the loss"
PLANES = "planes of all columns of a random subspace divide all regions at once"
NOT_GUIDED = {
    "projection", "subset_size", "n_projections", "n_singles", "n_thresholds", "split_search",
    "criterion", "penalty",
}  # fmt: skip
OPTIONS_ABSENT: dict[str, dict[str, str]] = {
    **{name: {"graf": PLANES} for name in sorted(NOT_GUIDED)},
    "alpha": {"odbt": SUM, "graf": "regions are divided until they are pure"},
    "batched": dict.fromkeys(("odt", "odrf", "odbt"), "a matter of planes"),
    "device": dict.fromkeys(("odt", "odrf", "odbt"), "a matter of planes"),
    "blend": {
        "odt": ONE_TREE, "odbt": "a mapping `projection=` mixes families in every tree",
        "graf": "one kind of planes",
    },
    "cause": {
        "odbt": "one of several causes: `Surv(time, event == \"…\")`",
        "graf": PLANES,
    },
    "criterion": {"odbt": f"{STEPS}, by squared error", "graf": PLANES},
    "honest": {"odbt": STEPS, "graf": "all rows divide regions and give their values"},
    "inference": {
        "odt": "one tree has no standard errors", "odbt": NO_DRAWS,
        "graf": "every tree uses all rows",
    },
    "backend": {
        "odt": "a tree grows in threads", "odbt": "each tree needs the ones before it",
        "graf": "trees grow in threads",
    },
    "l2": dict.fromkeys(("odt", "odrf", "graf"), "leaves are means, not steps"),
    "leaf_values": dict.fromkeys(("odt", "odrf", "graf"), "leaves are means"),
    "learning_rate": dict.fromkeys(("odt", "odrf", "graf"), "no steps are added"),
    "loss": dict.fromkeys(("odt", "odrf", "graf"), "see `criterion`; leaves are means"),
    "max_depth": {"graf": "see `min_split`"},
    "max_leaves": {"graf": "see `min_split`"},
    "min_hessian": dict.fromkeys(("odt", "odrf", "graf"), "leaves are means, not steps"),
    "min_leaf": {"graf": "see `min_split`: a plane may leave one row on a side"},
    "min_split": dict.fromkeys(("odt", "odrf", "odbt"), "see `min_leaf`"),
    "n_runs": {"odt": ONE_TREE, "odrf": "see `n_trees`", "graf": "see `n_trees`"},
    "n_trees": {"odt": ONE_TREE},
    "objective": dict.fromkeys(("odt", "odbt", "graf"), "it chooses the kinds of trees of a blend"),
    "offset": dict.fromkeys(("odt", "odrf", "graf"), "leaves are means, which nothing is added to"),
    "origin": dict.fromkeys(("odt", "odrf", "odbt"), "a matter of planes"),
    "patience": dict.fromkeys(("odt", "odrf", "graf"), "trees are not stopped by the next ones"),
    "penalty": {"odbt": "see `l2`", "graf": PLANES},
    "predictor_fraction": {
        "odt": ONE_TREE, "odrf": "see `n_singles` and `subset_size`, drawn for each node",
        "graf": "see `subspace`",
    },
    "pruning": {"odbt": SUM, "graf": "regions are divided until they are pure"},
    "split_scale": {"odbt": f"{STEPS}: see `loss`", "graf": PLANES},
    "resample": {
        "odt": ONE_TREE, "odbt": "see `sample_fraction`; runs draw bootstrap samples",
        "graf": "every tree uses all rows",
    },
    "run_predictors": {"odt": ONE_TREE, "odrf": "see `n_runs`", "graf": "see `subspace`"},
    "sample_fraction": {"odt": ONE_TREE, "graf": "every tree uses all rows"},
    "subspace": dict.fromkeys(("odt", "odrf", "odbt"), "predictors are drawn for each node"),
    "trials": dict.fromkeys(("odt", "odrf", "odbt"), "see `n_projections`"),
    "validation": {
        "odt": 'see `alpha="cv"`', "odrf": "more trees do not overfit",
        "graf": "more trees do not overfit",
    },
}  # fmt: skip
"""For each option, the functions that lack it, and why."""


def members() -> dict[str, set[str]]:
    """Return the public attributes and methods of each kind of fit."""
    return {
        name: {attribute for attribute in dir(one) if not attribute.startswith("_")}
        for name, one in CLASSES.items()
    }


def absent() -> dict[str, dict[str, str]]:
    """Return for each attribute or call that some kinds of fits lack, which lack it, and why."""
    has = members()
    gaps = {
        words: {
            name: why_absent(one, words) or ""
            for name, one in CLASSES.items()
            if words not in has[name]
        }
        for words in NEED
        if any(words in names for names in has.values())
    }
    lines = {words: gap for words, gap in gaps.items() if gap} | CALLS_ABSENT
    return dict(sorted(lines.items()))


def _table(names: Iterable[str], lines: dict[str, dict[str, str]]) -> str:
    """Return a markdown table: a line for each name, its reasons by the `names` of functions."""
    names = list(names)
    heads = " | ".join(f"`{name}()`" for name in names)
    rows = [f"|  | {heads} |", "|---|" + "---|" * len(names)]
    for words, absent in lines.items():
        cells = [f"{LACKS} {absent[name]}".rstrip() if name in absent else HAS for name in names]
        rows.append(f"| `{words}` | " + " | ".join(cells) + " |")
    return "\n".join(rows)


def _of_times() -> str:
    """Return the table of what fits to survival times have."""
    has = {
        name: {words for words in dir(one) if not words.startswith("_")}
        for name, one in OF_TIMES.items()
    }
    lines = {
        words: {name: "" for name in OF_TIMES if words not in has[name]}
        for words in sorted(set.union(*has.values()))
    }
    return _table(OF_TIMES, lines)


def tables() -> dict[str, str]:
    """Return the tables by their names."""
    has = members()
    everywhere = set.intersection(*has.values())
    lacking = absent()
    own = {
        name: sorted(a for a in has[name] if all(a not in has[o] for o in CLASSES if o != name))
        for name in CLASSES
    }
    alone = [
        f"* `{name}()`: " + ", ".join(f"`{a}`" for a in own[name] if a not in lacking)
        for name in CLASSES
        if [a for a in own[name] if a not in lacking]
    ]
    functions = {name: set(inspect.signature(getattr(odrf, name)).parameters) for name in FUNCTIONS}
    shared = set.intersection(*functions.values())
    some = {name: OPTIONS_ABSENT[name] for name in sorted(set.union(*functions.values()) - shared)}
    return {
        "every fit": ", ".join(f"`{name}`" for name in sorted(everywhere)) + ".",
        "some fits": _table(CLASSES, lacking),
        "one kind": "\n".join(alone),
        "survival times": _of_times(),
        "every function": ", ".join(f"`{name}`" for name in sorted(shared)) + ".",
        "some functions": _table(FUNCTIONS, some),
    }


def marked(page: str) -> dict[str, str]:
    """Return the text between the marks of each table in a page."""
    found = {}
    for name in tables():
        begin, end = f"<!-- {name} -->\n", f"\n<!-- end of {name} -->"
        found[name] = page.split(begin)[1].split(end)[0]
    return found


if __name__ == "__main__":
    page = PAGE.read_text(encoding="utf-8")
    for name, old in marked(page).items():
        mark = f"<!-- {name} -->\n"
        page = page.replace(mark + old, mark + tables()[name])
    PAGE.write_text(page, encoding="utf-8")
