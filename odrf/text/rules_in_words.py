"""Rules for t_n, α_n and the share of rows drawn, as text."""

from __future__ import annotations

from odrf.options.rule import CV, FIXED, FUNCTION, NONE, ONE_SE, OOB, RATE, Rule
from odrf.pruning.growth_stages import IN_WORDS
from odrf.text.wording import number

__all__ = ["rule_in_words"]

BEST = {CV: "smallest error", ONE_SE: "1-SE rule", OOB: "smallest out-of-bag error"}


def rule_in_words(rule: Rule, n: int) -> str:
    """Return how a value for n rows was determined, as text; empty without a rule.

    Examples
    --------
    >>> rule_in_words(Rule("function", "root"), 100)
    'rule root at n = 100'
    >>> rule_in_words(Rule("rate", "sqrt").found("10-fold cross-validation", 0.5), 100)
    '0.5·sqrt(n), constant by 10-fold cross-validation'
    """
    if rule.kind == NONE:
        return ""
    if rule.kind == FIXED:
        return FIXED
    if rule.kind == FUNCTION:
        return f"rule {rule.name} at n = {n}" if rule.name else f"rule at n = {n}"
    if rule.kind == RATE and rule.constant is None:
        return IN_WORDS[rule.name]
    when = ", before update()" if rule.earlier else ""
    if rule.kind == RATE:
        by = rule.found_by if rule.found_by == "out of bag" else f"by {rule.found_by}"
        return f"{number(rule.constant or 0.0, 3)}·{IN_WORDS[rule.name]}, constant {by}{when}"
    by = "" if rule.kind == OOB else f", {rule.found_by}"
    return BEST[rule.kind] + by + when
