"""Random calls of the command `odrf`: it ends with status 0, or 2 and a message."""

from __future__ import annotations

import contextlib
import io
import os
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np

from cases.attempts import Attempts
from cases.case import RESPONSE
from cases.columns import Rng, choice
from cases.formulas import random_formula
from cases.tables import random_columns, random_response
from odrf.cli import main

__all__ = ["random_command", "try_command"]

FITTING = ["fit", "forest", "tree", "boost", "graf"]
COMMANDS = [*FITTING, *FITTING, "predict", "prune", "compare", "tune", ""]
SETTINGS = [
    *("min_leaf=2", "max_depth=1", "projection=axis", "projection=sparse", "alpha=none"),
    *("missing=drop", "cv=2", "cv=x", "seed=1", "min_leaf=-1", "min_leaf=1e400", "nothing=1", "x"),
    *("=", "", "class_weights=balanced", "class_weights={'u': 1}", "weights=a", "groups=zzz"),
    *("projection={'axis': 0.5", "n_trees=[2]", "interval=prediction", "level=2", "type=prob"),
    *("method=cv", "max_leaves=2", "kind=regression", "honest=true", "quantiles=[0.5]"),
]
FLAGS = [
    *(["--json"], ["--plot", "plot.png"], ["--plot", "plot.nothing"], ["--save", "made.odrf"]),
    *(["--without-data", "--save", "made.odrf"], ["--predict", "table.csv", "--out", "out.csv"]),
    *(["--predict", "absent.csv"], ["--type", "prob", "--predict", "table.csv"], ["--seed", "x"]),
    *(["--out", "no/such/folder.csv", "--predict", "table.csv"], ["--nothing"], ["--help"]),
    *(["--format", "tsv"], ["--load", "model.odrf"], ["--load", "table.csv"], ["--progress"]),
    *(["--rule", "1se"], ["--alpha", "0.1"], ["--leaves", "2"], ["--newdata", "table.csv"]),
]
BROKEN = [b"", b"\n", b"a,b\n1", b"\xff\xfe\x00", b"a,a\n1,2\n", b'"a', b"a;b\n1;2\n", b"\0" * 9]


def random_command(rng: Rng, folder: Path) -> list[str]:
    """Write a random table, perhaps a fit, into the folder; return the words of a command."""
    data = random_columns(rng, bool(rng.random() < 0.25))
    formula = random_formula(rng, RESPONSE, list(data.columns), bool(rng.random() < 0.2))
    data[RESPONSE] = random_response(rng, len(data), bool(rng.random() < 0.15))
    with contextlib.suppress(ValueError):  # text that UTF-8 cannot write
        data.to_csv(folder / "table.csv", index=False)
    if rng.random() < 0.05:
        (folder / "table.csv").write_bytes(choice(rng, BROKEN))
    name = choice(rng, COMMANDS)
    words = [name] if name else []
    if name in ("predict", "prune"):
        kind = choice(rng, ["tree", "forest", "graf"])
        few = [] if kind == "tree" else ["--set", "n_trees=2"]
        _run(
            [
                kind,
                f"`{RESPONSE}` ~ .",
                str(folder / "table.csv"),
                "--save",
                str(folder / "model.odrf"),
                *few,
            ]
        )
        words += ["model.odrf", *(["table.csv"] if name == "predict" else [])]
    else:
        words += [formula, "table.csv"]
    if name == "compare":
        words += ["--model", "tree", "--model", "b=tree max_depth=2", "--set", "cv=2"]
    elif name == "tune":
        words += ["--grid", "min_leaf=2,5", "--set", "n_trees=2"]
    elif name not in ("predict", "prune", "tree"):
        words += ["--set", "n_trees=2"]
    for _ in range(choice(rng, [0, 0, 1, 2])):
        words += ["--set", choice(rng, SETTINGS)]
    for _ in range(choice(rng, [0, 0, 1, 2])):
        words += choice(rng, FLAGS)
    return words


def try_command(seed: int, show: bool = False) -> Attempts:
    """Run the command of a seed in a folder of its own."""
    rng, tried = np.random.default_rng([seed, 9]), Attempts(show)
    here = Path.cwd()
    with tempfile.TemporaryDirectory() as name:
        os.chdir(name)
        try:
            words = random_command(rng, Path(name))
            if show:
                print(words, (Path(name) / "table.csv").read_bytes()[:500], sep="\n")
            ended = tried.answer(f"odrf {words[0]}", lambda: _run(words))
        finally:
            os.chdir(here)
            plt.close("all")
    if ended is not None:
        status, told = ended
        if show:
            print(status, told)
        tried.refused += status == 2
        if status not in (0, 2):
            tried.add(f"odrf {words[0]}: status {status}: {told[-100:]}")
        if status == 2 and len(told) < 20:
            tried.add(f"odrf {words[0]}: refused without words: {told}")
        if "Traceback" in told:
            tried.add(f"odrf {words[0]}: a traceback: {told[-100:]}")
    return tried


def _run(words: list[str]) -> tuple[int, str]:
    """Return the status of a command, and what it wrote to stderr."""
    told = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    printed = io.TextIOWrapper(io.BytesIO(), encoding="utf-8")
    with contextlib.redirect_stderr(told), contextlib.redirect_stdout(printed):
        try:
            status = main(words)
        except SystemExit as end:
            status = int(end.code or 0)
    told.flush()
    return status, told.buffer.getvalue().decode()
