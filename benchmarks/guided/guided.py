"""Accuracy and size of guided forests: the experiments of Gupta et al. (GRAF), sections 6 and 7.

    python -m benchmarks.guided.guided --out guided.csv [--data DIR] [--parts hypercube,tables,rbf]
                                       [--repeats 5] [--trees 100] [--most-rows 8000]
    python -m benchmarks.guided.guided --report guided.csv

* hypercube (Figure 4): Cohen's κ and the size of the model on problems of 3 to 12 predictors, with
  classes by parity and by the number of ones.  There are 4·2^p rows, seven tenths of them for
  training; every tree uses all predictors, with as many trials as predictors.  "GRAF, 5" divides no
  region of fewer than 5 rows.  The random forest, extremely randomised trees and XGBoost are those
  of scikit-learn and XGBoost; "XGBoost 0.90" has the depth and the learning rate that were its
  defaults when the paper was written.  The oblique forests whose sizes are compared have as many
  candidates at a node, in random directions ("sphere"; "sphere, 4" has leaves of at least two rows,
  so that no node of fewer than 4 is split) or by ridge regression ("ridge", Menze et al.), on all
  rows.
* tables (Table D.1): the mean κ of four folds on the tables of the paper that have the same rows
  and classes here (pendigits and satimage have more rows here).  As in the paper, M, from ⌈log₂P⌉,
  ⌈√P⌉, ⌈P/2⌉ and P, and the least size of a region that is divided, 2 or 5, are tuned by five folds
  on half of the rows; so is the random forest.  Tables of up to 1,000 rows are divided into four
  folds `--repeats` times.  "GRAF, region" measures weights from the mean of the region.
  ``published_kappa.csv`` has the results of the paper.
* rbf (Figures 8 to 10): bias, variance and error on Weka's RandomRBF of 10 predictors and 10
  centroids, along the number of trees, the size M of the subspace, and the number of training rows.

The csv has one line for each fit, with its κ (for rbf: error, bias², variance), the size of the
model, and the seconds it took on one core.
"""

from __future__ import annotations

import argparse
import sys
import time
from collections.abc import Callable, Iterator
from functools import partial
from importlib import import_module
from importlib.util import find_spec
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pandas as pd
from sklearn.metrics import cohen_kappa_score
from sklearn.model_selection import StratifiedKFold

from benchmarks.shared.markdown import table as markdown_table
from benchmarks.shared.protocol import PROTOCOLS, partitions
from benchmarks.shared.ranks import mean_ranks
from benchmarks.shared.runs import go_on, parser, run_or_report
from benchmarks.shared.tables import read_table, table_names
from odrf import bias_variance, graf, odrf, simulate
from odrf.options import words
from odrf.results import FittedResults

PREDICTORS = range(3, 13)
LABELS = ("parity", "ones")
TRAINED = 0.7
PLAIN: dict[str, Any] = {"blend": False, "min_leaf": 1, "n_jobs": 1}
OLD_XGBOOST: dict[str, Any] = {"max_depth": 3, "learning_rate": 0.1}
PUBLISHED = Path(__file__).with_name("published_kappa.csv")
FOLDS = PROTOCOLS["G"].folds or 4
TUNING_FOLDS, TUNING_TREES, FINAL_TREES = 5, 50, 300
FEW_ROWS = 1000
SUBSPACES: tuple[Literal["log2", "sqrt", "half", "all"], ...] = ("log2", "sqrt", "half", "all")
LEAST = (2, 5)
CENTROIDS, RBF_ROWS, RBF_SAMPLES = 10, 2500, 20
ALONG = {
    "trees": (2, 5, 10, 20, 50, 100, 150),
    "subspace": (2, 4, 6, 8, 10),
    "rows": (200, 500, 1000, 1500, 2000, 2500),
}
RBF_METHODS = ("GRAF", "RF", "ET", "odrf")
COLUMNS = ["part", "place", "setting", "repeat", "method", "value", "bias2", "variance"]
COLUMNS += ["size", "seconds"]
Fit = Callable[[pd.DataFrame], Any]


def forest_size(fit: FittedResults) -> int:
    """Return TNL·(n + 1) + 2·TNL + TL of an oblique forest, n being its predictors (section 6)."""
    leaves = int(fit.n_leaves.sum())
    inner = leaves - fit.forest.n_trees
    return inner * (len(fit.design.columns) + 3) + leaves


class Library:
    """A classifier of another library with the interface that is used here."""

    def __init__(self, module: str, name: str, **options: Any) -> None:
        self.module, self.name, self.options = module, name, options

    def fit(self, train: pd.DataFrame) -> Library:
        """Fit it to rows with the class, by its number, in ``y``."""
        family = getattr(import_module(self.module), self.name)
        self.classifier = family(n_jobs=1, **self.options)
        self.classes, code = np.unique(train["y"], return_inverse=True)
        self.classifier.fit(train.drop(columns="y"), code)
        return self

    def predict(self, test: pd.DataFrame) -> np.ndarray:
        """Return the classes of new rows."""
        return self.classes[self.classifier.predict(test.drop(columns="y"))]


def on_hypercubes(p: int, trees: int, seed: int) -> dict[str, Fit]:
    """Return the methods that are compared on p predictors."""
    common: dict[str, Any] = {"n_trees": trees, "seed": seed}
    guided = partial(graf, "y ~ .", subspace="all", n_jobs=1, **common)
    candidates = {"n_projections": p, "n_singles": 0, "resample": "none", **PLAIN, **common}
    least = candidates | {"min_leaf": 2}
    library = {"n_estimators": trees, "random_state": seed}
    return {
        "GRAF": guided,
        "GRAF, 5": partial(guided, min_split=5),
        "RF": Library("sklearn.ensemble", "RandomForestClassifier", **library).fit,
        "ET": Library("sklearn.ensemble", "ExtraTreesClassifier", **library).fit,
        "XGBoost": Library("xgboost", "XGBClassifier", **library).fit,
        "XGBoost 0.90": Library("xgboost", "XGBClassifier", **OLD_XGBOOST, **library).fit,
        "oblique, sphere": partial(odrf, "y ~ .", projection="sphere", **candidates),
        "oblique, sphere, 4": partial(odrf, "y ~ .", projection="sphere", **least),
        "oblique, ridge": partial(odrf, "y ~ .", projection="ridge", **candidates),
    }


def kappa(fit: Any, test: pd.DataFrame) -> float:
    """Return Cohen's κ of a fit on test rows."""
    return float(cohen_kappa_score(test["y"].astype(str), np.asarray(fit.predict(test), str)))


def size_of(fit: Any) -> float:
    """Return the size of a model as the paper counts it; missing for other libraries."""
    if isinstance(fit, Library):
        return np.nan
    return fit.model_size if hasattr(fit, "model_size") else forest_size(fit)


def on_tables(trees: int, seed: int) -> dict[str, list[Fit]]:
    """Return the candidates of each method that is tuned on tables."""
    common: dict[str, Any] = {"n_trees": trees, "seed": seed, "n_jobs": 1}
    sizes = [(subspace, least) for subspace in SUBSPACES for least in LEAST]

    def guided(origin: words.Origin) -> list[Fit]:
        options = {"origin": origin, **common}
        return [partial(graf, "y ~ .", subspace=a, min_split=b, **options) for a, b in sizes]

    return {
        "GRAF": guided("data"),
        "GRAF, region": guided("region"),
        "RF": [partial(_forest, a, b, common) for a, b in sizes],
    }


def tuned(data: pd.DataFrame, method: str, seed: int) -> int:
    """Return the number of the candidate with the largest κ over five folds of a random half."""
    half = data.sample(frac=0.5, random_state=seed)
    folds = StratifiedKFold(TUNING_FOLDS, shuffle=True, random_state=seed)
    kappas = [
        np.mean(
            [
                kappa(candidate(half.iloc[train]), half.iloc[test])
                for train, test in folds.split(half, half["y"])
            ]
        )
        for candidate in on_tables(TUNING_TREES, seed)[method]
    ]
    return int(np.argmax(kappas))


def _forest(subspace: str, least: int, common: dict[str, Any], data: pd.DataFrame) -> Any:
    """Grow a random forest that tries at a node as many predictors as GRAF's trees use."""
    P = data.shape[1] - 1
    tried = {"log2": np.log2(P), "sqrt": np.sqrt(P), "half": P / 2, "all": P}[subspace]
    options: dict[str, Any] = {
        "n_singles": max(1, int(np.ceil(tried))),
        "min_leaf": 1 + (least > 2),
    }
    return odrf("y ~ .", data, projection="axis", blend=False, **options, **common)


class Study:
    """The fits of a csv."""

    def __init__(self, folder: Path, trees: int, seed: int, most_rows: int) -> None:
        self.folder, self.trees, self.seed, self.most_rows = folder, trees, seed, most_rows
        self._known: dict[tuple[str, int, str], int] = {}

    def tasks(self, parts: list[str], repeats: int) -> list[tuple[str, str, int, int, str]]:
        """Return part, place, setting, repeat and method of every fit."""
        tasks: list[tuple[str, str, int, int, str]] = []
        if "hypercube" in parts:
            tasks += [
                ("hypercube", labels, p, repeat, method)
                for p in PREDICTORS
                for labels in LABELS
                for repeat in range(repeats)
                for method in on_hypercubes(p, self.trees, 0)
                if not method.startswith("XGBoost") or find_spec("xgboost")
            ]
        if "tables" in parts:
            tasks += [
                ("tables", name, partition, fold, method)
                for name, rows in self._tables().items()
                for method in on_tables(self.trees, 0)
                for partition in range(repeats if rows <= FEW_ROWS else 1)
                for fold in range(FOLDS)
            ]
        if "rbf" in parts:
            tasks += [
                ("rbf", f"{classes} classes, by {what}", value, 0, method)
                for classes in (2, 5)
                for what, values in ALONG.items()
                for value in values
                for method in (RBF_METHODS if what == "rows" else RBF_METHODS[:1])
            ]
        return tasks

    def line(
        self, part: str, place: str, setting: int, repeat: int, method: str
    ) -> Iterator[tuple[float, ...]]:
        """Yield κ or error of a fit, its bias² and variance, its size, and its seconds."""
        began = time.process_time()
        if part == "rbf":
            error, bias2, variance = self._decomposed(place, setting, method)
            yield error, bias2, variance, np.nan, time.process_time() - began
            return
        if part == "hypercube":
            value, size = self._on_hypercube(place, setting, repeat, method)
        else:
            value, size = self._on_table(place, setting, repeat, method)
        yield value, np.nan, np.nan, size, time.process_time() - began

    def _on_hypercube(self, labels: str, p: int, repeat: int, method: str) -> tuple[float, float]:
        state = np.random.SeedSequence([self.seed, p, repeat, LABELS.index(labels)])
        layout, rows, seed = (int(word) for word in state.generate_state(3))
        problem = simulate.hypercube(p, labels, layout=layout)
        data = problem.sample(4 * 2**p, seed=rows)
        n_train = round(TRAINED * len(data))
        train, test = data[:n_train], data[n_train:]
        fit = on_hypercubes(p, self.trees, seed)[method](train)
        return kappa(fit, test), size_of(fit)

    def _on_table(self, name: str, partition: int, fold: int, method: str) -> tuple[float, float]:
        table, seed = read_table(self.folder, name), self.seed + partition
        rows = list(partitions(table, PROTOCOLS["G"], FOLDS, seed))[fold]
        if (name, partition, method) not in self._known:
            everything = pd.concat([rows.train, rows.test]).sort_index()
            self._known[name, partition, method] = tuned(everything, method, seed)
        candidates = on_tables(FINAL_TREES, seed)[method]
        fit = candidates[self._known[name, partition, method]](rows.train)
        return kappa(fit, rows.test), size_of(fit)

    def _decomposed(self, place: str, setting: int, method: str) -> tuple[float, float, float]:
        """Return error, bias² and variance by Kohavi and Wolpert."""
        classes, what = int(place[0]), place.split("by ")[1]
        problem = simulate.random_rbf(classes=classes, centroids=CENTROIDS)
        trees = setting if what == "trees" else self.trees
        n = setting if what == "rows" else RBF_ROWS
        subspace: words.Subspace = setting if what == "subspace" else "half"
        common: dict[str, Any] = {"n_trees": trees, "n_jobs": 1}
        models: dict[str, Any] = {
            "GRAF": partial(graf, subspace=subspace, **common),
            "RF": partial(odrf, projection="axis", **PLAIN, n_trees=trees),
            "ET": partial(odrf, projection="extra", resample="none", **PLAIN, n_trees=trees),
            "odrf": partial(odrf, **common),
        }
        terms = bias_variance(
            problem, {method: models[method]}, n, repeats=RBF_SAMPLES, seed=self.seed, n_jobs=1
        ).table.iloc[0]
        return float(terms["error"]), float(terms["kw_bias2"]), float(terms["kw_variance"])

    def _tables(self) -> dict[str, int]:
        """Return the rows of the tables, the smallest first."""
        if not (self.folder / "index.csv").exists():
            print(f"no tables: {self.folder} holds no index.csv", file=sys.stderr)
            return {}
        rows = pd.read_csv(self.folder / "index.csv", index_col="name")["n"].sort_values()
        known = set(pd.read_csv(PUBLISHED)["table"]) & set(table_names(self.folder))
        return {str(name): n for name, n in rows.items() if name in known and n <= self.most_rows}


def report(lines: pd.DataFrame) -> str:
    """Write the results of the parts of a csv, as markdown."""
    shown = {"hypercube": _hypercube, "tables": _of_tables, "rbf": _rbf}
    present = [part for part in shown if part in set(lines["part"])]
    return "\n\n".join(shown[part](lines[lines["part"] == part]) for part in present)


def _hypercube(lines: pd.DataFrame) -> str:
    parts = []
    for labels, of_problem in lines.groupby("place", sort=False):
        order = of_problem["method"].unique()
        for what, digits in {"value": "{:.3f}", "size": "{:.0f}"}.items():
            table = of_problem.pivot_table(index="setting", columns="method", values=what)
            table = table[[name for name in order if name in table]].map(digits.format)
            words = "mean κ" if what == "value" else "mean size of the model"
            parts.append(f"**classes by {labels}**, {words}\n\n{markdown_table(table, 'p')}")
    return "\n\n".join(parts)


def _of_tables(lines: pd.DataFrame) -> str:
    measured = lines.pivot_table(index="place", columns="method", values="value", sort=False)
    published = pd.read_csv(PUBLISHED, index_col="table").add_suffix(", published")
    both = measured.join(published)
    both.loc["mean"] = both.mean()
    for name in measured.columns.drop("RF"):
        both.loc["mean rank against RF", name] = mean_ranks(1 - measured[[name, "RF"]])[name]
    return "κ, mean of four folds:\n\n" + markdown_table(
        both.map("{:.3f}".format).replace("nan", ""), "table"
    )


def _rbf(lines: pd.DataFrame) -> str:
    parts = []
    for place, of_problem in lines.groupby("place", sort=False):
        order = of_problem["method"].unique()
        wide = of_problem.pivot(
            index="setting", columns="method", values=["value", "bias2", "variance"]
        ).swaplevel(axis=1)
        words = {"value": "error", "bias2": "bias²", "variance": "variance"}
        table = pd.DataFrame(
            {f"{name}, {words[what]}": wide[name, what] for name in order for what in words}
        )
        name = str(place).split("by ")[1]
        parts.append(f"**{place}**\n\n{markdown_table((100 * table).map('{:.2f}'.format), name)}")
    return "In per cent.\n\n" + "\n\n".join(parts)


def run(options: argparse.Namespace) -> pd.DataFrame:
    """Continue the csv, and return its lines."""
    study = Study(options.data, options.trees, options.seed, options.most_rows)
    tasks = study.tasks(options.parts.split(","), options.repeats)
    return go_on(options.out, COLUMNS, tasks, study.line)


def main() -> int:
    """Fit the models, or report an existing csv."""
    asked = parser(__doc__ or "", "guided.csv", repeats=5, trees=100)
    asked.add_argument("--data", type=Path, default=Path("../shared/data"), help="tables")
    asked.add_argument("--parts", default="hypercube,tables,rbf", help="of the csv")
    asked.add_argument("--most-rows", type=int, default=8000, help="of a table")
    options = asked.parse_args()
    return run_or_report(options, run, report)


if __name__ == "__main__":
    sys.exit(main())
