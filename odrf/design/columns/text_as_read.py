"""Text that a table file should not have given: numbers, dates, and one level in two spellings."""

from __future__ import annotations

from collections import Counter

import numpy as np
import pandas as pd

from odrf.design.columns.listing import listed
from odrf.design.formulas.spelling import quoted
from odrf.errors import warn_user

__all__ = ["meant_as", "warn_of_spellings", "warn_of_text"]

# Fewer different numbers may well be codes.
MANY, SHARE = 30, 0.9
# Whether texts may be numbers is seen from about so many.
SOME = 1000
SIGNS = r"[\s$€£¥%]"
# Every comma stands before three digits, and no number begins with a single zero.
GROUPED = r"[-+]?(?!0,)\d{1,3}(,\d{3})*(\.\d*)?"
DATES = ("ISO8601", "%d.%m.%Y", "%d/%m/%Y", "%m/%d/%Y", "%d-%m-%Y", "%d-%b-%Y", "%d%b%Y")


def meant_as(name: str, levels: pd.Index) -> str | None:
    """Return how to make numbers or dates of texts (k,) if nearly all of them are; else None.

    `name` is that of the column.
    """
    texts = pd.Series(levels, dtype=object).astype(str)
    some = texts.iloc[:: len(texts) // SOME + 1]
    if some.str.contains(r"\d").mean() < SHARE:
        return None
    if not (_numbers(name, some) or _dates(name, some)):
        return None  # else a factor of many levels would take seconds
    return _numbers(name, texts) or _dates(name, texts)


def warn_of_text(name: str, levels: pd.Index, taken_as: str) -> None:
    """Warn if a column of text has many levels, nearly all of which are numbers or dates."""
    if len(levels) < MANY or _are_codes(levels):
        return
    advice = meant_as(name, levels)
    if advice is not None:
        warn_user(
            f"{name!r} is text with {len(levels)} different values, such as {listed(levels, 2)}, "
            f"and was taken as {taken_as}: {advice}, or write C({quoted(name)}) if they are labels"
        )


def warn_of_spellings(name: str, levels: pd.Index) -> None:
    """Warn if levels of text differ in nothing but spaces, or the capitals of words."""
    texts = [str(level) for level in levels if isinstance(level, str)]
    words = [_word(text) for text in texts]
    if len(set(words)) == len(words):
        return
    counts = Counter(words)
    common = next(word for word in words if counts[word] > 1)
    alike = [text for text, word in zip(texts, words, strict=True) if word == common]
    column = f"data[{name!r}]"
    lower = "" if len({text.strip() for text in alike}) == 1 else ".str.lower()"
    warn_user(
        f"{name!r} has levels that differ only in spaces or capitals and count as different: "
        f"{listed(alike)}; join them with {column} = {column}.str.strip(){lower}, or write "
        f"C({quoted(name)}) if they are different"
    )


def _word(text: str) -> str:
    """Return a level without spaces at its ends, and small; "a" and "A" may be two codes."""
    bare = text.strip()
    return bare if len(bare) < 2 else bare.casefold()


def _numbers(name: str, texts: pd.Series) -> str | None:
    bare = texts.str.replace(SIGNS, "", regex=True)
    with_comma = bare[bare.str.contains(",", regex=False)]
    grouped = len(with_comma) > 0 and bool(with_comma.str.fullmatch(GROUPED).all())
    without = rf"{SIGNS}|," if grouped else SIGNS
    # what is replaced by what, until the texts are numbers
    for pattern, by in (("", ""), (without, ""), (",", ".")):
        spelt = texts.str.replace(pattern, by, regex=True) if pattern else texts
        numbers = pd.to_numeric(spelt, errors="coerce").to_numpy(dtype=np.float64)
        if np.isfinite(numbers).mean() >= SHARE:
            change = f".str.replace({pattern!r}, {by!r}, regex=True)" if pattern else ""
            others = texts[~np.isfinite(numbers)]
            return _advice("numbers", f"pd.to_numeric(data[{name!r}]{change}", others)
    return None


def _dates(name: str, texts: pd.Series) -> str | None:
    for form in DATES:
        dates = pd.to_datetime(texts, errors="coerce", format=form)
        if dates.notna().mean() >= SHARE:
            written = "" if form == "ISO8601" else f", format={form!r}"
            code = f"pd.to_datetime(data[{name!r}]{written}"
            return _advice("dates", code, texts[dates.isna()])
    return None


def _advice(kind: str, code: str, others: pd.Series) -> str:
    """Return what makes numbers or dates; `others` are the texts that are none."""
    if others.empty:
        return f"turn it into {kind} with {code})"
    made = f"{code}, errors='coerce')"
    return f"turn it into {kind} with {made}, which makes {listed(others, 3)} missing"


def _are_codes(levels: pd.Index) -> bool:
    """Return whether levels are digits that are no quantity: with a 0 before, or all as long."""
    texts = pd.Series(levels, dtype=object).astype(str)
    digits = texts[texts.str.fullmatch(r"\d+")]
    padded = digits.str.fullmatch(r"0\d+").any()
    return bool(padded) or (len(digits) == len(texts) and texts.str.len().nunique() == 1)
