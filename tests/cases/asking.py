"""A case is fitted, and its result is asked for everything public that it has."""

from __future__ import annotations

import inspect
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import matplotlib.pyplot as plt
import numpy as np

from cases.arguments import random_arguments
from cases.attempts import Attempts
from cases.case import Case
from cases.judging import judge_fit, judge_summary
from cases.several_fits import random_study

__all__ = ["public_names", "try_case", "unexplained"]

# How many methods of a result are asked; how often a report is drawn, and other fits are compared
# with that of the case: both take long.
ASKED, DRAWN, STUDIED = 8, 0.04, 0.02
SHOWN: tuple[Callable[[Any], Any], ...] = (repr, lambda one: one._repr_html_())


def unexplained(case: Case, everything: bool = False, show: bool = False) -> list[str] | None:
    """Return what is wrong with the outcome of a case; None if the fit is refused."""
    tried = try_case(case, everything, show)
    return None if tried.n == 1 and not tried.unexplained else tried.unexplained


def try_case(case: Case, everything: bool = False, show: bool = False) -> Attempts:
    """Fit a case, judge the fit, and ask some of its methods drawn at random, or `everything`."""
    tried = Attempts(show)
    fit = tried.answer(case.function, case.fit)
    if fit is None:
        return tried
    judge_fit(case, fit, tried)
    _show("fit", fit, case, tried)
    rng = np.random.default_rng([case.seed, 5])
    names = public_names(type(fit))
    asked = names if everything else rng.choice(names, ASKED, replace=False)
    with tempfile.TemporaryDirectory() as folder:
        for name in map(str, asked):
            _ask(rng, name, case, fit, Path(folder), tried, everything)
    of_several = np.random.default_rng([case.seed, 6])
    if everything or of_several.random() < STUDIED:
        words, study = random_study(of_several, case)
        _look(words, tried.answer(words, study), case, tried, everything or rng.random() < DRAWN)
    plt.close("all")
    return tried


def public_names(kind: type) -> list[str]:
    """Return what users may ask a result for."""
    return [name for name in dir(kind) if not name.startswith("_") and name != "load"]


def _ask(
    rng: np.random.Generator,
    name: str,
    case: Case,
    fit: Any,
    folder: Path,
    tried: Attempts,
    everything: bool,
) -> None:
    if not inspect.isfunction(inspect.getattr_static(type(fit), name)):
        answer = tried.answer(name, lambda: getattr(fit, name))
    else:
        method = getattr(fit, name)
        given = random_arguments(rng, method, case, fit, folder, case.hostile)
        answer = tried.answer(_called(name, given), lambda: method(**given))
    _look(name, answer, case, tried, everything or rng.random() < DRAWN)


def _called(name: str, given: dict[str, Any]) -> str:
    words = [f"{k}={v!r}" if isinstance(v, str | int | float) else k for k, v in given.items()]
    return f"{name}({', '.join(words)})"


def _look(name: str, answer: Any, case: Case, tried: Attempts, drawn: bool) -> None:
    """Look at a report or a result as a user would."""
    layer = type(answer).__module__
    if layer.startswith(("odrf.reports", "odrf.results", "odrf.evaluation")):
        _show(name, answer, case, tried)
        if drawn and hasattr(type(answer), "plot"):
            tried.answer(f"{name} drawn", lambda: _drawn(answer))
    if layer.startswith(("odrf.reports", "odrf.evaluation")):
        for part in dir(type(answer)):
            if _is_asked_alone(type(answer), part):
                tried.answer(f"{name}.{part}", lambda part=part: _part(answer, part))
    if layer.startswith("odrf.results"):
        judge_fit(case, answer, tried)


def _show(name: str, answer: Any, case: Case, tried: Attempts) -> None:
    for shown in SHOWN:
        tried.answer(f"{name} shown", lambda shown=shown: shown(answer), refusable=False)
    text = tried.answer(f"{name} shown", lambda: str(answer.summary()))
    if text is not None:
        judge_summary(name, text, case, tried)


def _is_asked_alone(kind: type, part: str) -> bool:
    """Return whether a member of a report is public, needs no argument and draws nothing."""
    if part.startswith("_") or part == "plot":
        return False
    member = inspect.getattr_static(kind, part)
    if not inspect.isfunction(member):
        return True
    arguments = list(inspect.signature(member).parameters.values())[1:]
    return all(one.default is not one.empty for one in arguments)


def _part(answer: Any, part: str) -> None:
    value = getattr(answer, part)
    repr(value() if callable(value) else value)


def _drawn(answer: Any) -> None:
    answer.plot()
    for number in plt.get_fignums():
        plt.figure(number).canvas.draw()
    plt.close("all")
