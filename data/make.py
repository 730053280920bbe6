"""Rebuild the tables of this folder from the packages that publish them.

    pip install scikit-learn palmerpenguins lifelines && pip install --no-deps ISLP
    python data/make.py

melanoma is from boot, one of the packages that come with R.

README.md says what each table is and whose it is.
"""

from __future__ import annotations

import subprocess
from collections.abc import Callable
from importlib.util import find_spec
from io import StringIO
from pathlib import Path

import pandas as pd
from sklearn import datasets

HERE = Path(__file__).parent

DIABETES_NAMES = {
    "s1": "tc",
    "s2": "ldl",
    "s3": "hdl",
    "s4": "tch",
    "s5": "ltg",
    "s6": "glu",
    "target": "progression",
}
GBSG2_NAMES = {
    "horTh": "hormones",
    "menostat": "menopause",
    "tsize": "size",
    "tgrade": "grade",
    "pnodes": "nodes",
    "progrec": "progesterone",
    "estrec": "oestrogen",
    "cens": "event",
}
HITTERS_NAMES = {
    "AtBat": "at_bats",
    "Hits": "hits",
    "HmRun": "home_runs",
    "Runs": "runs",
    "RBI": "rbi",
    "Walks": "walks",
    "Years": "years",
    "CAtBat": "career_at_bats",
    "CHits": "career_hits",
    "CHmRun": "career_home_runs",
    "CRuns": "career_runs",
    "CRBI": "career_rbi",
    "CWalks": "career_walks",
    "League": "league",
    "Division": "division",
    "PutOuts": "put_outs",
    "Assists": "assists",
    "Errors": "errors",
    "Salary": "salary",
    "NewLeague": "new_league",
}
PUBLICATION_NAMES = {
    "posres": "positive",
    "multi": "centres",
    "clinend": "clinical",
    "mech": "mechanism",
    "sampsize": "participants",
    "status": "event",
}


def packaged(package: str, *parts: str) -> Path:
    """Path of a file inside an installed package, found without importing the package."""
    spec = find_spec(package)
    if spec is None or spec.origin is None:
        raise SystemExit(f"{package} is not installed: see the top of {__file__}")
    return Path(spec.origin).parent.joinpath(*parts)


def whole_numbers(frame: pd.DataFrame) -> pd.DataFrame:
    """Write 59.0 as 59 in every complete column that holds integers only."""
    numeric = frame.select_dtypes("float")
    whole = numeric.columns[(numeric.notna() & (numeric % 1 == 0)).all()]
    return frame.astype(dict.fromkeys(whole, "int64"))


def auto_mpg() -> pd.DataFrame:
    path = packaged("ISLP", "data", "Auto.data")
    cars = pd.read_csv(path, sep=r"\s+", na_values="?").drop(columns="name")
    return cars.assign(origin=cars["origin"].map({1: "american", 2: "european", 3: "japanese"}))


def breast_cancer() -> pd.DataFrame:
    source = datasets.load_breast_cancer(as_frame=True)
    cells = source.data.rename(columns=lambda name: name.replace(" ", "_"))
    return cells.assign(diagnosis=source.target_names[source.target])


def diabetes() -> pd.DataFrame:
    source = datasets.load_diabetes(as_frame=True, scaled=False)
    return source.frame.rename(columns=DIABETES_NAMES)


def gbsg2() -> pd.DataFrame:
    women = pd.read_csv(packaged("lifelines", "datasets", "gbsg2.csv")).rename(columns=GBSG2_NAMES)
    return women.assign(menopause=women["menopause"].str.lower())


def hitters() -> pd.DataFrame:
    return pd.read_csv(packaged("ISLP", "data", "Hitters.csv")).rename(columns=HITTERS_NAMES)


def melanoma() -> pd.DataFrame:
    export = "write.csv(boot::melanoma, row.names = FALSE)"
    text = subprocess.run(["Rscript", "-e", export], capture_output=True, text=True, check=True)
    patients = pd.read_csv(StringIO(text.stdout))
    return patients.drop(columns="status").assign(
        sex=patients["sex"].map({0: "female", 1: "male"}),
        ulcer=patients["ulcer"].map({0: "no", 1: "yes"}),
        event=patients["status"].map({1: "melanoma", 2: "censored", 3: "other"}),
    )


def penguins() -> pd.DataFrame:
    return pd.read_csv(packaged("palmerpenguins", "data", "penguins.csv"))


def publication() -> pd.DataFrame:
    return pd.read_csv(packaged("ISLP", "data", "Publication.csv")).rename(
        columns=PUBLICATION_NAMES
    )


def wine() -> pd.DataFrame:
    source = datasets.load_wine(as_frame=True)
    contents = source.data.rename(columns={"od280/od315_of_diluted_wines": "od280_od315"})
    return contents.assign(cultivar=source.target_names[source.target])


TABLES: tuple[Callable[[], pd.DataFrame], ...] = (
    auto_mpg,
    breast_cancer,
    diabetes,
    gbsg2,
    hitters,
    melanoma,
    penguins,
    publication,
    wine,
)

if __name__ == "__main__":
    for table in TABLES:
        whole_numbers(table()).to_csv(HERE / f"{table.__name__}.csv", index=False)
