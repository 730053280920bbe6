"""A fit from a formula and a table, and what is written of it."""

from __future__ import annotations

import warnings
from argparse import Namespace
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

import pandas as pd

from odrf.cli.as_json import show_json, summary_parts
from odrf.cli.messages import report, show
from odrf.cli.outside_formulas import checked_design, require_harmless, without_names
from odrf.cli.plotting import check_plot, plot_to
from odrf.cli.table_files import read_table, require_one_stdin
from odrf.cli.targets import check_targets
from odrf.cli.written_predictions import check_type, predicted, times_asked, write_predictions
from odrf.design.columns import TEXT, contents
from odrf.errors import InputError

__all__ = [
    "check_files",
    "check_save",
    "described",
    "fit_tables",
    "rows_to_predict",
    "save_to",
    "with_seed",
    "write_fit",
]


def check_files(options: Namespace) -> None:
    """Raise `InputError` before fitting, if writing the results is bound to fail."""
    if (options.predict is None) != (options.out is None):
        raise InputError("--predict TABLE and --out FILE need each other: give both or neither")
    if options.type is not None and options.predict is None:
        raise InputError("--type needs --predict TABLE and --out FILE: give them, too")
    if options.times is not None and options.predict is None:
        raise InputError("--times needs --predict TABLE and --out FILE: give them, too")
    times_asked(options.times)
    require_one_stdin(options.table, options.predict)
    targets = {"--plot": options.plot, "--out": options.out, "--save": options.save}
    check_targets(targets, [options.table, options.predict, options.load])
    check_save(options)
    check_plot(options.plot)


def fit_tables(
    function: Callable[..., Any], settings: Mapping[str, Any], options: Namespace
) -> tuple[Any, pd.DataFrame | None]:
    """Return the fit, and the rows to predict; what can fail before the fit, fails before it."""
    data = read_table(options.table, options.format)
    new = rows_to_predict(
        options, [str(name) for name, column in data.items() if contents(column) == TEXT]
    )
    if new is None:
        require_harmless(options.formula, data)
    else:
        design = checked_design(options.formula, data, settings)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # the predictions will say it
            without_names(design.matrix, new)
        check_type(options.type, options.times, design.response.kind)
    fit = without_names(function, options.formula, data, **settings, progress=options.progress)
    return fit, new


def rows_to_predict(options: Namespace, text: Iterable[str]) -> pd.DataFrame | None:
    """Return the rows to predict, if there are any; columns named in `text` stay text."""
    if options.predict is None:
        return None
    return read_table(options.predict, options.format, text)


def write_fit(command: str, fit: Any, new: pd.DataFrame | None, options: Namespace) -> None:
    """Save the fit, show its summary, draw it, predict new rows: what the options ask for."""
    save_to(options.save, fit, options.without_data)
    if not options.json:
        show(fit.summary())
    plot_to(options.plot, fit.plot)
    if new is not None:
        times = times_asked(options.times)
        predictions = predicted(fit, new, options.type, times, options.progress)
        write_predictions(predictions, options.out)
    if options.json:
        files = {name: getattr(options, name) for name in ("save", "plot", "out")}
        show_json(command, {**described(fit), **summary_parts(fit.summary()), "files": files})


def described(fit: Any) -> dict[str, Any]:
    """Return what identifies a fit."""
    return {
        "formula": fit.formula,
        "kind": fit.kind,
        "classes": fit.design.response.classes,
        "rows": fit.nobs,
        "trees": len(fit.n_leaves),
        "leaves": fit.n_leaves,
        "seed": fit.seed,
    }


def check_save(options: Namespace) -> None:
    """Raise `InputError` if an option says how to save, and none to save."""
    if options.without_data and options.save is None:
        raise InputError("--without-data needs --save FILE: give it, too")


def save_to(path: Path | None, fit: Any, without_data: bool) -> None:
    """Save the fit, if that is asked for."""
    if path is not None:
        fit.save(path, data=not without_data)
        report(f"saved the fit to {path}")


def with_seed(settings: dict[str, Any], seed: int | None) -> dict[str, Any]:
    """Return the options with the seed of ``--seed``."""
    if seed is None:
        return settings
    if "seed" in settings:
        raise InputError("--seed and --set seed= are the same: leave one of them out")
    return {**settings, "seed": seed}
