"""Tables with names of columns, levels and classes that other languages may read otherwise."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pandas as pd

import odrf
from odrf import InputError
from odrf.design.formula import quoted

__all__ = ["LEVELS", "hostile_fit"]

TEXTS = [
    *(" ", "a", "a ", "a\nb", "a\r\nb", "a\rb", "\n", "a\tb", "\x01", "\x7f"),
    *("it's", "''", 'a "z"', '"', "a`b", "a\\", "a\\n", "\\N", "\\\n", "??/", "[x]", "{0}", "$x"),
    *("100%", "%s", "?", ":x", "--", "; --", "/* x */", "*/", "/*/", "//", "};", '"""', "'''"),
    *("select", "order", "table", "double", "NULL", "None", "nan", "inf", "NA", "True", "x y"),
    *("label", "probabilities", "prediction", "predict", "row", "mean", "self", "rowid", "x", "1"),
    *("é", "e\u0301", "汉字", "ß", "\u202e", "\ufeff", "\u2028", "😀", "&amp;", "<b>", "a b" * 90),
]
REFUSED = ["", "\0", "a\0b"]
"""Texts that some languages cannot hold."""

ALIKE = [
    *(("a", "A"), ("é", "É"), ("é", "e\u0301"), ("K", "\u212a"), ("ß", "SS"), ("fi", "ﬁ")),
    *(("x y", "x_y"), ("x.y", "x-y"), ("w" * 70, "w" * 70 + "2"), ("a\nb", "a\n b"), ("y", "Y")),
]
"""Names that some languages take for the same."""

LEVELS: dict[str, list[Any]] = {
    "texts of numbers": ["1", "01", "1.0", "1e0", " 1"],
    "texts of nothing": ["None", "nan", "NULL", "<NA>", ""],
    "texts of truths": ["True", "TRUE", "true", "1"],
    "forms of a letter": ["é", "e\u0301", "É", "e"],
    "small whole numbers": [-1, 0, 3, 2**31],
    "whole numbers near 2**53": [2**53 - 2, 2**53 - 1, 5],
    "whole numbers from 2**53": [2**53, 2**53 + 1, 2**53 + 2],
    "whole numbers near 2**60": [2**60, 2**60 + 1, 2**60 + 2],
    "whole numbers of 64 bits": [2**64 - 1, 2**64 - 2, 3],
    "whole numbers near -2**63": [-(2**63) + 1, -(2**63) + 2, 7],
    "whole numbers beyond 64 bits": [2**70, 2**70 + 1, 5],
    "whole numbers of both signs": [2**63 + 1, -1, 5],
    "close numbers": [0.1 + 0.2, 0.3, 1 / 3, 0.1],
    "numbers far apart": [1e300, 1e-300, 5e-324, -1e-310, 0.4095382363454593],
    "zero": [-0.0, 1.0, -1.0],
    "infinite numbers": [np.inf, 1.0, -np.inf],
    "numbers of two types": [1, 2.5, 2**60, 2**60 + 1],
    "truths": [True, False],
    "numbers and text": [1, "a", 2.5],
    "a number and its text": ["1", 1, "b"],
    "a truth and text": [True, "a", "b"],
    "a truth and numbers": [True, 2, 3],
    "days": list(pd.date_range("2020-01-01", periods=3)),
    "months": list(pd.period_range("2020-01", periods=3, freq="M")),
    "intervals": list(pd.interval_range(0, 3)),
    "bytes": [b"a", b"b", b"c"],
}
ROWS, NEW = 90, 30


def _texts(rng: np.random.Generator, n: int) -> list[str]:
    found = [TEXTS[k] for k in rng.choice(len(TEXTS), n, replace=False)]
    if rng.random() < 0.05:
        found[0] = REFUSED[rng.integers(len(REFUSED))]
    return found


def _levels(rng: np.random.Generator) -> list[Any]:
    if rng.random() < 0.8:
        return _texts(rng, 4)
    return list(LEVELS.values())[rng.integers(len(LEVELS))]


def _factor(levels: list[Any], code: np.ndarray, rng: np.random.Generator) -> pd.Series:
    """Return a column that has the level of each code: categories, or text if they are text."""
    objects = np.empty(len(levels), object)
    objects[:] = levels
    if all(isinstance(level, str) for level in levels) and rng.random() < 0.5:
        return pd.Series(objects[code])
    if rng.random() < 0.5:
        index = pd.Index(objects, dtype=object)
        return pd.Series(pd.Categorical.from_codes(code, index, ordered=rng.random() < 0.3))
    return pd.Series(pd.Categorical(pd.Series(objects[code], dtype=object)))


def _names(rng: np.random.Generator) -> list[str]:
    names = _texts(rng, 3)
    if rng.random() < 0.3:
        pair = ALIKE[rng.integers(len(ALIKE))]
        names = list(dict.fromkeys([*pair, *names]))[:3]
    return names


def hostile_fit(seed: int) -> tuple[Any, pd.DataFrame] | None:
    """Return a fit, and rows to predict: of two factors and a number; None if it is refused."""
    rng = np.random.default_rng([seed, 58])
    levels = [_levels(rng), _levels(rng)]
    codes = [rng.integers(len(each), size=ROWS) for each in levels]
    number = rng.normal(size=ROWS)
    columns = [_factor(*each, rng) for each in zip(levels, codes, strict=True)]
    names = _names(rng)
    data = pd.DataFrame(dict(zip(names, [*columns, pd.Series(number)], strict=True)))
    score = codes[0] - codes[1] + number
    if rng.random() < 0.3:
        response = pd.Series(score)
    else:
        classes = _levels(rng)
        ranks = np.digitize(score, np.quantile(score, np.arange(1, len(classes)) / len(classes)))
        response = _factor(classes, ranks, rng)
    name = str(rng.choice([each for each in ("y", "the response", "Y") if each not in names]))
    missing = str(rng.choice(["split", "median", "drop"]))
    if rng.random() < 0.5:
        data = data.mask(rng.random(data.shape) < 0.1)
    new = data.iloc[rng.integers(ROWS, size=NEW)].reset_index(drop=True)
    new = new.mask(rng.random(new.shape) < 0.1)
    if pd.api.types.is_string_dtype(new.dtypes.iloc[0]):
        new.iloc[:3, 0] = "a level that no row has"
    function = [odrf.odt, odrf.odt, odrf.odrf, odrf.graf][rng.integers(4)]
    options: dict[str, Any] = {"alpha": None} if function is odrf.odt else {"n_trees": 3}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            fit = function(
                f"{quoted(name)} ~ .",
                data.assign(**{name: response}),
                kind="regression" if response.dtype == float else "classification",
                missing=missing,
                seed=1,
                n_jobs=1,
                **options,
            )
            fit.predict(new)
    except InputError:
        return None
    return fit, new
