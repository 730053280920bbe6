"""Text as LaTeX that pdflatex compiles without further packages."""

from __future__ import annotations

import unicodedata

__all__ = ["in_latex"]

SMALL = (
    "alpha beta gamma delta varepsilon zeta eta theta iota kappa lambda mu nu xi pi rho sigma tau "
    "upsilon varphi chi psi omega"
)
CAPITALS = "Gamma Delta Theta Lambda Xi Pi Sigma Upsilon Phi Psi Omega"
GREEK = dict(zip("αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΥΦΨΩ", f"{SMALL} {CAPITALS}".split(), strict=True))
# Greek letters that have no command, as they look like Latin ones.
LATIN = dict(zip("ΑΒΕΖΗΙΚΜΝΟΡΤΧο", "ABEZHIKMNOPTXo", strict=True))
MARKS = dict(
    zip(
        "\u0300\u0301\u0302\u0303\u0304\u0306\u0307\u0308\u030a\u030b\u030c\u0327",
        ("`", "'", "^", "~", "=", "u ", ".", '"', "r ", "H ", "v ", "c "),
        strict=True,
    )
)
SYMBOLS = {
    "\\": r"\textbackslash{}",
    "{": r"\{",
    "}": r"\}",
    # after the end of a row, [ would begin the optional argument of \\, and * be part of it
    "[": "{[}",
    "]": "{]}",
    "*": "{*}",
    "#": r"\#",
    "$": r"\$",
    "%": r"\%",
    "&": r"\&",
    "_": r"\_",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "`": r"\`{}",
    "…": r"\ldots{}",
    "–": "--",
    "—": "---",
    "‘": "`",
    "’": "'",
    "“": "``",
    "”": "''",
    "ß": r"\ss{}",
    "æ": r"\ae{}",
    "Æ": r"\AE{}",
    "œ": r"\oe{}",
    "Œ": r"\OE{}",
    "ø": r"\o{}",
    "Ø": r"\O{}",
    "ł": r"\l{}",
    "Ł": r"\L{}",
    "ı": r"\i{}",
    "\u00a0": "~",
}
MATHEMATICS = {
    "²": "^2",
    "³": "^3",
    "±": r"\pm",
    "×": r"\times",
    "·": r"\cdot",
    "−": "-",
    "≤": r"\le",
    "≥": r"\ge",
    "≠": r"\ne",
    "≈": r"\approx",
    "∞": r"\infty",
    "√": r"\surd",
    "∑": r"\sum",
    "→": r"\to",
    "∈": r"\in",
    "∝": r"\propto",
    "°": r"^\circ",
    "µ": r"\mu",
    "ς": r"\varsigma",
}


def in_latex(text: str) -> str:
    r"""Return text as LaTeX; a character that pdflatex lacks is written by its number.

    Examples
    --------
    >>> print(in_latex("[Z] α_n ≤ 5 %"))
    {[}Z{]} $\alpha$\_n $\le$ 5 \%
    >>> print(in_latex("Müller 中"))
    M\"{u}ller U+4E2D
    """
    return "".join(map(_character, unicodedata.normalize("NFC", text)))


def _character(letter: str) -> str:
    if letter in SYMBOLS:
        return SYMBOLS[letter]
    if letter in MATHEMATICS:
        return f"${MATHEMATICS[letter]}$"
    if letter in LATIN:
        return LATIN[letter]
    if letter.isascii():
        return letter if letter.isprintable() else " "
    if letter in GREEK:
        return f"$\\{GREEK[letter]}$"
    parts = unicodedata.normalize("NFD", letter)
    if len(parts) == 2 and parts[0].isascii() and parts[1] in MARKS:
        return f"\\{MARKS[parts[1]]}{{{parts[0]}}}"
    return f"U+{ord(letter):04X}"
