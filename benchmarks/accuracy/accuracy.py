"""Accuracy and seconds of methods on open tables, by the protocols of three papers and one of ours.

    python -m benchmarks.accuracy.accuracy --out accuracy.csv [--data DIR] [--tables a,b]
                                           [--methods a,b] [--protocols Z,A,T,G] [--partitions 20]
                                           [--trees 500] [--jobs 1]

``protocol.py`` defines the splits, ``measures.py`` the measures, ``methods.py`` the methods,
``tables.py`` the contents of the data folder, ``results_file.py`` those of the csv.  Called again
with the same csv, a run continues where it stopped.  A fit that fails is written down, and the run
continues.  ``report.py`` makes tables of the csv.

Needs ``pip install ".[bench]"``.  treeple and the methods of ``anchors.py`` need environments of
their own, made by

    python -m benchmarks.accuracy.accuracy --make-environment treeple DIR
    python -m benchmarks.accuracy.accuracy --make-environment anchors DIR

which print the interpreter to be passed as ``--python treeple=INTERPRETER`` or
``--python anchors=INTERPRETER``.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Collection
from concurrent.futures import ThreadPoolExecutor
from importlib.util import find_spec
from os import _exit
from pathlib import Path

from tqdm import tqdm

from benchmarks.accuracy.results_file import Results
from benchmarks.accuracy.table_run import Study, TableRun
from benchmarks.methods.anchors import ANCHORS
from benchmarks.methods.environments import REQUIREMENTS, SEPARATE, make_environment
from benchmarks.methods.methods import METHODS, Setting
from benchmarks.shared.protocol import PROTOCOLS
from benchmarks.shared.tables import read_table, table_names

KNOWN = METHODS | ANCHORS
METHODS_OF_A_RUN = [
    name
    for name in METHODS
    if name not in ("rf_codes", "et_codes", "odt") and not name.startswith("auto_")
]
INTERRUPTED = 130


def main() -> int:
    """Run the chosen methods on the chosen tables."""
    options = _parser().parse_args()
    if options.make_environment is not None:
        name, folder = options.make_environment
        _chosen("environment", name, REQUIREMENTS)
        print(make_environment(name, Path(folder)))
        return 0
    if not (options.data / "index.csv").exists():
        _warn(f"nothing to do: {options.data} holds no index.csv")
        return 0
    names = _chosen("table", options.tables, table_names(options.data))
    protocols = _chosen("protocol", options.protocols, PROTOCOLS)
    study = _study(options)
    results = Results(options.out, options.retry)
    _require_same_setting(results, study.setting)
    return _run(options, names, protocols, study, results)


def _run(
    options: argparse.Namespace,
    names: list[str],
    protocols: list[str],
    study: Study,
    results: Results,
) -> int:
    """Run tables in parallel; a table that fails is reported at the end."""
    with tqdm(unit="fit", smoothing=0) as bar, ThreadPoolExecutor(options.jobs) as pool:

        def run_table(name: str) -> None:
            table = read_table(options.data, name)
            for protocol in (PROTOCOLS[letter] for letter in protocols):
                if table.task in protocol.tasks:
                    TableRun(table, protocol, study, results).run(bar.update)

        running = {name: pool.submit(run_table, name) for name in names}
        try:
            failed = {name: table.exception() for name, table in running.items()}
        except KeyboardInterrupt:
            _warn(f"\nstopped; the same command continues from {options.out}")
            _exit(INTERRUPTED)  # the pool would wait for every table
    for name, error in failed.items():
        if error is not None:
            _warn(f"{name} left unfinished: {type(error).__name__}: {error}")
    return int(any(error is not None for error in failed.values()))


def _study(options: argparse.Namespace) -> Study:
    of_environment = dict(map(_named_path, options.python))
    _chosen("environment", ",".join(of_environment) or "all", REQUIREMENTS)
    interpreters = {name: of_environment.get(its) for name, its in SEPARATE.items()}
    return Study(
        [
            name
            for name in _chosen("method", options.methods, KNOWN)
            if _available(name, interpreters)
        ],
        Setting(options.trees, options.seed, options.threads),
        options.partitions,
        options.slow_seconds,
        options.slow_partitions,
        options.limit,
        {name: python for name, python in interpreters.items() if python is not None},
    )


def _available(name: str, interpreters: dict[str, str | None]) -> bool:
    if name in interpreters:
        if interpreters[name] is None:
            _warn(f"{name} left out: --python {SEPARATE[name]}=INTERPRETER says where it is")
        return interpreters[name] is not None
    library = METHODS[name].library.partition(".")[0]
    if find_spec(library) is None:
        _warn(f"{name} left out: {library} is not installed")
        return False
    return True


def _named_path(text: str) -> tuple[str, str]:
    name, equals, path = text.partition("=")
    if not equals:
        raise SystemExit(f"--python {text}: write ENVIRONMENT=INTERPRETER")
    return name, path


def _require_same_setting(results: Results, setting: Setting) -> None:
    for line in results.lines.values():
        if int(line["trees"]) != setting.trees:
            raise SystemExit(
                f"{results.path} was begun with --trees {line['trees']}: choose another file"
            )


def _chosen(what: str, names: str, known: Collection[str]) -> list[str]:
    chosen = list(known) if names == "all" else names.split(",")
    unknown = [name for name in chosen if name not in known]
    if unknown:
        raise SystemExit(f"unknown {what} {', '.join(unknown)}; known: {', '.join(known)}")
    return chosen


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        description=(__doc__ or "").splitlines()[0],
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
    )
    add = parser.add_argument
    add(
        "--out",
        type=Path,
        default=Path("accuracy.csv"),
        help="csv that is written, or continued",
    )
    add("--data", type=Path, default=Path("../shared/data"), help="folder with index.csv")
    add("--tables", default="all", help="names with commas between them")
    add("--methods", default=",".join(METHODS_OF_A_RUN), help=f"of {', '.join(KNOWN)}; or all")
    add("--protocols", default="Z", help=f"of {', '.join(PROTOCOLS)}; or all")
    add("--partitions", type=int, default=20, help="random partitions of protocol Z")
    add(
        "--slow-seconds",
        type=float,
        default=20.0,
        help="a table is slow above this",
    )
    add("--slow-partitions", type=int, default=10, help="random partitions of a slow table")
    add("--trees", type=int, default=500, help="trees of each forest")
    add("--threads", type=int, default=1, help="threads of each method")
    add("--jobs", type=int, default=1, help="tables at a time")
    add("--seed", type=int, default=0, help="of the partitions and the methods")
    add("--limit", type=float, default=600.0, help="seconds that one fit may take")
    add("--retry", action="store_true", help="run again what failed or timed out")
    add(
        "--python",
        action="append",
        default=[],
        metavar="ENVIRONMENT=INTERPRETER",
        help="where the methods of an environment are",
    )
    add(
        "--make-environment",
        nargs=2,
        metavar=("ENVIRONMENT", "DIR"),
        help=f"make one of {', '.join(REQUIREMENTS)}, and print its interpreter",
    )
    return parser


def _warn(message: str) -> None:
    print(message, file=sys.stderr)


if __name__ == "__main__":
    sys.exit(main())
