"""Files of fits of released versions; ``python tests/kept_files.py`` writes those of this one.

Beside each file is what the fit predicted when it was written.
"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import odrf

__all__ = ["KEPT", "predictions"]

FOLDER = Path(__file__).parent / "fits" / "kept"
KEPT = {path.stem: path for path in sorted(FOLDER.glob("*.odrf"))}


def _rows() -> pd.DataFrame:
    rng = np.random.default_rng(7)
    data = pd.DataFrame({"a": rng.normal(size=40), "f": rng.choice(["u", "v"], 40)})
    data["day"] = pd.date_range("2024-01-01", periods=40)
    return data.assign(y=data.a + (data.f == "u"), c=np.where(data.a > 0, "up", "down"))


def predictions(fit: Any) -> list[float]:
    """Return what a fit predicts for some rows: numbers, or the probability of the first class."""
    type = "response" if fit.classes is None else "prob"
    return [float(value) for value in np.ravel(fit.predict(_rows(), type=type))]


def main() -> None:
    """Write a file of each kind of fit."""
    data = _rows()
    fits = {
        "tree": odrf.odt("np.exp(y) ~ bs(a, 4) + f + day", data, max_leaves=4, seed=1),
        "forest": odrf.odrf("y ~ a + f", data, n_trees=3, seed=1).prune(rule="oob"),
        "chunks": odrf.odrf("y ~ a + f", [data[:20], data[20:]], n_trees=3, seed=1),
        "guided": odrf.graf("c ~ a + f", data, n_trees=2, seed=1),
        "boosted": odrf.odbt("y ~ a + f", data, n_trees=3, seed=1),
    }
    FOLDER.mkdir(exist_ok=True)
    for name, fit in fits.items():
        path = FOLDER / f"{odrf.__version__} {name}.odrf".replace(" ", "-")
        fit.save(path)
        path.with_suffix(".json").write_text(json.dumps(predictions(fit)) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
