"""The intervals that are printed, but those of survival, with the coverage measured elsewhere.

    python -m benchmarks.inference.interval_inventory --out interval_inventory.csv [--results DIR]

The csv has one line for each interval: what it is to cover, its nominal level, the mean of the
measured coverage over problems with its standard error, the lowest and the highest, and how many
problems and samples there were.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.inference.effects_coverage import EFFECTS, PREDICTORS

MEASURED = ["interval", "covers", "nominal", "covered", "error", "samples"]
NEW_ROW, EXPECTATION = "a new row", "the expectation of the forest"
METHODS = {
    "conformal": ('predict(interval="prediction")', NEW_ROW),
    "quantile": ('predict(interval="prediction", method="quantile")', NEW_ROW),
    "jackknife, as advised": ('predict(interval="confidence"), get_prediction()', EXPECTATION),
}
KINDS = {
    "comparison": "comparisons()",
    "slope": "slopes()",
    "population": "comparisons(population=True)",
}
OF_PROBABILITIES = {
    "area": ("discrimination(), areas", "the area"),
    "precision": ("discrimination(), average precision", "the precision of the population"),
    "bins": ("calibration(), shares in bins", "the mean probability"),
    "band": ("calibration(), band", "the curve of calibrated probabilities, at a point"),
}
COVERED = {
    "predictive_check": "the expected coverage of a region",
    "learning_curve": "the law of the table",
    "importance": "the expected rise of the loss",
    "compare": "the expected difference",
    "compare_fits": "the expected difference",
}


def of_predictions(results: Path) -> pd.DataFrame:
    """Return the coverage of intervals of predictions, problem by problem."""
    lines = pd.read_csv(results / "intervals.csv")
    lines = lines[lines["method"].isin(METHODS)]
    found = _by_problem(lines, ["problem", "method"], "covered")
    named = found.assign(
        interval=found["method"].map(lambda name: METHODS[name][0]),
        covers=found["method"].map(lambda name: METHODS[name][1]),
        nominal=0.95,
    )
    grouped = pd.read_csv(results / "groups.csv").query("method == 'groups'")
    of_groups = _by_problem(grouped[grouped["covered"].notna()], ["problem"], "covered").assign(
        interval='predict(interval="prediction") with groups=',
        covers="a row of a new group",
        nominal=0.9,
    )
    return pd.concat([named, of_groups])[MEASURED]


def of_effects(results: Path) -> pd.DataFrame:
    """Return the coverage of averaged comparisons and slopes, for each truth and size."""
    lines = pd.read_csv(results / "effects_coverage.csv").query("forest == 'inference'")
    errors = [f"error of {each}" for each in EFFECTS]
    found = []
    for _, samples in lines.groupby(["rows", "truth"]):
        estimate, R = samples[EFFECTS].to_numpy(), len(samples)
        off = np.abs(estimate - estimate.mean(axis=0)) * (R / (R - 1)) ** 0.5
        inside = off <= 1.959964 * samples[errors].to_numpy()
        for k, kind in enumerate(KINDS):
            share = inside[:, k * len(PREDICTORS) : (k + 1) * len(PREDICTORS)].mean(axis=1)
            error = share.std(ddof=1) / np.sqrt(R)
            found.append((KINDS[kind], EXPECTATION, 0.95, share.mean(), error, R))
    return pd.DataFrame(found, columns=MEASURED)


def of_probabilities(results: Path, samples: int = 200) -> pd.DataFrame:
    """Return the coverage of intervals of shares, areas and precisions."""
    lines = pd.read_csv(results / "probabilities_coverage.csv")
    kind = lines["what"].str.split().str[0]
    return pd.DataFrame(
        {
            "interval": kind.map(lambda name: OF_PROBABILITIES[name][0]),
            "covers": kind.map(lambda name: OF_PROBABILITIES[name][1]),
            "nominal": lines["level"],
            "covered": lines["coverage"],
            "error": np.sqrt(lines["coverage"] * (1 - lines["coverage"]) / samples),
            "samples": samples,
        }
    )


def of_others(results: Path) -> pd.DataFrame:
    """Return what ``interval_coverage.py`` measured."""
    lines = pd.read_csv(results / "interval_coverage.csv")
    lines = lines[lines["what"].str.startswith("interval: ")]
    name = lines["what"].str.removeprefix("interval: ")
    covers = name.str.split("(").str[0].map(COVERED).fillna(EXPECTATION)
    return lines.assign(interval=name, covers=covers, covered=lines["measured"])[MEASURED]


def inventory(results: Path) -> pd.DataFrame:
    """Return one line for each interval."""
    parts = (of_predictions, of_effects, of_probabilities, of_others)
    found = pd.concat([part(results) for part in parts], ignore_index=True)
    cells = found.groupby(["interval", "covers", "nominal"], sort=False)
    squared = cells["error"].agg(lambda errors: np.sqrt((errors**2).sum()) / len(errors))
    return pd.DataFrame(
        {
            "covered": cells["covered"].mean(),
            "error": squared,
            "lowest": cells["covered"].min(),
            "highest": cells["covered"].max(),
            "problems": cells.size(),
            "samples": cells["samples"].min(),
        }
    ).reset_index()


def _by_problem(lines: pd.DataFrame, names: list[str], value: str) -> pd.DataFrame:
    groups = lines.groupby(names, sort=False)[value]
    found = pd.DataFrame(
        {"covered": groups.mean(), "error": groups.sem(), "samples": groups.size()}
    )
    return found.reset_index()


def main() -> None:
    """Write the inventory."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--out", type=Path, default=Path("interval_inventory.csv"))
    parser.add_argument("--results", type=Path, default=Path(__file__).with_name("results"))
    options = parser.parse_args()
    table = inventory(options.results)
    table.to_csv(options.out, index=False, float_format="%.4g")
    print(table.to_string(index=False))


if __name__ == "__main__":
    main()
