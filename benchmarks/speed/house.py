"""How large the package is, and what its main calls go through.

Counts files, folders and lines (code, docstrings, imports, blank lines and comments), modules that
one other module imports, and the longest chain of imports; modules that `import odrf` loads; and,
of calls on 200 rows and 5 predictors in one thread, the files and functions that are entered and
how deep calls go.  Each call is counted the second time, when everything is compiled and loaded.

Run from the root of the repository::

    python -m benchmarks.speed.house --out benchmarks/speed/results/house.csv
"""

from __future__ import annotations

import argparse
import ast
import subprocess
import sys
from collections import Counter
from collections.abc import Callable, Iterator
from graphlib import TopologicalSorter
from pathlib import Path

import numpy as np
import pandas as pd

import odrf

ROOT = Path(odrf.__file__).parent
ROWS, PREDICTORS = 200, 5
LOADED = "import odrf, sys; print(sum(name.startswith('odrf') for name in sys.modules))"
SECONDS = (
    "import time; start = time.process_time(); import numpy, pandas, numba, patsy; "
    "middle = time.process_time(); import odrf; "
    "print((time.process_time() - middle) / (middle - start))"
)


def arrows(files: dict[str, Path]) -> dict[str, set[str]]:
    """Return which modules each module imports, for types and at first use too.

    A package that only lists its modules imports none of them; who writes ``reports.curves`` does.
    """
    texts = {name: path.read_text(encoding="utf-8") for name, path in files.items()}
    lists = {
        name for name in files if files[name].stem == "__init__" and "modules_of" in texts[name]
    }
    found: dict[str, set[str]] = {name: set() for name in files}
    for name in files.keys() - lists:
        for node in ast.walk(ast.parse(texts[name])):
            if isinstance(node, ast.ImportFrom) and (node.module or "").split(".")[0] == "odrf":
                for alias in node.names:
                    module = f"{node.module}.{alias.name}"
                    found[name].add(module if module in files else str(node.module))
            elif isinstance(node, ast.Attribute) and f"odrf.{ast.unparse(node.value)}" in lists:
                found[name].add(f"odrf.{ast.unparse(node)}")
        found[name] &= files.keys() - lists - {name}
    return found


def lines_by_kind(path: Path) -> Counter[str]:
    """Return the lines of a file that are docstrings, imports, code, and comments or blank."""
    text = path.read_text(encoding="utf-8")
    kinds = dict.fromkeys(range(1, len(text.splitlines()) + 1), "comments_and_blank_lines")
    for number, line in enumerate(text.splitlines(), 1):
        if line.strip() and not line.strip().startswith("#"):
            kinds[number] = "code"
    for node in ast.walk(ast.parse(text)):
        kind = None
        if isinstance(node, (ast.Import, ast.ImportFrom)):
            kind = "imports"
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant):
            kind = "docstrings" if isinstance(node.value.value, str) else None
        if kind and isinstance(node, ast.stmt):
            kinds |= dict.fromkeys(range(node.lineno, (node.end_lineno or 0) + 1), kind)
    return Counter(kinds.values())


def structure() -> Iterator[tuple[str, float]]:
    """Yield what can be counted without running anything."""
    files = {
        ".".join(path.relative_to(ROOT.parent).with_suffix("").parts).removesuffix(
            ".__init__"
        ): path
        for path in sorted(ROOT.rglob("*.py"))
    }
    modules = [name for name, path in files.items() if path.name != "__init__.py"]
    kinds: Counter[str] = sum((lines_by_kind(path) for path in files.values()), Counter())
    imports = arrows(files)
    importers = Counter(other for others in imports.values() for other in others)
    chain: dict[str, int] = {}
    for name in TopologicalSorter(imports).static_order():
        chain[name] = 1 + max((chain[other] for other in imports[name]), default=0)
    yield "files", len(files)
    yield "modules", len(modules)
    yield "folders", len({path.parent for path in files.values()})
    yield "lines", sum(kinds.values())
    yield from ((f"lines_{kind}", number) for kind, number in sorted(kinds.items()))
    yield "modules_imported_by_one", sum(importers[name] == 1 for name in modules)
    yield "longest_chain", max(chain.values())


def entered(call: Callable[[], object]) -> tuple[int, int, int]:
    """Return how many files and functions a call enters, and how deep it goes."""
    seen: set[tuple[str, str]] = set()
    depth = [0, 0]

    def watch(frame: object, event: str, _: object) -> None:
        code = frame.f_code  # type: ignore[attr-defined]
        if Path(code.co_filename).is_relative_to(ROOT):
            if event == "call":
                seen.add(
                    (
                        code.co_filename,
                        code.co_qualname if sys.version_info >= (3, 11) else code.co_name,
                    )
                )
                depth[0] += 1
                depth[1] = max(depth)
            elif event == "return":
                depth[0] -= 1

    call()
    sys.setprofile(watch)
    try:
        call()
    finally:
        sys.setprofile(None)
    return len({file for file, _ in seen}), len(seen), depth[1]


def calls() -> Iterator[tuple[str, float]]:
    """Yield what the main calls enter."""
    rng = np.random.default_rng(0)
    data = pd.DataFrame(rng.normal(size=(ROWS, PREDICTORS)), columns=list("abcde"))
    data["y"] = data["a"] + data["b"] + rng.normal(size=ROWS)
    forest = odrf.odrf("y ~ .", data, seed=1, n_jobs=1)
    tree = odrf.odt("y ~ .", data, seed=1, n_jobs=1, alpha=None)
    watched: dict[str, Callable[[], object]] = {
        "odrf": lambda: odrf.odrf("y ~ .", data, seed=1, n_jobs=1),
        "odt": lambda: odrf.odt("y ~ .", data, seed=1, n_jobs=1),
        "predict": lambda: forest.predict(data),
        "summary": lambda: str(forest.summary()),
        "pruning_path": lambda: tree.pruning_path(cv=10),
    }
    for name, call in watched.items():
        for what, number in zip(("files", "functions", "depth"), entered(call), strict=True):
            yield f"{name}_{what}", number
    yield "longest_line_of_descent", max(len(type(fit).__mro__) - 1 for fit in (forest, tree))


def start(repeats: int = 7) -> Iterator[tuple[str, float]]:
    """Yield what starting the package loads, and takes beside what it is built on."""

    def printed(code: str) -> float:
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, check=True)
        return float(done.stdout)

    yield "modules_loaded_by_import", printed(LOADED)
    yield "import_beside_others", min(printed(SECONDS) for _ in range(repeats))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--out", help="csv")
    options = parser.parse_args()
    rows = [*structure(), *calls(), *start()]
    table = pd.DataFrame(rows, columns=["figure", "value"])
    print(table.to_string(index=False))
    if options.out:
        table.to_csv(options.out, index=False)


if __name__ == "__main__":
    main()
